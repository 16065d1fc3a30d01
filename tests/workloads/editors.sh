# SPDX-License-Identifier: GPL-2.0-only
# Saves of an editor, in each way that it has: in place, by a new file and a
# rename, with and without backups, swap and undo files.
# policies: worktree
# unstable: undo/*
mkdir sub
for f in plain copied renamed both undone sub/dir-backup; do
	echo old >$f
	chmod 640 $f
done
ln plain hard
ln -s both link
mkdir backups undo
#--
e()
{
	vim.tiny -u NONE -i NONE -N -e -s "$@" </dev/null
}
e -c 's/old/new/' -c 'wq' plain
e -c 'set backup backupcopy=yes' -c 's/old/new/' -c 'wq' copied
e -c 'set backup backupcopy=no' -c 's/old/new/' -c 'wq' renamed
e -c 'set writebackup backupcopy=auto' -c 's/old/new/' -c 'wq' link
e -c 'set backup backupdir=backups' -c 's/old/new/' -c 'wq' sub/dir-backup
e -c 'set nowritebackup' -c 's/$/!/' -c 'wq' copied
e -c 'w made' -c 'q' plain
e -n -c 'r plain' -c 'w! joined' -c 'q!' copied
# a swap file that stays while another looks
e -c 'set directory=.' -c 'preserve' -c 's/new/newer/' -c 'wq!' renamed
cat plain copied renamed both sub/dir-backup made joined
