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
		ls /tmp/it-ran /sys/fs/bpf/lh" </dev/null >"$d/out" 2>&1
	said '^status 125$' 'without bpf in lsm= nothing starts'
	said 'does not hold on this kernel' '... the proof found it'
	said 'lsm= list' '... and the remedy is named'
	! grep -q '^/tmp/it-ran' "$d/out"
	ok $? '... the command did not run'
	! grep -q '^[0-9]*-' "$d/out"
	ok $? '... and no engine is left that looks whole'

	"$vm" --kernel "$series" --timeout 300 -- bash -c "
		mkdir -p /run/lh /sys/fs/bpf/lh/1-0123456789ab &&
		bpftool map create /sys/fs/bpf/lh/1-0123456789ab/labels \
			type array key 4 value 4 entries 1 name old
		exec 9>/run/lh/use-1-0123456789ab && flock -s 9
		$B/lh-supervise --engine load; echo busy \$?
		ls /sys/fs/bpf/lh
		exec 9>&-
		$B/lh-supervise --engine load; echo idle \$?
		[ -e /sys/fs/bpf/lh/1-0123456789ab ] || echo replaced
		ls /sys/fs/bpf/lh | grep -c loading" </dev/null >"$d/out" 2>&1
	said '^busy 125$' 'an engine of another build in use is left alone'
	said 'engine 1-0123456789ab of another build is in use' \
		'... and named'
	said '^idle 0$' 'an idle one is replaced'
	said '^replaced$' '... and is gone'
	said '^0$' '... and nothing half loaded is left'
done
echo "1..$n"
