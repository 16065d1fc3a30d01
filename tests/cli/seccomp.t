#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# What seccomp refuses, on any kernel: one that does not load the engine runs
# with LH_SANDBOX=warn, and has these records alone.
set -u
# shellcheck source=tests/cli/tap.sh
. "$(dirname "$0")/tap.sh"

needs_root
r=$tmp/out/r.json
d=$tmp/out/d.jsonl
LH_SANDBOX=warn
export LH_SANDBOX
cat >"$tmp/call.py" <<'EOF'
import ctypes, os, sys, threading
libc = ctypes.CDLL(None, use_errno=True)
def call(*numbers):
    v = [ctypes.c_ulong(n & (1 << 64) - 1) for n in numbers]
    return ctypes.get_errno() if libc.syscall(*v) == -1 else 0
# A filter that allows all, and its listener.
def listen():
    class Insn(ctypes.Structure):
        _fields_ = [("code", ctypes.c_uint16), ("jt", ctypes.c_uint8),
                    ("jf", ctypes.c_uint8), ("k", ctypes.c_uint32)]
    class Prog(ctypes.Structure):
        _fields_ = [("len", ctypes.c_ushort), ("f", ctypes.POINTER(Insn))]
    insn = Insn(6, 0, 0, 0x7fff0000)
    prog = Prog(1, ctypes.pointer(insn))
    libc.prctl(38, 1, 0, 0, 0)
    return libc.syscall(317, 1, 8, ctypes.byref(prog))
EOF

# calls TEXT: Python after call.py, in a session; its records in $d.
calls() {
	rm -f "$r" "$d"
	{ cat "$tmp/call.py"; echo "$1"; } >"$tmp/ws/now.py"
	run "$lh" -q --denials "$d" --result "$r" -- python3 -S now.py
}

# records EXPRESSION: true of the list d of all of them.
records() {
	python3 -c 'import json, sys
with open(sys.argv[1]) as f:
    d = [json.loads(l) for l in f if json.loads(l)["operation"] == "syscall"]
sys.exit(not eval("(" + sys.argv[2] + ")"))' "$d" "$1" 2>>"$tmp/said"
}

calls 'print(call(165, 1, 2, 0, 7, 0), call(101, 99, -1, 0, 0), call(39))
print(call(16, 0, 0x100005412, 0), call(425, 3, 0), call(3000, 5))'
[ "$(tr '\n' ' ' <"$tmp/printed")" = '1 1 0 1 38 38 ' ]
ok $? 'refused with EPERM, or as if it were not there'
records '[(x["syscall"], x["args"], x["errno"], x["syscall_number"])
	for x in d] == [("mount", [1, 2, 0, 7, 0], "EPERM", 165),
	("ptrace", [99, 2**64 - 1, 0, 0], "EPERM", 101),
	("ioctl", [0, 0x100005412, 0], "EPERM", 16),
	("io_uring_setup", [3, 0], "ENOSYS", 425),
	(None, None, "ENOSYS", 3000)]'
ok $? 'each has a record, with name and arguments'
records 'all(x["arch"] == "x86_64" and x["hook"] == "seccomp" and
	x["rule"] == "builtin:seccomp" and x["mechanism"] == "unknown" and
	x["comm"] == "python3" and "python3" in x["exe"] and x["uid"] == 0 and
	x["tid"] == x["pid"] != x["ppid"] and x["count"] == 1 and
	x["expected_probe"] == (x["errno"] == "ENOSYS") and x["reason"] ==
	("never" if x["errno"] == "EPERM" else "missing") for x in d)'
ok $? 'and says who it was'
json "$r" 'r["not_recorded"] == [] and r["denials"]["total"] >= 5 and
	r["denials"]["lost"] == 0 and r["security_alert"] == "SYSCALL_BLOCKED" and
	r["denials"]["first"][0]["operation"] == "syscall"'
ok $? 'the result counts them'
calls 'call(425, 3, 0); call(3000)'
json "$r" 'r["denials"]["total"] == 2 and not r["security_alert"]'
ok $? 'what is not there raises no alert'
calls 'call(39); call(16, 0, 0x5401); call(302, 0, 7)'
[ ! -e "$d" ] || [ ! -s "$d" ]
ok $? 'what is allowed leaves no record'
calls 'call(165); sys.exit(3)'
run "$lh" --denials "$d" -- python3 -S now.py
[ "$status" = 3 ] && grep -q 'refused to python3: syscall mount (never)' \
	"$tmp/said"
ok $? 'a command that failed after it: it is said why'

calls 'def blow():
    for i in range(2000):
        assert call(101, 99, 0, 0, 0) == 1
t = [threading.Thread(target=blow) for i in range(8)]
[x.start() for x in t]; [x.join() for x in t]'
json "$r" 'r["denials"]["total"] == 16000 and r["denials"]["lost"] == 0 and
	r["exit_code"] == 0' && records 'sum(x["count"] for x in d) == 16000 and
	len(d) < 4000 and [x["seq"] for x in d] == sorted(x["seq"] for x in d)'
ok $? 'a flood of 8 threads: folded, and every call counted'

# Who listens above us has the one listener that there can be.
rm -f "$r" "$d"
echo 'print(call(165), call(425), call(39))' | cat "$tmp/call.py" - \
	>"$tmp/ws/now.py"
{ cat "$tmp/call.py"; echo 'os.set_inheritable(listen(), True)'
	echo 'os.execvp(sys.argv[1], sys.argv[1:])'; } \
	>"$tmp/under.py"
run python3 "$tmp/under.py" "$lh" -q --denials "$d" --result "$r" -- \
	python3 -S now.py
[ "$(cat "$tmp/printed")" = '1 38 0' ]
ok $? 'under another listener: refused all the same'
json "$r" 'r["not_recorded"] == ["seccomp"] and r["status"] == "ok"' &&
	! grep -qs '"syscall"' "$d"
ok $? 'without records, and the result says so'
calls 'print(listen(), ctypes.get_errno())'
[ "$(cat "$tmp/printed")" = '-1 16' ]
ok $? 'a program that wants to listen itself is told that it cannot'
run "$lh" -q --result "$r" -- /nonexistent
[ "$status" = 127 ]
ok $? 'a command that is not there'
printf '#!/nonexistent\n' >"$tmp/ws/odd"
chmod 755 "$tmp/ws/odd"
run python3 "$tmp/under.py" "$lh" -q --result "$r" -- ./odd
[ "$status" = 126 ] && json "$r" 'r["status"] == "error"'
ok $? 'one that cannot be executed, also under another listener'

done_testing
