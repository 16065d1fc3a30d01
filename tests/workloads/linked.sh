# SPDX-License-Identifier: GPL-2.0-only
# The workspace is a linked worktree; its repository lies in the home.
# policies: worktree
# unstable: .git
# expected: rmdir */main/.git/worktrees/ws
# expected: create */main/.git/config.lock
export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@example.org
export GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@example.org
rm -rf ~/main
git init -q -b main ~/main
echo 1 >~/main/f
git -C ~/main add f
git -C ~/main commit -q -m one
git -C ~/main worktree add -q -f -b topic "$PWD"
#--
export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@example.org
export GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@example.org
git status --porcelain
echo 2 >>f
git commit -q -a -m two
git switch -q -c more
echo 3 >>f
git stash -q
git stash pop -q
git commit -q -a -m three
git switch -q topic
git merge -q more
# It works, and warns that the section of the branch, which is none, stays.
git branch -q -D more 2>/dev/null
git rebase -q main
git tag v1
git log --format=%s
git reset -q --hard HEAD~1
git fsck --no-progress --no-dangling
