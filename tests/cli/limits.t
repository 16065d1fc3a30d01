#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Limits: those that every kernel has, and those of cgroups. Without a sandbox,
# so that they hold here as in a guest; as a user, who has no capability to
# raise them again.
set -u
# shellcheck source=tests/cli/tap.sh
. "$(dirname "$0")/tap.sh"

needs_root
r=$tmp/out/r.json

# policy LIMITS
policy() {
	printf '{ "version": 1, "sandbox_profile": "worktree",
		"limits": { %s } }' "$1" >"$tmp/p.json"
}
# session COMMAND…: as nobody.
session() {
	rm -f "$r"
	run env SUDO_UID=65534 SUDO_GID=65534 "$lh" --no-sandbox --policy \
		"$tmp/p.json" --result "$r" -- "$@"
}
chmod 777 "$tmp/out"

# open_files
policy '"open_files": 20'
session sh -c 'ulimit -Sn; ulimit -Hn'
[ "$(tr '\n' ' ' <"$tmp/printed")" = '20 20 ' ]
ok $? 'open_files is the soft and the hard limit'
session sh -c 'ulimit -n 21'
[ "$status" != 0 ]
ok $? 'which is not raised again'
session sh -c 'ulimit -n 19 && ulimit -Hn'
[ "$(cat "$tmp/printed")" = 19 ]
ok $? 'but lowered'
many='import os
try:
    n = 0
    while n < 30:
        n = os.open("/dev/null", os.O_RDONLY)
    print(n)
except OSError as e:
    print(e.errno)'
session python3 -c "$many"
[ "$(cat "$tmp/printed")" = 24 ]
ok $? 'what goes beyond is EMFILE'
json "$r" 'r["limits"]["open_files"] == 20 and
	r["limits"]["file_size_bytes"] is None and
	r["limits"]["pids"] == 4096'
ok $? 'the result has it'
policy '"open_files": 40'
session python3 -c "$many"
[ "$(cat "$tmp/printed")" = 30 ]
ok $? 'what stays below is opened'
policy '"open_files": 1048576'
hard=$(bash -c "ulimit -Hn")
session sh -c 'ulimit -Sn; ulimit -Hn'
[ "$hard" -gt 1048576 ] && hard=1048576
[ "$(tr '\n' ' ' <"$tmp/printed")" = "$hard $hard " ]
ok $? "it never raises the caller's own hard limit"
policy ''
session sh -c 'ulimit -Sn; ulimit -Hn'
[ "$(tr '\n' ' ' <"$tmp/printed")" = "$(bash -c "ulimit -Sn; ulimit -Hn" | tr "\n" " ")" ]
ok $? "without it, both limits are the caller's"
policy '"open_files": 1'
session true
[ "$status" = 127 ] && grep -q 'error while loading' "$tmp/said" &&
	json "$r" 'r["exit_code"] == 127'
ok $? 'one in which no program loads is one'

# file_size
policy '"file_size": "64K"'
grows='import os, signal, sys
signal.signal(signal.SIGXFSZ, getattr(signal, sys.argv[2]))
f = os.open(sys.argv[1], os.O_CREAT | os.O_WRONLY | os.O_TRUNC)
n = 0
try:
    while n < int(sys.argv[3]):
        n += os.write(f, b"x" * 4000)
except OSError as e:
    print(e.errno)
print(n)'
session python3 -c "$grows" big SIG_IGN 100000
[ "$(tr '\n' ' ' <"$tmp/printed")" = '27 65536 ' ] &&
	[ "$(stat -c %s "$tmp/ws/big")" = 65536 ]
ok $? 'a file grows to file_size; beyond is EFBIG'
session python3 -c "$grows" big SIG_DFL 100000
[ "$status" = $((128 + 25)) ] && json "$r" 'r["signal"] == "SIGXFSZ"' &&
	grep -q 'limit of file sizes' "$tmp/said"
ok $? 'or SIGXFSZ, and that is said'
session python3 -c "$grows" big SIG_DFL 60000
[ "$status" = 0 ] && [ "$(cat "$tmp/printed")" = 60000 ]
ok $? 'what stays below is written'
session sh -c 'ulimit -f 1000'
[ "$status" != 0 ]
ok $? 'it is not raised again'
session sh -c 'truncate -s 70000 big'
[ "$status" != 0 ]
ok $? 'nor passed by ftruncate'
session sh -c 'for i in 1 2 3; do head -c 60000 /dev/zero >"f$i"; done'
[ "$status" = 0 ]
ok $? 'it is of each file'

run "$lh" --policy "$tmp/p.json" --dry-run -- true
grep -q '^file size    64K$' "$tmp/printed" &&
	grep -q '^open files   none$' "$tmp/printed"
