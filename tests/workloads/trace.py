#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""What is there, to tell whether a session left a trace.

trace.py take PLACE...   as JSON; a PLACE is whole:DIR, all that stat tells but
                         the access time, content and attributes, also of DIR
                         itself; or names:DIR, what is below it and its modes
trace.py diff FILE PLACE... -- [GLOB]...
                         where it differs from what was taken to FILE, but for
                         paths that match a GLOB; ctime:GLOB: but for their
                         time of change
"""
import fnmatch
import hashlib
import json
import os
import stat
import sys


def describe(path, whole):
    st = os.lstat(path)
    what = {"mode": oct(st.st_mode), "owner": [st.st_uid, st.st_gid]}
    if stat.S_ISLNK(st.st_mode):
        what["target"] = os.readlink(path)
    if not whole:
        return what
    what |= {"inode": st.st_ino, "links": st.st_nlink, "size": st.st_size,
             "mtime": st.st_mtime_ns, "ctime": st.st_ctime_ns}
    if stat.S_ISREG(st.st_mode):
        with open(path, "rb") as f:
            what["content"] = hashlib.sha256(f.read()).hexdigest()
    what["xattrs"] = {n: os.getxattr(path, n, follow_symlinks=False).hex()
                      for n in os.listxattr(path, follow_symlinks=False)}
    return what


def take(places):
    out = {}
    for place in places:
        how, top = place.split(":", 1)
        found = [top] if how == "whole" else []
        for where, dirs, files in os.walk(top):
            found += [os.path.join(where, n) for n in dirs + files]
        for path in found:
            out.setdefault(path, describe(path, how == "whole"))
    return out


def diff(before, places, allowed):
    with open(before, encoding="utf-8") as f:
        a = json.load(f)
    b = take(places)
    late = [p[6:] for p in allowed if p.startswith("ctime:")]
    bad = 0
    for path in sorted(a.keys() | b.keys()):
        was, now = a.get(path), b.get(path)
        if any(fnmatch.fnmatchcase(path, p) for p in allowed):
            continue
        if was and now and any(fnmatch.fnmatchcase(path, p) for p in late):
            was.pop("ctime", None)
            now.pop("ctime", None)
        if was == now:
            continue
        bad = 1
        if not was or not now:
            print(ascii(path), "is new" if now else "is gone")
            continue
        for key in was:
            if was[key] != now[key]:
                print(f"{ascii(path)} {key}: {was[key]}, now {now[key]}")
    return bad


if __name__ == "__main__":
    if sys.argv[1] == "take":
        json.dump(take(sys.argv[2:]), sys.stdout)
    else:
        end = sys.argv.index("--")
        sys.exit(diff(sys.argv[2], sys.argv[3:end], sys.argv[end + 1:]))
