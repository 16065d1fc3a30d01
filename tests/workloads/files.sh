# SPDX-License-Identifier: GPL-2.0-only
# What shells and their tools do with files.
# policies: worktree
# cases: APP-08 APP-18 APP-19 FS-41 FS-42
# unstable: t.tar own
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
python3 -c 'import os; os.ftruncate(8, 0)'
[ "$(stat -Lc %s /proc/self/fd/8)" = 0 ]
exec 8>&-
echo x >'key (deleted)'
cat 'key (deleted)' >/dev/null

# what shells need
cat <<END >/dev/null
here
END
cat <(echo substituted) >/dev/null
echo to-stdout >>/dev/stdout
echo to-stderr >>/dev/stderr
seq 200000 | sort -S 1M -n | tail -n 1 | grep -q 200000
f=$(mktemp)
echo x >"$f"
rm "$f"
d=$(mktemp -d)
echo x >"$d/x"
rm -r "$d"
gzip -c t.tar | gunzip | cmp - t.tar
cat <<<string >/dev/null
mkfifo q
echo through >q &
read -r line <q
[ "$line" = through ]
wait

# what walks over trees
find . -name f -exec cat {} + >/dev/null
find . -name f -newer t.tar -print
grep -r -l x d e r1 r2 | sort
mkdir -p del/a/b
touch del/a/b/c del/a/d
find del -delete
[ ! -e del ]
find e -type f -exec grep -q x {} ';' -print | sort
ls -lR >/dev/null
du -s . >/dev/null

# what edits in place
sed -i s/x/y/ e/s/f
perl -pi -e s/y/z/ e/s/f
perl -i.bak -pe s/z/w/ e/s/f
cp e/s/f e/s/g
echo 2 >>e/s/g
diff -u e/s/f e/s/g >p || :
patch -s e/s/f p
patch -s -R -b e/s/f p
python3 - <<'END'
import os
import shutil
shutil.copytree("e", "t", symlinks=True,
                ignore=shutil.ignore_patterns("p"))
os.utime("t/s/f", ns=(5, 10**18))
os.utime("t/s/l", (7, 8), follow_symlinks=False)
shutil.move("t/s", "moved")
os.replace("moved/f", "moved/over")
open("moved/append", "a").write("x")
os.truncate("moved/append", 100)
fd = os.open("moved/append", os.O_RDWR)
os.posix_fallocate(fd, 0, 1000)
os.fchmod(fd, 0o600)
os.fchown(fd, os.getuid(), os.getgid())
os.copy_file_range(fd, os.open("cfr", os.O_WRONLY | os.O_CREAT), 10)
os.chown("moved", -1, os.getgid())
os.symlink("nowhere", "dangling")
os.readlink("dangling")
END
rm p
install -m 755 /bin/true own
install -d -m 700 private
./own