ok $? '--dry-run has them'

# Limits of the session's cgroup: v2's, or on a hybrid host v1's.
has() {
	grep -qw "$1" "$(sed -n 's/^[^ ]* \([^ ]*\) cgroup2 .*/\1/p' \
		/proc/self/mounts | head -n 1)/cgroup.controllers" ||
		grep -qE "^[^ ]+ [^ ]+ cgroup .*[ ,]$2[, ]" /proc/self/mounts
}
# told LIMIT, holds LIMIT: of the last run.
told() {
	json "$r" '"limits.'"$1"'" in r["not_enforced"]' &&
		[ "$(grep -c "not enforced: limits.$1: " "$tmp/said")" = 1 ]
}
holds() {
	json "$r" '"limits.'"$1"'" not in r["not_enforced"]' &&
		! grep -q 'not enforced' "$tmp/said"
}
policy '"memory": "64M", "swap": 0'
session python3 -c 'b = bytearray(10 ** 9)'
if has memory memory; then
	[ "$status" = $((128 + 9)) ] && holds memory && json "$r" \
		'r["resources"]["oom_kills"] == 1 and
		r["resources"]["memory_peak_bytes"] <= 64 << 20' &&
		grep -q 'memory limit was reached' "$tmp/said"
else
	told memory
fi
ok $? 'memory holds, or is told not to'
session python3 -c 'b = bytearray(10 ** 6)'
[ "$status" = 0 ] && json "$r" 'r["resources"]["oom_kills"] == 0'
ok $? 'a little is had'
forks='import os, sys, time
try:
    for i in range(int(sys.argv[1])):
        if not os.fork():
            time.sleep(100)
except BlockingIOError:
    print("stopped", i)'
policy '"pids": 16'
session python3 -c "$forks" 40
if has pids pids; then
	[ "$(cat "$tmp/printed")" = 'stopped 15' ] && holds pids &&
		json "$r" 'r["resources"]["pids_refused"] == 1'
else
	told pids
fi
ok $? 'pids holds, or is told not to'
session python3 -c "$forks" 10
[ "$status" = 0 ] && [ ! -s "$tmp/printed" ] &&
	json "$r" 'r["resources"]["pids_refused"] == 0'
ok $? 'a few are had'
spins='import time
while time.process_time() < 0.3:
    pass'
policy '"cpu": "10%"'
session python3 -c "$spins"
if has cpu cpu; then
	[ "$status" = 0 ] && holds cpu && json "$r" \
		'r["resources"]["throttled_us"] > 0 and
		r["resources"]["wall_ns"] > 10 ** 9'
else
	told cpu
fi
ok $? 'cpu holds, or is told not to'
policy ''
session python3 -c "$spins"
json "$r" 'r["resources"]["throttled_us"] == 0'
ok $? 'without it nobody waits'
policy '"io": "100M"'
session true
if has io io; then holds io; else told io; fi
ok $? 'io holds, or is told not to'
id=$(sed 's/.*"session":"\([0-9a-f]*\)".*/\1/' "$r")
[ ${#id} = 12 ] && [ -z "$(find /sys/fs/cgroup -name "$id" 2>/dev/null)" ]
ok $? 'no cgroup is left'

# A host with none of them, v1 or v2: never a silent nothing.
without_v1() {
	unshare -m sh -c 'mount --make-rprivate / && while read -r _ at type _
		do [ "$type" != cgroup ] || umount "$at" || exit 1
		done </proc/self/mounts; exec "$@"' sh "$@"
}
for limit in 'memory "64M"' 'swap 0' 'pids 16' 'cpu "50%"' 'io "1M"'; do
	name=${limit% *}
	controller=$name
	[ "$name" != swap ] || controller=memory
	policy "\"$name\": ${limit#* }"
	printf '{ "version": 1, "limits": { "%s": %s } }' "$name" \
		"${limit#* }" >"$tmp/hard.json"
	run without_v1 "$lh" --no-sandbox --policy "$tmp/p.json" --result \
		"$r" -- true
	if has $controller none; then
		holds "$name"
	else
		[ "$status" = 0 ] && told "$name"
	fi
	ok $? "limits.$name without a controller is told"
	run without_v1 "$lh" --policy "$tmp/hard.json" --result "$r" -- true
	if has $controller none; then
		json "$r" 'not r["refusal"] or r["refusal"]["mechanism"] ==
			"linux_bpf_lsm"'
	else
		[ "$status" = 125 ] && grep -q "limits.$name cannot be" \
			"$tmp/said" && json "$r" 'r["refusal"]["mechanism"] ==
			"linux_cgroup_'"$name"'"'
	fi
	ok $? "and refused under os_hardened"
done

done_testing
