# SPDX-License-Identifier: GPL-2.0-only
# Saves of emacs: by a new file, by a copy, with numbered backups, auto-saves
# and lock files (symbolic links that lead nowhere).
# needs: emacs emacs-nox
for f in plain copied numbered precious; do
	echo old >$f
	chmod 640 $f
done
ln copied hard
#--
e()
{
	emacs -Q --batch "$@" 2>/dev/null
}
save='(progn (goto-char (point-max)) (insert "new\n") (save-buffer))'
e plain --eval "$save"
e --eval '(setq backup-by-copying t)' copied --eval "$save"
e --eval '(setq version-control t)' numbered --eval "$save"
e --eval '(setq file-precious-flag t)' precious --eval "$save"
e plain --eval '(progn (insert "x") (do-auto-save t) (lock-buffer)
	(unless (file-symlink-p ".#plain") (kill-emacs 3))
	(set-buffer-modified-p nil) (unlock-buffer))'
cat plain copied numbered precious
ls
