#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# lh-vm.t - lh-vm: streams, status, surroundings, and what a guest may write
#
# Runs on the host, for each series in LH_KERNELS (6.12 and 6.1).

top=$(cd "$(dirname "$0")/../.." && pwd -P)
vm=$top/tools/lh-vm
kernels=${LH_KERNELS:-6.12 6.1}
stray=$top/lh-vm.t.$$

skip_all()
{
	echo "1..0 # SKIP $*"
	exit 0
}

[ "$(id -u)" -eq 0 ] || skip_all "needs root"
missing=$("$vm" --list 2>&1 >/dev/null) || skip_all "$missing"

d=$(mktemp -d) || exit
trap 'rm -rf "$d" "$stray"' EXIT
trap 'exit 1' HUP INT TERM

n=0
# is NAME GOT WANTED
is()
{
	n=$((n + 1))
	if [ "$2" = "$3" ]; then
		echo "ok $n - $series: $1"
		return
	fi
	echo "not ok $n - $series: $1"
	echo "#    got: $2" | head -c 500 | tr '\n' ' '
	echo
	echo "# wanted: $3"
}

# fact NAME: what the guest found, a line "NAME value".
fact()
{
	sed -n "s/^$1 //p" "$d/out"
}

# errors FILE: what is on standard error beside progress.
errors()
{
	grep -v '^lh-vm: \(booting\|fetching\|reading\)' "$1"
}

cat >"$d/inside" <<END
echo kernel \$(uname -r)
echo pwd \$(pwd -P)
echo args "\$#:\$1:\$2"
echo home "\$HOME"
echo named "\$LH_VM_T" "\${LH_VM_U-unset}"
echo input \$(wc -c)
echo to-stderr >&2
echo allowed >"$d/rw/new"; echo rw \$?
mv "$d/rw/old" "$d/rw/moved"; echo mv \$?
(echo refused >"$stray") 2>/dev/null; echo root \$?
(echo refused >"$d/closed/new") 2>/dev/null; echo closed \$?
mount -o remount,rw / 2>/dev/null
mkdir /run/again && mount -t virtiofs root /run/again
(echo refused >"/run/again$stray") 2>/dev/null; echo again \$?
(echo refused >"/run/again$d/closed/new") 2>/dev/null; echo again2 \$?
for i in /tmp /run /var/tmp /var/log /dev/shm; do
	echo scratch >\$i/lh-vm.t.$$ || echo unwritable \$i
done
echo cgroup \$(stat -fc %T /sys/fs/cgroup)
echo controllers \$(tr ' ' '\n' </sys/fs/cgroup/cgroup.subtree_control | sort)
echo bpffs \$(stat -fc %T /sys/fs/bpf)
echo lsm \$(tr , '\n' </sys/kernel/security/lsm | grep -x bpf)
echo lo \$(ip -br addr show lo | grep -o 127.0.0.1)
echo fds \$(ls /proc/self/fd | tr -d '\n')
echo reopen-out >/dev/stdout
echo module \$(mkdir /run/o && mount -t overlay -o lowerdir=/etc:/usr o /run/o &&
	stat -fc %T /run/o)
exit 7
END

