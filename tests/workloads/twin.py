#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Compare a workload in a session with its twin outside.

twin.py tree DIR SINCE SCRIPT    what the script left in DIR, as JSON. A time
                                 before SINCE was set by somebody: it counts.
twin.py trees ONE OTHER          where two of these differ; 0 if nowhere
twin.py words ONE OTHER SCRIPT   where two outputs differ
twin.py records FILE SCRIPT      records that the script does not expect

A script says in its comments what differs by its nature:
  # unstable: GLOB...     content and size of these (ids, stat data, clocks)
  # fleeting: GLOB...     these may be there or not
  # words: unstable       its output (pids, times)
  # expected: OPERATION GLOB
                          a probe that is refused and does no harm
workloads.t reads "# policies:", "# cases:", "# flags:" (of lh-supervise).
"""
import fnmatch
import hashlib
import json
import os
import re
import stat
import sys


# Where either has its temporary files.
OURS = rb"/tmp/lh-[0-9]+/[0-9a-f]+|/tmp/workloads\.\w+/tmp"


def said(script, word):
    text = open(script).read()
    return [line.split() for line in
            re.findall(rf"^# {word}: *(.*)$", text, re.M)]


def globs(script, word):
    return [g for line in said(script, word) for g in line]


def matches(path, patterns):
    return any(fnmatch.fnmatchcase(path, p) for p in patterns)


def paths(top):
    for where, dirs, files in os.walk(top):
        for name in dirs + files:
            yield os.path.join(where, name)


def describe(path, st, since):
    what = {
        "mode": oct(st.st_mode), "owner": [st.st_uid, st.st_gid],
        "time": st.st_mtime_ns if st.st_mtime < since else "now",
    }
    if stat.S_ISLNK(st.st_mode):
        what["target"] = os.readlink(path)
    elif stat.S_ISREG(st.st_mode):
        with open(path, "rb") as f:
            what["content"] = hashlib.sha256(f.read()).hexdigest()
        what["size"] = st.st_size
    names = os.listxattr(path, follow_symlinks=False)
    if names:
        what["xattrs"] = {n: os.getxattr(path, n, follow_symlinks=False).hex()
                          for n in names}
    return what


def tree(top, since, script):
    unstable = globs(script, "unstable")
    fleeting = globs(script, "fleeting") + [".lh-toolchain-cache*"]
    out, first = {}, {}
    for path in sorted(paths(top)):
        name = os.path.relpath(path, top)
        if matches(name, fleeting):
            continue
        st = os.lstat(path)
        what = describe(path, st, since)
        if not stat.S_ISDIR(st.st_mode) and st.st_nlink > 1:
            what["links"] = st.st_nlink
            what["same"] = first.setdefault((st.st_dev, st.st_ino), name)
        if matches(name, unstable):
            what.pop("content", None)
            what.pop("size", None)
        out[name] = what
    # a name that is not UTF-8 is a name too
    return json.dumps(out, indent=0, sort_keys=True)


def parts(a, b):
    if not a or not b:
        return ["only in the session" if b else "only outside"]
    return [f"{key}: outside {a.get(key)}, in the session {b.get(key)}"
            for key in sorted(a.keys() | b.keys())
            if a.get(key) != b.get(key)]


def trees(one, other):
    a, b = json.load(open(one)), json.load(open(other))
    bad = 0
    for name in sorted(a.keys() | b.keys()):
        for part in parts(a.get(name), b.get(name)):
            print(ascii(name), part)
            bad = 1
    return bad


def words(one, other, script):
    if ["unstable"] in said(script, "words"):
        return 0
    text = [re.sub(OURS, b"TMP", re.sub(rb"^lh-supervise: sandbox .*\n", b"",
                                        open(f, "rb").read()))
            for f in (one, other)]
    if text[0] == text[1]:
        return 0
    for name, t in zip(("outside", "in the session"), text):
        print(f"{name}, it said:")
        print(ascii(t.decode(errors="replace"))[:2000])
    return 1


def records(file, script):
    expected = said(script, "expected")
    bad = 0
    for line in open(file):
        d = json.loads(line)
        if not any(d["operation"] == e[0] and
                   fnmatch.fnmatchcase(d.get("path") or "", e[1])
                   for e in expected):
            print("not expected:", line.strip())
            bad = 1
    return bad


def main(how, *args):
    if how == "tree":
        print(tree(args[0], float(args[1]), args[2]))
        return 0
    return {"trees": trees, "words": words, "records": records}[how](*args)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
