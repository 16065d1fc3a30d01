#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# core-check: the engine finds on the kernels what it names there; and what it
# would not find, or what core.table says falsely, is found to be so.
set -u
cd "$(dirname "$0")/../.." || exit 1

B=$(realpath "${B:-build}")
export B
export PATH=$PATH:/usr/sbin
# The engine's object is not built under the sanitizers.
object=$B/bpf/lh.bpf.o
[ -e "$object" ] || object=${B%/san}/bpf/lh.bpf.o
export LH_BPF_OBJECT=$object
check=tests/conformance/core-check
table=tests/conformance/core.table
series=${LH_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/lh-vm}/series
if [ "$(id -u)" != 0 ] && ! ls "$series/6.1" "$series/6.12" >/dev/null 2>&1
then
	echo '1..0 # SKIP needs root, to fetch kernels'
	exit
fi
d=$(mktemp -d) || exit 1
trap 'rm -rf "$d"' EXIT
n=0
failed=0

ok()
{
	n=$((n + 1))
	if [ "$1" = 0 ]; then
		echo "ok $n - $2"
	else
		echo "not ok $n - $2"
		sed 's/^/# /' "$d/out"
		failed=1
	fi
}

run()
{
	$check "$@" >"$d/out" 2>&1
	status=$?
}

# finds WHAT NAME: that, in one line of what was wrong.
finds()
{
	[ $status = 1 ] && grep -q -- "$1" "$d/out"
	ok $? "$2"
}

# rows NAME KERNEL SED: with a table that was altered so.
rows()
{
	sed "$3" "$table" >"$d/table"
	run --table "$d/table" "$2"
}

# lacks KERNEL NAME: with the kernel's BTF, but that one name in it.
lacks()
{
	objcopy -O binary -j .BTF "$series/$1/vmlinux" "$d/btf"
	perl -0pi -e "s/^\Q$2\E\0\$/'x' x length('$2') . \"\0\"/e" "$d/btf"
	run --btf "$d/btf" "$1"
}

run 6.1 6.12
[ $status = 0 ] && [ "$(wc -l <"$d/out")" = 2 ]
ok $? 'it finds all that it names, and a line for each kernel'
run
[ $status = 0 ]
ok $? '... and on all kernels that are here'

# A table that is false.
rows false 6.1 '$a field task_struct.tgid 6.1 with mount.mnt_instance'
finds 'not missing.* field task_struct.tgid' 'what is there is not missing'
rows unlisted 6.1 /^field.super_block___chain/d
finds '6.1: field super_block___chain.s_mounts: missing' \
	'what the table has not may not be missing'
rows guard 6.1 's/\(___chain.s_mounts.*\)without/\1with/'
finds 'mount.mnt_instance is there' 'a guard that does not stand is none'
rows guard 6.1 \
	's/\(___chain.s_mounts.*\) mount.mnt_in.*/\1 inet_bind_bucket.bhash2/'
finds 'does not ask for inet_bind_bucket.bhash2' \
	'... nor one that is asked elsewhere alone'
rows by 6.12 's/^\(program meta_setattr_2.*\) by .*/\1 by meta_setattr_2/'
finds 'meta_setattr_2 is not loaded' '... nor a program that is left out'
rows program 6.12 /^program.meta_setattr_2/d
finds 'program meta_setattr_2: missing' 'a program left out is in the table'
rows args 6.12 /^args.lsm.perf_event_open/d
finds 'args lsm/perf_event_open: has other arguments: int' \
	'so is a hook that has other arguments'
rows word 6.12 '$a field x 6.1 maybe'
[ $status = 2 ] && grep -q 'not a row: field x 6.1 maybe' "$d/out"
ok $? 'a row that is none is an error'

# A kernel that lacks more.
lacks 6.12 nothing_of_this_name
[ $status = 0 ]
ok $? 'the BTF alone will do'
lacks 6.12 udp_hslot
finds 'field udp_hslot.head.first: missing' 'a struct that is gone is missed'
lacks 6.12 mnt_mountpoint
finds 'field mount.mnt_mountpoint: missing' '... and a member'
lacks 6.12 bpf_lsm_path_mkdir
finds 'fs_path_mkdir: there is no hook lsm/path_mkdir' '... and a hook'
lacks 6.12 btf_trace_sched_process_exit
finds 'there is no hook tp_btf/sched_process_exit' '... and a trace point'
lacks 6.12 bpf_lsm_userns_create
finds 'program guard_userns_create: missing' '... and one that may be missing'
lacks 6.12 bpf_rdonly_cast
finds 'kfunc bpf_rdonly_cast: missing' '... and a kfunc'
perl -pe 's/\0mount_lock\0/\0mount_lick\0/g' <"$object" >"$d/object"
LH_BPF_OBJECT=$d/object run 6.12
finds 'symbol mount_lick: missing' '... and a symbol'
: >"$d/btf"
run --btf "$d/btf" 6.12
[ $status = 1 ] && [ "$(wc -l <"$d/out")" = 1 ]
ok $? 'what cannot be read is not well'
echo "1..$n"
exit $failed
