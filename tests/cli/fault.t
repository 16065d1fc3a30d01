#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Supervisor, keeper and the command's process are killed, fault or are stopped
# at each step of start and end: nothing ever runs unconfined, a result is whole
# or not there, and the next start sweeps what is left. On a host without the
# engine, what else confines a session; in a guest all, in fewer ways.
set -u

# With a registry of its own, that nobody else sweeps.
if [ "$(id -u)" = 0 ] && [ -z "${LH_APART:-}" ] && [ ! -d /run/lh-vm ]; then
	mkdir -p /run/lh
	LH_APART=1 exec unshare -m sh -c 'mount --make-rprivate / &&
		mount -t tmpfs -o mode=755 tmpfs /run/lh && exec "$0"' "$0"
fi
# shellcheck source=tests/cli/tap.sh
. "$(dirname "$0")/tap.sh"

needs_root
LH_SANDBOX=warn FAULT_UID=65534
how='--user nobody'
if [ -d /run/lh-vm ]; then
	FAULT_UID=4242
	how='--user lh-test'
fi
export LH_SANDBOX FAULT_UID
cp "$bin/tests/fault/lh-supervise" "$tmp/faulty" || exit 1
printf '{ "version": 1, "sandbox_profile": "worktree", "limits":
	{ "wall_time": "60s" }, "process_sandbox": { "read_deny_roots":
	["%s/ws/denied"] } }' "$tmp" >"$tmp/p.json"
echo secret >"$tmp/ws/denied"
chmod 644 "$tmp/ws/denied"

case_() {
	# shellcheck disable=SC2086
	run timeout 1200 python3 "$top/tests/cli/fault-cases.py" "$1" \
		"$tmp/faulty" "$tmp" $how --policy "$tmp/p.json"
	[ "$status" = 0 ] && [ "$(tail -n 1 "$tmp/printed")" = works ]
	ok $? "$2"
}
case_ supervisor_killed 'the supervisor is killed, at each step'
case_ keeper_killed 'the keeper is'
case_ command_killed "the command's process is"
if [ ! -d /run/lh-vm ]; then
	case_ supervisor_faults 'the supervisor faults'
	case_ supervisor_stopped 'it is stopped, and goes on'
	case_ keeper_faults 'the keeper faults'
	case_ keeper_stopped 'it is stopped'
fi
case_ both_killed 'both are killed'
done_testing
