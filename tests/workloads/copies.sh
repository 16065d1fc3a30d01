# SPDX-License-Identifier: GPL-2.0-only
# Archives and copies that keep what a file has: modes, times, links, owner.
# policies: agent
# cases: APP-19
# unstable: *.tar *.deb *.zip
mkdir -p s/dir
echo one >s/one
echo two >s/dir/two
printf '#!/bin/sh\necho run\n' >s/run
chmod 755 s/run
chmod 400 s/dir/two
chmod 1770 s/dir
ln s/one s/dir/hard
ln -s ../one s/dir/link
ln -s /nowhere s/dangling
mkfifo -m 600 s/fifo
: >s/empty
dd if=/dev/zero of=s/sparse bs=1 count=1 seek=100000 2>/dev/null
find s -exec touch -h -d @900000000 {} +
#--
cp -a s cp-a
cp -a --reflink=auto --sparse=always s/. reflink
cp -r --preserve=mode,timestamps s/dir cp-r
cp -al s cp-al
cp --remove-destination s/one s/dangling

tar cf t.tar --sort=name s
tar tf t.tar | wc -l
mkdir x y z
tar xf t.tar -C x
tar xpf t.tar -C y --same-owner --delay-directory-restore
tar xf t.tar -C z --unlink-first --touch
tar xf t.tar -C z --recursive-unlink s/one s/dir
touch -d @1000000001 s/one
tar uf t.tar s/one

rsync -a s/ rs
rsync -aHX --delete s/ rs
echo changed >rs/one
rsync -a --link-dest="$PWD/rs" s/ rs2
rsync -a --inplace --checksum s/ rs
rsync -a --backup --backup-dir="$PWD/old" --delete cp-r/ rs2
rsync -a --temp-dir="$TMPDIR" --partial s/ rs3

install -D -m 644 -p s/one in/a/b/one
install -m 755 -t in s/run
in/run

mkdir -p deb/DEBIAN deb/usr/share/x
printf '%s\n' 'Package: x' 'Version: 1' 'Architecture: all' \
	'Maintainer: a <a@example.org>' 'Description: x' >deb/DEBIAN/control
cp s/one deb/usr/share/x/
dpkg-deb -b --root-owner-group deb x.deb >/dev/null
dpkg-deb -x x.deb out
dpkg-deb -c x.deb | grep -c share/x/one
python3 - <<'P'
import shutil
import tarfile
import zipfile
with zipfile.ZipFile("p.zip", "w") as z:
    z.write("s/one")
    z.write("s/run")
zipfile.ZipFile("p.zip").extractall("unzipped")
with tarfile.open("t.tar") as t:
    t.extractall("untarred", filter="data") \
        if hasattr(tarfile, "data_filter") else t.extractall("untarred")
shutil.copytree("s/dir", "tree", symlinks=True)
shutil.make_archive("made", "tar", "s/dir")
shutil.rmtree("untarred/s/dir")
P
