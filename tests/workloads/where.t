#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# where.t: from where a session is started, inside a guest: by cron, which gives
# no terminal and next to no environment; in the scope that a service manager
# made; in a container, with cgroups, processes, mounts and an engine of its own.
# Limits hold there, or are refused or told by name.
set -u

# shellcheck source=tests/workloads/tap.sh
. "$(dirname "$0")/tap.sh"
base=$(mktemp -d /var/tmp/where.XXXXXX) || exit 1
chmod 755 "$base"
mkdir "$base/ws" "$base/log" "$base/run" "$base/bpf"
chown lh-test "$base/ws" "$base/log"
mount -t bpf bpf "$base/bpf"
cgroups=/sys/fs/cgroup
r=$base/log/r.json
out=$base/log/out
for profile in worktree os_hardened; do
	printf '{ "version": 1, "sandbox_profile": "%s", "process_sandbox":
		{ "allow_loopback": true },
		"limits": { "memory": "64M", "pids": 64 } }' $profile \
		>"$base/$profile.json"
done
cat >"$base/ws/try" <<'END'
#!/bin/sh
ls /var/tmp && exit 1
id -un
exec python3 -c 'import socket
s = socket.socket()
s.bind(("127.0.0.1", 0))
s.listen()
socket.create_connection(s.getsockname())'
END
chmod 755 "$base/ws/try"
lh="$B/lh-supervise --user lh-test -C $base/ws --result $r"

# is EXPRESSION: true of the result, r.
is()
{
	python3 -c 'import json, sys
r = json.load(open(sys.argv[1]))
sys.exit(not eval(sys.argv[2]))' "$r" "$1"
}

# tried WHAT: the last session was confined, and did its work.
tried()
{
	local status=$?
	[ $status = 0 ] && grep -qx lh-test "$out" && is 'r["sandbox"][
		"confinement"] == "full" and r["denials"]["total"] > 0'
	result $? "$1" "$out"
}

# --- cron
cd / || exit 1
env -i SHELL=/bin/sh HOME=/root LOGNAME=root PATH=/usr/bin:/bin \
	setsid sh -c "$lh -- ./try" >"$out" 2>&1 </dev/null
tried "with what cron gives"
env -i $lh -- ./try >"$out" 2>&1 </dev/null
tried "with no environment at all"

# --- a scope
for c in memory pids cpu io; do
	echo +$c >$cgroups/cgroup.subtree_control
done
mkdir -p $cgroups/where.slice/a.scope $cgroups/where.slice/box/init
# in GROUP COMMAND: by a shell that is in it.
in_group()
{
	sh -c 'echo $$ >"$0/cgroup.procs" && exec "$@"' \
		"$cgroups/where.slice/$1" "${@:2}"
}
in_group a.scope $lh --policy "$base/os_hardened.json" -- ./try >"$out" 2>&1
tried "in a scope that somebody else made"
in_group a.scope $lh --policy "$base/os_hardened.json" -- \
	python3 -c 'b = bytearray(10 ** 9)' >"$out" 2>&1
is 'r["status"] == "oom" and not r["not_enforced"]'
result $? "its limits hold" "$out"

# --- a container
# contained GROUP OPTIONS COMMAND: with the group as the top of its cgroups.
contained()
{
	local group=$1 options=$2
	shift 2
	in_group "$group" unshare -C -m -p -f --mount-proc sh -c '
		mount --make-rprivate / && umount /sys/fs/cgroup &&
		mount -t cgroup2 $0 none /sys/fs/cgroup &&
		mount --bind "$1/bpf" /sys/fs/bpf &&
		mount --bind "$1/run" /run/lh && shift && exec "$@"' "$options" "$base" "$@" >"$out" 2>&1
}
contained box '' $lh -- ./try
tried "in a container that was given no controller"
is 'r["not_enforced"] == ["limits.pids"]'
result $? "it lacks the limit of processes, and says so" "$r"
for c in memory pids; do
	echo +$c >$cgroups/where.slice/cgroup.subtree_control
done
contained box '' $lh --policy "$base/os_hardened.json" -- ./try
[ $? = 125 ] && grep -q 'limits.memory.*processes at the top of cgroup' "$out"
result $? "one whose processes are at the top: os_hardened refuses" "$out"
contained box '' $lh --policy "$base/worktree.json" -- ./try
tried "where less will do it goes on"
[ "$(grep -c '^lh-supervise: not enforced: limits' "$out")" = 2 ] &&
	is 'r["not_enforced"] == ["limits.memory", "limits.pids"]'
result $? "and names what does not hold" "$out"
in_group box/init unshare -m -p -f --mount-proc sh -c '
	mount --make-rprivate / && mount --bind "$0" /sys/fs/cgroup &&
	mount --bind "$1/bpf" /sys/fs/bpf && mount --bind "$1/run" /run/lh &&
	shift && exec "$@"' $cgroups/where.slice/box "$base" \
	$lh --policy "$base/os_hardened.json" -- \
	python3 -c 'b = bytearray(10 ** 9)' >"$out" 2>&1
is 'r["status"] == "oom" and not r["not_enforced"]'
result $? "one whose processes are further below: limits hold" "$out"
contained box/init '-o ro' $lh -- ./try
[ $? = 125 ] && grep -q 'Read-only.*\|container must be given' "$out"
result $? "one with cgroups that it cannot write to is refused" "$out"
mount -o remount,rw none $cgroups
$lh -- ./try >"$out" 2>&1
tried "the host goes on"
[ -z "$(find $cgroups -path '*/lh/*' -type d)" ]
result $? "and no cgroup is left"
rmdir $cgroups/where.slice/box/lh $cgroups/where.slice/box/init \
	$cgroups/where.slice/box $cgroups/where.slice/a.scope \
	$cgroups/where.slice && umount "$base/bpf" && rm -r "$base"
result $? "nor anything that holds one"
echo "1..$n"
