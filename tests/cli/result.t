#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# What a result says of how a run ended, and that every result and record is
# what the schemas say. On a host without the engine, LH_SANDBOX=warn.
set -u
# shellcheck source=tests/cli/tap.sh
. "$(dirname "$0")/tap.sh"

needs_root
r=$tmp/out/r.json
d=$tmp/out/d.jsonl
LH_SANDBOX=warn
export LH_SANDBOX
valid=$top/tests/valid

# ends STATUS EXIT NAME [FLAG...] -- COMMAND…: so, and as the schema has it.
ends() {
	want=$1 code=$2 name=$3
	shift 3
	rm -f "$r" "$d"
	run "$lh" --result "$r" --denials "$d" "$@"
	[ "$status" = "$code" ] && json "$r" \
		'r["status"] == "'"$want"'" and r["exit_status"] == '"$code" &&
		"$valid" "$r" 2>>"$tmp/said" &&
		{ [ ! -s "$d" ] || "$valid" "$d" 2>>"$tmp/said"; }
	ok $? "$want: $name"
}

ends ok 0 'the command ended with 0' -- true
ends error 3 'with something else' -- sh -c 'exit 3'
ends error 125 'also with 125' -- sh -c 'exit 125'
ends error 127 'it is not there' -- nosuch
ends error 126 'it cannot be executed' -- /etc/passwd
ends killed 143 'a signal ended it' -- sh -c 'kill $$'
ends killed 139 'its own fault too' -- sh -c 'kill -SEGV $$'
ends timed_out 124 'the wall time is over' --timeout 300ms -- sleep 100
"$valid" "$d" && json "$d" 'r["operation"] == "limit" and
	r["limit"] == "wall_time" and r["limit_value"] == 300000000 and
	r["rule"] == "/limits/wall_time" and r["hook"] is None and
	r["seq"] == 1 and r["errno"] is None' &&
	json "$r" 'r["denials"]["total"] == 1 and r["security_alert"] is None'
ok $? 'the limit is on record'
ends supervisor_error 125 'no such policy' --policy nosuch -- true
ends supervisor_error 125 'no such directory' -C /nosuch -- true
ends ok 0 'without a sandbox' --no-sandbox -- true
refused='import ctypes, sys
r = ctypes.CDLL(None).syscall(425, 0, 0), ctypes.CDLL(None).syscall(165)
sys.exit(int(sys.argv[1]))'
ends permission_denied 1 'it failed, and something was refused' \
	-- python3 -c "$refused" 1
json "$r" 'r["security_alert"] == "SYSCALL_BLOCKED" and
	r["denials"]["first"][0]["alert"] == "SYSCALL_BLOCKED" and
	r["denials"]["first"][0]["syscall"] == "mount"' && [ -s "$d" ]
ok $? 'with the first refusal, and its kind'
ends ok 0 'it did without what was refused' -- python3 -c "$refused" 0
json "$r" 'r["security_alert"] == "SYSCALL_BLOCKED"'
ok $? 'the alert stands'
many='import ctypes
for n in range(20):
    ctypes.CDLL(None).syscall(165, n, n)'
ends ok 0 'many refusals' -- python3 -c "$many"
json "$r" 'len(r["denials"]["first"]) <= 5 and r["denials"]["total"] == 20'
ok $? 'only the first are told'
name=$(printf 'x\033\n"\\\377')
ends error 127 'whatever it is called' -- "./$name"
cp /bin/true "$tmp/ws/$name"
ends ok 0 'and where it is' -- "./$name"

# Labels.
ends ok 0 'labels' --label a=1 --label team/x.y-z_1=v=w --label "u=$(printf \
	'\303\244 \342\202\254')" --label e= -- true
json "$r" 'r["labels"] == {"a": "1", "team/x.y-z_1": "v=w", "u": "ä €",
	"e": ""}'
ok $? 'are in the result as they were given'
ends ok 0 'none' -- true
json "$r" 'r["labels"] == {}'
ok $? 'is an empty object'
long=$(printf '%0256d' 0)
works 'a long value' "$lh" --dry-run --label "k=$long" -- true
for bad in novalue =v -a=v a-=v 'a b=v' 'ä=v' "a=0$long" \
	"$(printf '%064d' 0)=v" "$(printf 'a=\377')" "$(printf 'a=x\ny')" \
	"$(printf 'a=\033[0m')"; do
	refuses 125 '--label: ' "no label: $(printf %.20s "$bad" |
		tr -c 'a-z0-9= -' '?')" "$lh" --label "$bad" -- true
done
refuses 125 'given twice' 'a key twice' "$lh" --label a=1 --label a=2 -- true
set --
for i in $(seq 64); do set -- "$@" --label "k$i=v"; done
ends ok 0 '64 labels' "$@" -- true
refuses 125 'more than 64' 'one more' "$lh" "$@" --label z=v -- true

done_testing
