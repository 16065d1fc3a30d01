# SPDX-License-Identifier: GPL-2.0-only
# Extended attributes: the user's own are kept and set on what may be written;
# the system's are not for a session.
# policies: worktree
python3 - <<'P'
import os
open("kept", "w").close()
os.setxattr("kept", "user.a", b"1")
os.setxattr("kept", "user.b", b"2")
P
#--
python3 - <<'P'
import errno
import os
import shutil


def refused(f, *a):
    try:
        f(*a)
    except OSError as e:
        return errno.errorcode[e.errno]
    return "done"


os.setxattr("kept", "user.a", b"3")
os.removexattr("kept", "user.b")
fd = os.open("kept", os.O_RDWR)
os.setxattr(fd, "user.c", b"4")
assert sorted(os.listxattr("kept")) == ["user.a", "user.c"]
shutil.copy2("kept", "copied")
assert os.getxattr("copied", "user.a") == b"3"
assert refused(os.setxattr, "kept", "trusted.x", b"1") == "EPERM"
assert refused(os.removexattr, "kept", "user.no") == "ENODATA"
P
cp -a kept cp-a
cp --preserve=xattr kept cp-x
rsync -aX kept rs
tar cf t.tar --xattrs kept
mkdir x
tar xf t.tar -C x --xattrs
rm t.tar
