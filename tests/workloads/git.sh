# SPDX-License-Identifier: GPL-2.0-only
# A day with git: everything that is local.
export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@example.org
export GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@example.org
git init -q -b main g
cd g || exit
echo 1 >f
git add f
git commit -q -m one
git checkout -q -b side
echo 2 >>f
git commit -q -a -m two
git checkout -q main
git merge -q side
echo 3 >>f
git stash -q
git stash pop -q
git mv f h
git commit -q -a -m three
git tag v1
git worktree add -q ../wt
(cd ../wt && echo 4 >f4 && git add f4 && git commit -q -m four)
git gc -q
git fsck --no-progress
git clone -q --local . ../local
git clone -q --no-local . ../copied
git -C ../local config user.name b
git -C ../local remote add other ../copied
[ "$(git -C ../local rev-list --count HEAD)" = 3 ]
git archive HEAD | tar tf - | grep -q h
git status --porcelain
git grep -q 3
