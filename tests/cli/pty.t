#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# --pty: the command has a terminal of its own, and the caller's, if there is
# one, is given back as it was whatever happens. Full-screen programs and shells
# with jobs work in it, and nothing in it reaches the caller's.
set -u
# shellcheck source=tests/cli/tap.sh
. "$(dirname "$0")/tap.sh"

needs_root
r=$tmp/out/r.json
printf '{ "version": 1, "limits": { "grace": "200ms" } }' >"$tmp/p.json"
start="$lh $how --policy $tmp/p.json --result $r"
PYTHONPATH=$top/tests/cli PYTHONDONTWRITEBYTECODE=1
export PYTHONPATH PYTHONDONTWRITEBYTECODE

# with INPUT COMMAND…: in the workspace, without any terminal around.
with() {
	input=$1
	shift
	# shellcheck disable=SC2086
	(cd "$tmp/ws" && printf "$input" | timeout 300 setsid -w $start --pty \
		"$@") >"$tmp/printed" 2>"$tmp/said"
	status=$?
}

with '' -- sh -c 'tty; test -t 0 && test -t 1 && test -t 2 && stty size &&
	: >/dev/tty && : >"$(tty)" && : </proc/self/fd/1'
[ "$status" = 0 ] && grep -q '^/dev/pts/' "$tmp/printed" &&
	grep -q '^24 80' "$tmp/printed"
ok $? 'all three are a terminal, by each of its names'
with '' -- stat -L -c %a /dev/stdin
[ "$(tr -d '\r' <"$tmp/printed")" = 600 ]
ok $? 'nobody else may write to it'
with 'one\ntwo' -- cat
[ "$status" = 0 ] && [ "$(grep -o one "$tmp/printed" | wc -l)" = 2 ] &&
	[ "$(grep -o two "$tmp/printed" | wc -l)" = 2 ]
ok $? 'what comes from a pipe is typed into it, and its end is an end'
with '' -- sh -c 'head -c 300000 /dev/zero | tr "\000" x'
[ "$status" = 0 ] && [ "$(tr -cd x <"$tmp/printed" | wc -c)" = 300000 ]
ok $? 'large output arrives whole'
with '' --capture -- sh -c 'echo a; echo b >&2'
[ "$status" = 0 ] && [ ! -s "$tmp/printed" ] &&
	json "$r" 'r["stdout"] == "a\r\nb\r\n" and r["stderr"] is None'
ok $? 'with --capture both are one'
with '' -- sh -c '(trap "" HUP; sleep 300) & echo started'
[ "$status" = 0 ] && grep -q started "$tmp/printed" &&
	json "$r" 'r["resources"]["wall_ns"] < 60e9'
ok $? 'who is left behind in it is not waited for'
with '' --idle-timeout 1s -- sleep 300
[ "$status" = 124 ] && json "$r" 'r["status"] == "idle"'
ok $? 'silence on it is silence'
# shellcheck disable=SC2086
(cd "$tmp/ws" && { timeout 300 $start --pty -- sh -c 'yes'
	echo $? >"$tmp/out/yes"; } </dev/null 2>"$tmp/said" | head -n 1 \
	>"$tmp/printed")
[ "$(cat "$tmp/out/yes")" = 129 ]
ok $? 'a reader who goes hangs it up'
with '' -- sh -c 'trap "" HUP; exec </dev/null >/dev/null 2>&1; sleep 1
	echo x >/dev/tty; exit 3'
[ "$status" = 3 ] && grep -q x "$tmp/printed"
ok $? 'it is there also when nobody has it open'

case_() {
	run timeout 600 python3 "$top/tests/cli/pty-cases.py" "$1" "$start"
	[ "$status" = 0 ] && [ "$(tail -n 1 "$tmp/printed")" = works ]
	ok $? "$2"
	rm -f "$tmp/ws/note" "$tmp/ws/long"
}
case_ size 'it takes the size of the one around it, and each new size'
case_ restored 'the modes outside come back, however it ends'
case_ interrupt 'a key interrupts inside, once'
case_ jobs 'a shell in it has job control (APP-12)'
case_ vim 'vim'
case_ less 'less'
case_ suspended 'stopped and continued, the modes follow'
case_ background 'in the background it takes neither modes nor keys'
case_ idle 'an idle time at a terminal gives one, and nothing else does'
case_ injection 'nothing is typed into the one around it (FS-36, FS-37)'

done_testing