for series in $kernels; do
	rm -rf "$d/rw" "$d/closed"
	mkdir "$d/rw" "$d/rw/a b" "$d/closed"
	echo old >"$d/rw/old"
	cp "$d/inside" "$d/rw/inside"
	(cd "$d/rw/a b" && LH_VM_T="it's" LH_VM_U=no "$vm" --kernel "$series" \
		--rw "$d/rw" --rw "$d/rw/a b" --env LH_VM_T --timeout 300 -- \
		sh "$d/rw/inside" 'a  b' "c'd" </dev/null >"$d/out" 2>"$d/err")
	is 'the exit status is passed through' $? 7
	case $(fact kernel) in
	"$series".*)	is 'the kernel is of the series' ok ok ;;
	*)		is 'the kernel is of the series' "$(fact kernel)" "$series" ;;
	esac
	is 'the working directory is kept' "$(fact pwd)" "$d/rw/a b"
	is 'arguments keep their bytes' "$(fact args)" "2:a  b:c'd"
	is 'HOME is passed' "$(fact home)" "$HOME"
	is '--env passes what it names, alone' "$(fact named)" "it's unset"
	is 'an empty input ends' "$(fact input)" 0
	is 'standard error is apart' "$(errors "$d/err")" to-stderr
	is 'a --rw directory is written to' "$(fact rw)$(cat "$d/rw/new")" 0allowed
	is '... and renamed in' "$(fact mv)$(cat "$d/rw/moved")" 0old
	is 'the root is not' "$(fact root)" 2
	is '... nor a directory beside' "$(fact closed)" 2
	is '... nor when mounted again, writable' "$(fact again) $(fact again2)" '2 2'
	is '... and nothing came through' \
		"$(ls "$stray" "$d/closed" "/tmp/lh-vm.t.$$" 2>/dev/null)" \
		"$d/closed:"
	is 'scratch directories are writable' "$(fact unwritable)" ''
	is 'control groups are version 2' "$(fact cgroup)" cgroup2fs
	is 'controllers are enabled' "$(fact controllers)" 'cpu io memory pids'
	is 'bpffs is mounted' "$(fact bpffs)" bpf_fs
	is 'bpf is among the active LSMs' "$(fact lsm)" bpf
	is 'the loopback device is up' "$(fact lo)" 127.0.0.1
	is 'the command has its three files open, and no more' "$(fact fds)" 0123
	is '/dev/stdout can be opened again' "$(grep -c '^reopen-out' "$d/out")" 1
	is 'the kernel finds its modules' "$(fact module)" overlayfs

	head -c 4000000 /dev/urandom >"$d/bin"
	# shellcheck disable=SC2016,SC2002 # for the guest; a pipe is the point
	cat "$d/bin" | "$vm" --kernel "$series" --timeout 300 -- \
		sh -c 'cat; kill -TERM $$' >"$d/out" 2>"$d/err"
	is 'death by signal n is 128+n' $? 143
	is 'binary data survives both ways' \
		"$(cksum <"$d/out")" "$(cksum <"$d/bin")"

	"$vm" --kernel "$series" --timeout 300 -- sh -c 'echo one; echo two >&2
		sleep 1000 & echo three' <&- >"$d/out" 2>&1
	is 'what is left behind does not delay the end' $? 0
	is 'two streams into one file keep their order' \
		"$(errors "$d/out" | tr '\n' ' ')" 'one two three '

	"$vm" --kernel "$series" --timeout 15 -- sleep 1000 </dev/null \
		>"$d/out" 2>"$d/err"
	is 'a timeout is 125' $? 125
	is '... and says so' "$(grep -c 'timeout after 15 s' "$d/err")" 1

	# The panic waits for a word, given when the first line has come out.
	: >"$d/out"
	{
		until grep -q before "$d/out"; do sleep 0.1; done
		echo go
	} | timeout 300 "$vm" --kernel "$series" --timeout 300 \
		--console "$d/log" -- sh -c 'echo before; read -r _
		echo c >/proc/sysrq-trigger' >"$d/out" 2>"$d/err"
	is 'a panic is 125' $? 125
	is '... shows its reason' \
		"$(grep -c '^lh-vm: Kernel panic' "$d/err")" 1
	is '... names the log' "$(grep -c "$d/log" "$d/err")" 1
	is '... and what came before was passed on' "$(cat "$d/out")" before
done

series=any
"$vm" --kernel 6.5 -- true >"$d/out" 2>"$d/err"
is 'a series that nobody has is refused by name' \
	"$?$(grep -o 'no kernel 6.5' "$d/err")" '125no kernel 6.5'
echo "1..$n"
