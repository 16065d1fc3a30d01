#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# --capture: what the command writes is in the result and nowhere else, up to a
# limit, and nothing that it writes or leaves running holds the session up.
# Confined where that can be: in guests.
set -u
# shellcheck source=tests/cli/tap.sh
. "$(dirname "$0")/tap.sh"

needs_root
r=$tmp/out/r.json

# capture COMMAND…: under the policy of the last limits.
limits() { printf '{ "version": 1, "limits": { %s } }' "$1" >"$tmp/p.json"; }
capture() {
	# shellcheck disable=SC2086
	run timeout 300 "$lh" $how --policy "$tmp/p.json" --capture \
		--result "$r" "$@"
}
limits ''

capture -- sh -c 'echo out; echo err >&2; exit 3'
[ "$status" = 3 ] && [ ! -s "$tmp/printed" ] && ! grep -q '^err' "$tmp/said" &&
	json "$r" 'r["stdout"] == "out\n" and r["stderr"] == "err\n" and
	r["stdout_bytes"] == 4 and not r["stdout_cut"] and
	r["stderr_bytes"] == 4 and not r["stderr_cut"] and
	"stdout_b64" not in r and r["exit_code"] == 3'
ok $? 'both streams are in the result, and nowhere else'
capture -- true
json "$r" 'r["stdout"] == "" and r["stderr"] == "" and r["stdout_bytes"] == 0'
ok $? 'nothing is the empty string'
# shellcheck disable=SC2086
run "$lh" $how --policy "$tmp/p.json" --result "$r" -- echo out
[ "$(cat "$tmp/printed")" = out ] && json "$r" 'r["stdout"] is None and
	r["stderr"] is None and r["stdout_bytes"] is None and
	not r["stdout_cut"]'
ok $? 'without --capture the streams are the caller'"'"'s'
# shellcheck disable=SC2086
run "$lh" $how --policy "$tmp/p.json" --capture --json -- echo out
grep '^{' "$tmp/said" >"$tmp/out/j.json"
json "$tmp/out/j.json" 'r["stdout"] == "out\n"'
ok $? 'with --json too'
capture -- nosuchcommand
[ "$status" = 127 ] && json "$r" 'r["stdout"] is None'
ok $? 'a command that is not there wrote nothing'
(cd "$tmp/ws" && echo in | "$lh" \
	$how --policy "$tmp/p.json" --capture --result "$r" -- cat) \
	>"$tmp/printed" 2>"$tmp/said"
json "$r" 'r["stdout"] == "in\n"'
ok $? 'standard input stays the caller'"'"'s'

# Any bytes.
capture -- printf 'a\000b\033[31m\377\302\251'
json "$r" 'r["stdout"] == "a\0b\033[31m\ufffd\u00a9" and
	__import__("base64").b64decode(r["stdout_b64"]) ==
	b"a\0b\033[31m\377\302\251"' && ! LC_ALL=C grep -q "$(printf '\033')" "$r"
ok $? 'what is no UTF-8 is there twice: repaired, and exactly'
limits '"capture_bytes": 10'
capture -- sh -c 'printf 0123456789abc; printf 0123456789 >&2'
json "$r" 'r["stdout"] == "0123456789" and r["stdout_bytes"] == 13 and
	r["stdout_cut"] and r["stderr"] == "0123456789" and not r["stderr_cut"]'
ok $? 'what is cut says so'
for i in 8 9; do
	capture -- printf "%0${i}d\\342\\202\\254x" 0
	json "$r" 'r["stdout"] == "'"$(printf "%0${i}d" 0)"'" and
		r["stdout_cut"] and "stdout_b64" not in r'
	ok $? "no half of a character is left by the cut, $i"
done
capture -- printf '0000000\342\202\254x'
json "$r" 'r["stdout"] == "0000000\u20ac" and r["stdout_cut"]'
ok $? 'a whole one stays'
capture -- sh -c 'printf 012345; sleep 0.1; printf 678901; printf z'
json "$r" 'r["stdout"] == "0123456789" and r["stdout_bytes"] == 13'
ok $? 'the first bytes are kept, and none behind a gap'
limits ''
capture -- head -c 70000 /dev/zero
json "$r" 'r["stdout"] == "\0" * 65536 and r["stdout_cut"] and
	r["stdout_bytes"] == 70000'
ok $? '64 KiB of each where nobody says'

# The command's own names for them.
capture -- sh -c 'echo 1 >/dev/stdout && echo 2 >/proc/self/fd/1 &&
	echo 3 >/dev/fd/1 && echo 4 >/dev/stderr && echo 5 >>/proc/self/fd/2 &&
	test -p /dev/stdout && test ! -t 1'
[ "$status" = 0 ] && json "$r" 'r["stdout"] == "1\n2\n3\n" and
	r["stderr"] == "4\n5\n"'
ok $? 'they can be opened by their names'
capture -- timeout 5 cat /dev/stdout
if [ "$how" = --no-sandbox ]; then [ "$status" = 124 ]; else
	[ "$status" = 1 ] && json "$r" '"Permission denied" in r["stderr"]'
fi
ok $? 'a session does not read what it is to write'

# APP-20, PROC-22: large, both at once, and somebody who keeps them open.
limits '"capture_bytes": "6M"'
capture -- python3 -c "import sys, threading
a = lambda f: f.write('x' * 5_000_000)
t = [threading.Thread(target=a, args=(f,)) for f in (sys.stdout, sys.stderr)]
[i.start() for i in t]; [i.join() for i in t]"
[ "$status" = 0 ] && json "$r" 'r["stdout"] == r["stderr"] == "x" * 5000000'
ok $? 'both at once, each whole'
limits ''
capture -- sh -c 'sleep 300 & setsid sleep 300 & echo started'
[ "$status" = 0 ] && json "$r" 'r["stdout"] == "started\n" and
	r["resources"]["wall_ns"] < 60e9'
ok $? 'who is left behind with them is not waited for'
capture -- sh -c '(trap "" TERM HUP INT; while :; do echo x; done) & echo $!'
[ "$status" = 0 ] && json "$r" 'r["stdout"].strip("x\n").isdigit()'
ok $? 'also who goes on writing'
capture --timeout 1s -- sh -c 'echo before; sleep 300'
[ "$status" = 124 ] && json "$r" 'r["timed_out"] and
	r["stdout"] == "before\n"'
ok $? 'of a run whose time was over, what it wrote before'
capture -- sh -c 'exec >&- 2>&-; sleep 0.2; exit 4'
[ "$status" = 4 ] && json "$r" 'r["stdout"] == "" and r["exit_code"] == 4'
ok $? 'closed early, the command goes on'

# Bounded whatever comes: the peak of all processes there were.
size=1073741824
[ "$how" = --no-sandbox ] || size=33554432
# shellcheck disable=SC2016
run python3 -c 'import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)' \
	"$lh" $how --policy "$tmp/p.json" --capture --result "$r" \
	-- head -c $size /dev/zero
[ "$status" = 0 ] && json "$r" 'r["stdout_bytes"] == '$size' and
	len(r["stdout"]) == 65536' && [ "$(cat "$tmp/printed")" -lt 20000 ]
ok $? "$size bytes: bounded memory, nothing blocks"

done_testing
