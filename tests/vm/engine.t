#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# What needs a boot of its own: a kernel that attaches LSM programs and never
# runs them, and engines of other builds, idle and in use. TAP; LH_KERNELS.
set -u

cd "$(dirname "$0")/../.." || exit 1
B=${B:-build}
case $B in /*) ;; *) B=$PWD/$B ;; esac
vm=tools/lh-vm
n=0
d=$(mktemp -d /var/tmp/engine.XXXXXX)
trap 'rm -rf "$d"' EXIT

ok()	# STATUS NAME: 0 passes
{
	n=$((n + 1))
	if [ "$1" = 0 ]; then
		echo "ok $n - $series: $2"
	else
		echo "not ok $n - $series: $2"
		sed 's/^/# /' "$d/out"
	fi
}

said()	# PATTERN NAME
{
	grep -q -e "$1" "$d/out"
	ok $? "$2"
}

for series in ${LH_KERNELS:-6.1 6.12}; do
	"$vm" --kernel "$series" --lsm landlock,lockdown,yama --timeout 300 -- \
		sh -c "cd /tmp && mkdir w && cd w &&
		$B/lh-supervise -- touch /tmp/it-ran; echo status \$?
		ls /tmp/it-ran /sys/fs/bpf/lh
		echo '{ \"version\": 1 }' >/tmp/hard.json
		for policy in worktree /tmp/hard.json; do
			LH_SANDBOX=warn $B/lh-supervise --policy \$policy \
				--result /tmp/r.json -- sh -c \
				'touch /tmp/so-ran; grep Seccomp: /proc/self/status'
			echo warn \$? && cat /tmp/r.json
		done
		$B/lh-doctor; echo doctor \$?" </dev/null >"$d/out" 2>&1
	said '^status 125$' 'without bpf in lsm= nothing starts'
	said 'does not hold on this kernel' '... the proof found it'
	said 'lsm= list' '... and the remedy is named'
	! grep -q '^/tmp/it-ran' "$d/out"
	ok $? '... the command did not run'
	! grep -q '^[0-9]*-' "$d/out"
	ok $? '... and no engine is left that looks whole'
	said '^warn 0$' 'LH_SANDBOX=warn goes on without it'
	said '^Seccomp:.2$' '... with the system call filter'
	said 'NOT ENFORCED: file rules, network rules, process rules' \
		'... and says what is missing'
	said '"confinement":"partial","decided_by":"LH_SANDBOX"' \
		'... and records it'
	said '^warn 125$' 'os_hardened does not'
	said '"mechanism":"linux_bpf_lsm","availability":"absent_on_host","profile":"os_hardened","requirement":"profile","selector_honored":false' \
		'... and says what it wants, by type'
	said '^missing  bpf_lsm ' 'lh-doctor says what is missing'
	said '[ =]lsm=[a-z,]*yama[a-z,]*,bpf\( \|$\)' \
		'... and with which list to boot'
	said '^os_hardened  *runs here: no, bpf_lsm is missing$' \
		'... and what does not run'
	said '^doctor 1$' '... and its status says so too'

	"$vm" --kernel "$series" --timeout 300 -- bash -c "
		mkdir -p /run/lh /sys/fs/bpf/lh/1-0123456789ab &&
		bpftool map create /sys/fs/bpf/lh/1-0123456789ab/labels \
			type array key 4 value 4 entries 1 name old
		exec 9>/run/lh/use-1-0123456789ab && flock -s 9
		$B/lh-supervise --engine load; echo busy \$?
		$B/lh-doctor; echo doctor \$?
		ls /sys/fs/bpf/lh /sys/fs/cgroup | grep -x -e '[0-9]-.*' -e lh
		exec 9>&-
		$B/lh-supervise --engine load; echo idle \$?
		[ -e /sys/fs/bpf/lh/1-0123456789ab ] || echo replaced
		ls /sys/fs/bpf/lh | grep -c loading" </dev/null >"$d/out" 2>&1
	said '^busy 125$' 'an engine of another build in use is left alone'
	said 'engine 1-0123456789ab of another build is in use' \
		'... and named'
	said '^missing  other_engine ' 'lh-doctor names it too'
	said '^ok       engine .*loads and attaches' \
		'... and tries ours all the same'
	! grep -qx "lh\|$("$B/lh-supervise" --engine status |
		sed 's/engine \([^:]*\):.*/\1/')" "$d/out"
	ok $? '... of which nothing stays'
	said '^idle 0$' 'an idle one is replaced'
	said '^replaced$' '... and is gone'
	said '^0$' '... and nothing half loaded is left'
done
echo "1..$n"
