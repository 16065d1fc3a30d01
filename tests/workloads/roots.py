#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Operations on roots, on what leads to them, and beside them.

roots.py build DIR      the world: DIR/ws and what lies around it
roots.py outside DIR    each refused operation works, in a world of its own
roots.py refused        in the workspace, in a session: each is refused
roots.py beside         in the workspace: work beside the roots goes on
roots.py count          how many are refused

Each operation is one that would work if it were not for the roots.
"""
import ctypes
import errno
import os
import shutil
import signal
import subprocess
import sys

libc = ctypes.CDLL(None, use_errno=True)
AT_FDCWD = -100


def exchange(a, b):
    if libc.renameat2(AT_FDCWD, a.encode(), AT_FDCWD, b.encode(), 2):
        raise OSError(ctypes.get_errno(), f"exchange {a} {b}")


def write(path, text="x"):
    with open(path, "w") as f:
        f.write(text)


def read(path):
    with open(path) as f:
        return f.read()


def read_fifo(path):
    """What waits for a writer waits at most ten seconds."""
    signal.alarm(10)
    fd = os.open(path, os.O_RDONLY)
    signal.alarm(0)
    os.close(fd)


def feed_fifo(path):
    """With a reader that the open of the other end needs."""
    subprocess.Popen(["sh", "-c", 'exec echo >"$0"', path])
    read_fifo(path)


def build(top):
    for d in ("ws/up/mid/ro/out", "ws/up/mid/deny", "ws/up/mid/ro-empty",
              "ws/up/mid/deny-empty", "ws/up/mid/beside/d", "ws/up/other/d",
              "ws/spare/.git", "ws/secret", "ws/empty", "elsewhere"):
        os.makedirs(f"{top}/{d}")
    for f in ("up/mid/ro/file", "up/mid/deny/key", "up/mid/ro-file",
              "up/mid/beside/f", "up/other/f", "spare/f", "spare/.git/f",
              "file", "secret/key"):
        write(f"{top}/ws/{f}")
    os.mkfifo(f"{top}/ws/secret/fifo")
    os.mkfifo(f"{top}/root-fifo")


# ws/up/mid/{ro,ro-empty,ro-file} are read-only roots, deny, deny-empty and
# ws/secret denied ones, ro/out a writable one; ws/newrepo/.git is a read-only
# root and ws/late/secret a denied one, and neither is there.
REFUSED = [
    # what leads to a root is not moved
    (os.rename, "up", "gone"),
    (os.rename, "up/mid", "gone"),
    (os.rename, "up/mid", "up/other/gone"),
    (exchange, "up", "spare"),
    (exchange, "spare", "up/mid"),
    (os.rename, "../ws", "../elsewhere/ws"),		# FS-49
    (exchange, "../ws", "../elsewhere"),
    # nor is a root
    (os.rename, "up/mid/ro", "gone"),
    (os.rename, "up/mid/ro-file", "gone"),
    (os.rename, "up/mid/deny", "gone"),
    (os.rename, "up/mid/ro/out", "gone"),
    (os.rename, "secret", "up/secret"),
    # replaced
    (exchange, "spare", "up/mid/ro"),
    (exchange, "up/mid/deny", "spare"),
    (exchange, "file", "up/mid/ro-file"),
    (os.rename, "spare", "up/mid/ro-empty"),
    (os.rename, "spare", "up/mid/deny-empty"),
    (os.rename, "file", "up/mid/ro-file"),
    # removed
    (os.rmdir, "up/mid/ro-empty"),
    (os.rmdir, "up/mid/deny-empty"),
    (os.unlink, "up/mid/ro-file"),
    (shutil.rmtree, "up/mid/ro"),
    # nor does a name arrive that a rule waits for
    (os.rename, "spare", "newrepo"),
    (os.symlink, "spare", "newrepo"),
    (os.rename, "spare", "late"),
    (os.makedirs, "newrepo/.git/hooks"),		# FS-50
    (os.makedirs, "late/secret"),
    # a denied pipe is refused before it is waited for
    (feed_fifo, "secret/fifo"),				# FS-51
]


def attempt(op):
    try:
        op[0](*op[1:])
    except OSError as e:
        return errno.errorcode[e.errno]
    return "done"


def show(op):
    return f"{op[0].__name__} {' '.join(op[1:])}"


def outside(top):
    bad = 0
    for op in REFUSED:
        shutil.rmtree(top)
        os.mkdir(top)
        build(top)
        os.chdir(top + "/ws")
        how = attempt(op)
        if how != "done":
            print(f"outside: {show(op)}: {how}")
            bad = 1
    os.chdir("/")
    shutil.rmtree(top)
    os.mkdir(top)
    build(top)
    return bad


def refused():
    bad, here = 0, os.getcwd()
    for op in REFUSED:
        how = attempt(op)
        if how != "EACCES":
            print(f"in the session: {show(op)}: {how}")
            bad = 1
    # What was made on the way to an absent name may go again.
    for d in ("newrepo", "late"):
        assert os.listdir(d) == []
        os.rmdir(d)
    # FS-41: no way in from where there is no place any more
    os.mkdir("gone")
    os.chdir("gone")
    os.rmdir("../gone")
    for path in ("../secret/key", here + "/secret/key"):
        how = attempt((read, path))
        if how not in ("EACCES", "ENOENT"):
            print(f"from a removed directory: {path}: {how}")
            bad = 1
    assert attempt((write, "new")) == "ENOENT"
    os.chdir(here)
    write("back")
    os.unlink("back")
    return bad


def beside():
    read("up/mid/ro/file")
    assert "key" not in os.listdir("up/mid")
    write("up/mid/ro/out/x")
    write("up/mid/beside/f", "other")
    os.rename("up/mid/beside/f", "up/mid/f")
    os.rename("file", "up/mid/over")
    os.rename("up/mid/f", "up/mid/over")
    os.rename("up/mid/beside", "up/mid/moved")
    os.rename("up/mid/moved", "up/other/moved")
    os.rename("up/other", "gone")
    os.rename("gone", "up/mid/back")
    exchange("up/mid/back", "spare")
    exchange("spare", "up/mid/back")
    os.link("up/mid/over", "up/link")
    os.symlink("ro", "up/mid/symlink")
    read("up/mid/symlink/file")
    os.rename("up/mid/symlink", "up/symlink")
    os.mkdir("up/mid/made")
    os.chmod("up/mid/made", 0o700)
    os.utime("up/mid", (1, 1))
    os.rename("empty", "up/mid/made")
    shutil.copytree("spare", "up/mid/copy")
    shutil.rmtree("up/mid/back")
    # beside the names that rules wait for
    os.makedirs("newrepo/src")
    os.makedirs("late/public")
    write("newrepo/gitignore")
    os.rename("newrepo/src", "newrepo/lib")
    os.rename("spare/.git", "newrepo/git")
    shutil.rmtree("newrepo")
    shutil.rmtree("late")
    # All that may go goes, the roots and what leads to them stay.
    shutil.rmtree("up", ignore_errors=True)
    left = sorted(os.path.join(w, n) for w, ds, fs in os.walk("up")
                  for n in ds + fs if "/deny/" not in w)
    assert left == ["up/mid", "up/mid/deny", "up/mid/deny-empty", "up/mid/ro",
                    "up/mid/ro-empty", "up/mid/ro-file", "up/mid/ro/file",
                    "up/mid/ro/out"], left
    return 0


if __name__ == "__main__":
    how, *args = sys.argv[1:]
    if how == "count":
        print(len(REFUSED))
        sys.exit()
    sys.exit({"build": build, "outside": outside, "refused": refused,
              "beside": beside}[how](*args))
