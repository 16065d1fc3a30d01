#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# What lh-supervise writes when nothing was started: the result, where it may
# go, and with whose rights. Needs root, as every start does.
set -u
# shellcheck source=tests/cli/tap.sh
. "$(dirname "$0")/tap.sh"

needs_root
r=$tmp/out/r.json

refuses 127 'nosuch' 'a command that is not there' \
	"$lh" --result "$r" --name job --label a=1 --label b/c= -- nosuchcommand
json "$r" 'r["schema"] == "lh.result.v2" and r["status"] == "error" and
	r["exit_status"] == 127 and r["exit_code"] is None and
	r["signal"] is None and "nosuch" in r["error"] and
	r["name"] == "job" and r["labels"] == {"a": "1", "b/c": ""} and r["policy"]["name"] == "worktree" and
	len(r["policy"]["hash"]) == 64 and r["denials"]["total"] == 0 and
	r["security_alert"] is None and not r["timed_out"]'
ok $? 'gives a whole result'
run sh -c "exec '$lh' --status-fd 3 -- nosuchcommand 3>'$tmp/out/s.json'"
json "$tmp/out/s.json" 'r["exit_status"] == 127'
ok $? 'also to a descriptor'
run "$lh" --json -- nosuchcommand
tail -n 1 "$tmp/said" >"$tmp/out/j.json"
sed -n 1p "$tmp/said" >"$tmp/out/first"
{ json "$tmp/out/first" True || json "$tmp/out/j.json" True; } 2>/dev/null
ok $? '--json puts it on stderr'
printf '{ "version": 2 }' >"$tmp/p.json"
run "$lh" --policy "$tmp/p.json" --result "$r" -- true
[ "$status" = 125 ] && json "$r" 'r["exit_status"] == 125 and
	r["policy"] is None and "version" in r["error"] and
	r["status"] == "supervisor_error"'
ok $? 'a wrong policy gives one too'
name=$(printf 'x\033\n"\\\377')
run "$lh" --result "$r" -- "./$name"
[ "$status" = 127 ] && json "$r" 'r["error"].count("\n") <= 1'
ok $? 'whatever the command is called'

run sh -c "exec '$lh' --status-fd 3 -- nosuchcommand 3>&2"
[ "$status" = 125 ] && grep -q "descriptor 2" "$tmp/said"
ok $? "a copy of the command's own descriptor is refused"
run sh -c "exec '$lh' --status-fd 3 -- nosuchcommand 3</dev/null"
[ "$status" = 125 ] && grep -q 'not open for writing' "$tmp/said"
ok $? 'and one for reading'
run sh -c "exec '$lh' --status-fd 3 --keep-fd 3 -- true 3>'$r'"
[ "$status" = 125 ] && grep -q 'kept for the command' "$tmp/said"
ok $? 'and one that the command gets'

echo precious >"$tmp/out/precious"
ln -s precious "$tmp/out/link"
run "$lh" --result "$tmp/out/link" -- nosuchcommand
[ "$(cat "$tmp/out/precious")" = precious ] && grep -q link "$tmp/said"
ok $? 'a link is not followed'
mkfifo "$tmp/out/fifo"
run timeout 20 "$lh" --result "$tmp/out/fifo" -- nosuchcommand
[ "$status" = 125 ] && [ -p "$tmp/out/fifo" ]
ok $? 'a FIFO is not waited for'
run "$lh" --result /proc/self/comm -- nosuchcommand
grep -q 'not a regular file' "$tmp/said"
ok $? 'a file of the kernel is not written'

# It is there whole or not at all, and never an old one.
echo old >"$tmp/out/old"
chmod 640 "$tmp/out/old"
ln "$tmp/out/old" "$tmp/out/other"
run "$lh" --result "$tmp/out/old" --no-sandbox -- \
	sh -c 'ls ../out; cat ../out/old'
! grep -q '^old' "$tmp/printed" && grep -q '^other' "$tmp/printed"
ok $? 'while the command runs there is none'
json "$tmp/out/old" 'r["exit_code"] == 1' &&
	[ "$(stat -c %a "$tmp/out/old")" = 640 ] &&
	[ "$(cat "$tmp/out/other")" = old ]
ok $? 'it takes the place of an old one, with its mode'
[ "$(stat -c %a "$r")" = 600 ]
ok $? 'a new one is for its owner alone'
ls -A "$tmp/out" >"$tmp/before"
run "$lh" --result "$tmp/out/old" --no-sandbox -- \
	sh -c 'kill -9 $PPID; sleep 100'
[ "$status" = 137 ] && [ ! -e "$tmp/out/old" ] &&
	[ "$(ls -A "$tmp/out")" = "$(grep -v '^old$' "$tmp/before")" ]
ok $? 'a killed run has none'
# As on a full disk, to which nothing more is written.
full() {
	unshare -m sh -c 'mount --make-rprivate / && mount -t tmpfs -o size=8k \
		tmpfs "$0" && { cat /dev/zero >"$0/fill" 2>/dev/null; "$@"
		status=$?; ls -A "$0"; exit $status; }' "$tmp/out" "$@"
}
run full "$lh" --result "$tmp/out/new" --no-sandbox -- true
[ "$status" = 125 ] && grep -q 'No space left' "$tmp/said" &&
	[ "$(cat "$tmp/printed")" = fill ]
ok $? 'on a full disk nothing is left of it, and that is an error'
run sh -c "exec '$lh' --status-fd 3 --no-sandbox -- true 3>/dev/full"
[ "$status" = 125 ] && grep -q 'status-fd 3: No space' "$tmp/said"
ok $? 'so is a descriptor that takes none'
run "$lh" --result "$tmp/out/new" --no-sandbox -- true
[ "$status" = 0 ] && json "$tmp/out/new" 'r["status"] == "ok"'
ok $? 'with room there is one'
rm "$tmp/out/new"

sudo="env SUDO_UID=65534 SUDO_GID=65534"
chmod 755 "$tmp/out"
chmod 600 "$tmp/out/precious"
# shellcheck disable=SC2086
run $sudo "$lh" --result "$tmp/out/precious" -- nosuchcommand
[ "$(cat "$tmp/out/precious")" = precious ] &&
	grep -q 'Permission denied' "$tmp/said"
ok $? "root's file is not written for a user"
# shellcheck disable=SC2086
run $sudo "$lh" --result "$tmp/out/new" -- nosuchcommand
[ ! -e "$tmp/out/new" ] && grep -q 'Permission denied' "$tmp/said"
ok $? 'nor made'
# shellcheck disable=SC2086
run $sudo "$lh" --result "$tmp/ws/new" -- nosuchcommand
[ "$(stat -c %u "$tmp/ws/new")" = 65534 ]
ok $? 'what is made is the user'"'"'s'
before=$(cat /proc/sys/kernel/core_pattern)
# shellcheck disable=SC2086
run $sudo "$lh" --result /proc/sys/kernel/core_pattern -- nosuchcommand
[ "$(cat /proc/sys/kernel/core_pattern)" = "$before" ] &&
	grep -q 'not a regular file' "$tmp/said"
ok $? 'a sysctl is not written for a user'

done_testing
