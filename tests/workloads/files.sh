# SPDX-License-Identifier: GPL-2.0-only
# What archives, editors and shells do with files.
mkdir s
echo x >s/f
ln -s f s/l
ln s/f s/hard
mkfifo s/p
chmod 640 s/f
touch -d @1 s/f
cp -a s d
tar cf t.tar s
mkdir e
tar xf t.tar -C e
[ "$(stat -c %Y e/s/f)" = 1 ]
mkdir r1 r2
mv s/f r1/a
mv r1/a r2/b
ln r2/b r1/c
mv -n r1/c r2/d
[ -e r2/d ]

# the directory goes while somebody is in it
mkdir gone
(cd gone && rmdir ../gone && cd .. && echo y >back)

# a file that is open and has no name any more
exec 8<>t1
rm t1
echo data >&8
grep -q data /proc/self/fd/8
exec 8>&-
echo x >'key (deleted)'
cat 'key (deleted)' >/dev/null

# what shells need
cat <<END >/dev/null
here
END
cat <(echo substituted) >/dev/null
echo to-stdout >/dev/stdout
echo to-stderr >/dev/stderr
seq 200000 | sort -S 1M -n | tail -n 1 | grep -q 200000
f=$(mktemp)
echo x >"$f"
rm "$f"
gzip -c t.tar | gunzip | cmp - t.tar
find . -name f -exec cat {} + >/dev/null
sed -i s/x/y/ e/s/f
install -m 755 /bin/true own
./own
