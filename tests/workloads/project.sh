# SPDX-License-Identifier: GPL-2.0-only
# Work in a repository that is there: its hooks and configuration stay, all
# else of git goes on.
# policies: worktree
# fleeting: .git/config
# expected: rename */ws/.git/config
# expected: rmdir */ws/.git
# unstable: *.git/index .git/worktrees/*/index
export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@example.org
export GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@example.org
export GIT_AUTHOR_DATE='1000000000 +0000' GIT_COMMITTER_DATE='1000000000 +0000'
git init -q -b main .
mkdir .git/hooks .vscode vendor
echo '#!/bin/sh' >.git/hooks/pre-commit.sample
echo '{}' >.vscode/settings.json
echo v >vendor/v
echo 1 >f
git add .
git commit -q -m one
git switch -q -c other
echo '{"a":1}' >.vscode/settings.json
git rm -q -r vendor
git commit -q -a -m other
git switch -q main
git clone -q . nested
mkdir -p .git/info
echo nested >.git/info/exclude
mkdir nested/.git/hooks
echo '#!/bin/sh' >nested/.git/hooks/post-merge
#--
export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@example.org
export GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@example.org
export GIT_AUTHOR_DATE='1000000000 +0000' GIT_COMMITTER_DATE='1000000000 +0000'
git status --porcelain
echo 2 >>f
git commit -q -a -m two
git switch -q other
git switch -q main
git switch -q -c topic
echo t >t
git add t
git commit -q -m t
git rebase -q other
git switch -q main
git merge -q --no-edit topic
# It works, and warns that the section of the branch, which is none, stays.
git branch -q -D other 2>/dev/null
git stash list
echo 3 >>f
echo u >untracked
git stash -q -u
git stash pop -q
git reset -q --hard
git worktree add -q wt
(cd wt && echo 4 >f4 && git add f4 && git commit -q -m four)
git worktree remove wt
git tag -a -m v v1
git gc -q
git fsck --no-progress --no-dangling
git clean -q -d -f -x -e nested -e '.lh-*'
git cherry-pick wt >/dev/null
git bisect start -q HEAD HEAD~2 >/dev/null
git bisect reset >/dev/null 2>&1
git describe
rm -rf nested
[ ! -e nested ]
