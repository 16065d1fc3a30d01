# SPDX-License-Identifier: GPL-2.0-only
# A day with git where there was no repository: everything that is local.
# policies: agent
# cases: APP-01
# unstable: *.git/index *.git/worktrees/*/index *.git/modules/*/index
export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@example.org
export GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@example.org
export GIT_AUTHOR_DATE='1000000000 +0000' GIT_COMMITTER_DATE='1000000000 +0000'
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
git fsck --no-progress --no-dangling
git clone -q --local . ../local
git clone -q --no-local . ../copied
git -C ../local config user.name b
git -C ../local remote add other ../copied
git -C ../local fetch -q other
[ "$(git -C ../local rev-list --count HEAD)" = 3 ]
git archive HEAD | tar tf - | grep -q h
git status --porcelain
git grep -q 3
git worktree remove ../wt
git branch -q -D wt

# a project in it, with the files that editors track
git -c protocol.file.allow=always submodule --quiet add ../copied sub
git commit -q -m submodule
git switch -q -c editor
mkdir .vscode .devcontainer
echo '{}' >.vscode/tasks.json
echo '{}' >.devcontainer/devcontainer.json
echo 'use flake' >.envrc
git add .
git commit -q -m editor
git switch -q main
[ ! -e .vscode ]
git switch -q editor
[ -e .vscode/tasks.json ]
git rebase -q main
echo w >>h
git stash -q
git switch -q main
git stash pop -q
git checkout -q h
git branch -q -m editor other
git submodule --quiet deinit -f sub
git rm -q -f sub

# what goes, goes whole
mkdir junk
echo x >junk/x
git clean -q -d -f -x
[ ! -e junk ]
cd ..
rm -rf local
[ ! -e local ]
mv copied moved
git -C moved log -q -1 >/dev/null
