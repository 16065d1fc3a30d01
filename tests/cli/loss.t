#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# A record that cannot be kept: counted, and told; with on_loss "kill" the
# session ends. The records are those of seccomp, which every kernel makes.
set -u
# shellcheck source=tests/cli/tap.sh
. "$(dirname "$0")/tap.sh"

needs_root
r=$tmp/out/r.json
d=$tmp/full/d.jsonl
LH_SANDBOX=warn
export LH_SANDBOX
mkdir "$tmp/full"
# policy WORD
policy() {
	printf '{ "version": 1, "sandbox_profile": "worktree",
		"on_loss": "%s" }' "$1" >"$tmp/p.json"
}
# Refused thrice, then a word, then it waits to be ended.
tries='import ctypes, sys, time
for n in range(3):
    ctypes.CDLL(None).syscall(165, n)
print("done", flush=True)
time.sleep(float(sys.argv[1]))'
# full KIB COMMAND…: the records go to a file system of that size.
full() {
	size=$1
	shift
	unshare -m sh -c 'mount --make-rprivate / && mount -t tmpfs -o \
		size="$0"k tmpfs "$1" && { [ "$0" -gt 8 ] ||
		cat /dev/zero >"$1/fill" 2>/dev/null; shift; "$@"; }' \
		"$size" "$tmp/full" "$@"
}
session() {
	rm -f "$r"
	run "$@"
}

policy continue
session full 8 "$lh" --policy "$tmp/p.json" --result "$r" --denials "$d" -- \
	python3 -c "$tries" 0
[ "$status" = 0 ] && json "$r" 'r["status"] == "ok" and
	r["denials"]["total"] == 3 and r["denials"]["unwritten"] == 3' &&
	grep -q '3 denial record(s) could not be kept: No space' "$tmp/said"
ok $? 'on a full disk they are counted, and it goes on'
# Of the first there is room for a part.
yes '{}' | head -c 40860 >"$tmp/out/d.jsonl"
session bash -c 'ulimit -f 40; exec "$@"' bash "$lh" --policy "$tmp/p.json" \
	--result "$r" --denials "$tmp/out/d.jsonl" -- python3 -c "$tries" 0
[ "$status" = 0 ] && json "$r" 'r["status"] == "ok" and
	r["denials"]["total"] == 3 and r["denials"]["unwritten"] == 3' &&
	grep -q 'could not be kept: File too large' "$tmp/said" &&
	[ "$(wc -c <"$tmp/out/d.jsonl")" = 40860 ]
ok $? 'neither does a limit of file sizes end it, nor leave half a line'
policy kill
session full 8 "$lh" --policy "$tmp/p.json" --result "$r" --denials "$d" -- \
	python3 -c "$tries" 100
[ "$status" = 125 ] && json "$r" 'r["status"] == "supervisor_error" and
	"No space" in r["error"] and "on_loss" in r["error"] and
	r["signal"] == "SIGKILL" and r["denials"]["unwritten"] > 0'
ok $? 'with on_loss "kill" the session ends'
session full 8 "$lh" --policy "$tmp/p.json" --result "$r" --denials "$d" -- \
	python3 -c "$tries" 0
[ "$status" = 125 ] && json "$r" 'r["status"] == "supervisor_error"'
ok $? 'also where the command has ended by itself'
session full 1024 "$lh" --policy "$tmp/p.json" --result "$r" --denials "$d" \
	-- python3 -c "$tries" 0
[ "$status" = 0 ] && json "$r" 'r["status"] == "ok" and
	r["denials"]["total"] == 3 and r["denials"]["unwritten"] == 0'
ok $? 'with room for them it does not'
session full 8 "$lh" --policy "$tmp/p.json" --result "$r" --denials "$d" -- \
	true
[ "$status" = 0 ]
ok $? 'nor without any'
session sh -c "'$lh' --policy '$tmp/p.json' --result '$r' --denials fd:3 -- \
	python3 -c '$tries' 100 3>&1 >/dev/null | true"
json "$r" '"Broken pipe" in r["error"] and "on_loss" in r["error"]'
ok $? 'a reader that is gone is a loss'

# A flood, while the supervisor does not run: more threads than there is room.
flood='import ctypes, sys, threading, time, os
libc = ctypes.CDLL(None, use_errno=True)
open("here", "w").close()
while not os.path.exists("go"):
    time.sleep(0.01)
todo = [threading.Thread(target=libc.syscall, args=(165, n))
        for n in range(int(sys.argv[1]))]
for t in todo: t.start()
for t in todo: t.join()
open("gone", "w").close()'
# flooded THREADS
flooded() {
	rm -f "$tmp/ws/here" "$tmp/ws/go" "$tmp/ws/gone" "$r"
	(cd "$tmp/ws" && exec "$lh" --policy "$tmp/p.json" --result "$r" \
		--denials "$tmp/out/d" -- python3 -c "$flood" "$1") \
		>"$tmp/printed" 2>"$tmp/said" </dev/null &
	job=$!
	appears "$tmp/ws/here" && kill -STOP "$job" && touch "$tmp/ws/go" &&
		appears "$tmp/ws/gone"
	kill -CONT "$job"
	wait "$job"
	status=$?
}
chmod 777 "$tmp/ws"
flooded 200
[ "$status" = 125 ] && json "$r" 'r["denials"]["lost"] > 0 and
	"flood" in r["error"] and "on_loss" in r["error"]'
ok $? 'what a flood leaves no room for is a loss'
flooded 20
[ "$status" = 0 ] && json "$r" 'r["denials"]["lost"] == 0 and
	r["denials"]["total"] == 20'
ok $? 'a burst is none'
policy continue
flooded 200
[ "$status" = 0 ] && json "$r" 'r["denials"]["lost"] > 0 and
	r["denials"]["total"] == 200'
ok $? 'without it a flood is counted'

run "$lh" --policy "$tmp/p.json" --dry-run -- true
! grep -q '^on loss' "$tmp/printed"
ok $? '--dry-run says nothing of what goes on'
policy kill
run "$lh" --policy "$tmp/p.json" --dry-run -- true
grep -q '^on loss      of a record, the session is killed$' "$tmp/printed"
ok $? 'and names what ends'

done_testing
