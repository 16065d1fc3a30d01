# SPDX-License-Identifier: GPL-2.0-only
# Programs that look at a home first, where there is what they may not read:
# they go on as where a file has another owner.
# policies: agent
# cases: APP-02 APP-25
# flags: --deny /tmp/home-lh-test/.gitconfig
# words: unstable
# expected: open /tmp/home-lh-test/*
# expected: stat /tmp/home-lh-test/.gitconfig
mkdir -p ~/.config/git ~/.config/pip ~/.vim
for f in .profile .bashrc .bash_logout .inputrc .vimrc .exrc .pythonrc \
	.config/git/ignore .config/pip/pip.conf .ripgreprc; do
	: >~/$f
done
printf '[user]\n\tname = x\n' >~/.gitconfig
#--
export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@example.org
export GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@example.org
git init -q h
git -C h status >/dev/null
echo x >h/f
git -C h add f
git -C h commit -q -m x
rm -rf h
bash -lc true
bash -ic true
python3 -c 'import readline, site; site.getusersitepackages()'
vim.tiny -es -c q
rg -q needle . || [ $? = 1 ]
cd
cd - >/dev/null
ls -d ~ >/dev/null
