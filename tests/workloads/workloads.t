#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# workloads.t: honest programs under the shipped policies, inside a guest. Each
# script runs outside and in a session, in the same place: the same status,
# words and tree must come of it, and no record but those it expects (twin.py).
# What stands above a line "#--" is done outside before each. WORKLOADS names
# scripts, such as "git more/*", else it is those beside this. Each says which
# policies it runs under, unless POLICIES does; "none" is a second run outside:
# a script does not differ by itself.
# --packages: Debian's that those of more/ need and this machine has not; they
# say so in lines "# needs: COMMAND PACKAGE".
set -u

# shellcheck source=tests/workloads/tap.sh
. "$(dirname "$0")/tap.sh"
here=tests/workloads
if [ "${1:-}" = --packages ]; then
	sed -n 's/^# needs: *//p' $here/more/*.sh | while read -r c p; do
		PATH=/usr/bin:/bin command -v "$c" >/dev/null || echo "$p"
	done
	exit
fi
base=$(mktemp -d /tmp/workloads.XXXXXX) || exit 1
# ext4, as people have it: before 6.6 a tmpfs has no attributes of users.
truncate -s 2G "$base.img"
mkfs.ext4 -q "$base.img" && mount -o loop "$base.img" "$base" || exit 1
rmdir "$base/lost+found"
chmod 755 "$base"
mkdir "$base/log" "$base/tmp" "$base/empty"
cp policy-compiler/policies/*.json $here/more/*.json "$base/"
touch "$base/log/out" "$base/log/err"
chown -R lh-test: "$base/log" "$base/tmp"
# shellcheck disable=SC2086 # patterns are for now
mapfile -t scripts < <(cd $here && printf '%s\n' ${WORKLOADS:-*.sh})
twin=$PWD/$here/twin.py

# $1: a script; as the user, in the workspace
as_user()
{
	(cd "$base/ws" && exec setpriv --reuid lh-test --regid lh-test \
		--init-groups env -i PATH="$PATH" HOME=/tmp/home-lh-test \
		USER=lh-test LOGNAME=lh-test TMPDIR="$base/tmp" \
		GIT_TEMPLATE_DIR="$base/empty" bash -eu "$1") </dev/null
}

# Workspace and home as they are before. Its times are of long ago.
workspace()
{
	tests/lsm/homes
	rm -rf "$base/ws"
	mkdir "$base/ws"
	chown lh-test: "$base/ws"
	as_user "$base/$1.before" >"$base/log/out" 2>&1 || return
	find "$base/ws" -exec touch -h -d @1000000000 {} +
}

# $1: name; $2: policy or none; $3: script. Leaves log/{out,d,tree}.
run()
{
	local since status script=$3 flags=()

	rm -f "$base"/log/{d,tree}
	workspace "$1" || return 199
	: >"$base/log/out"
	since=$(date +%s)
	if [ "$2" = none ]; then
		as_user "$base/$1.sh" >"$base/log/out" 2>&1
		status=$?
	else
		read -ra flags < <(sed -n 's/^# flags: *//p' "$script")
		"$B/lh-supervise" -q --policy "$base/$2.json" --user lh-test \
			-C "$base/ws" --ro "$base/$1.sh" "${flags[@]}" \
			--denials "$base/log/d" -- \
			bash -eu "$base/$1.sh" >"$base/log/out" 2>&1 </dev/null
		status=$?
	fi
	touch "$base/log/d"
	python3 "$twin" tree "$base/ws" $((since - 1)) "$script" \
		>"$base/log/tree"
	return $status
}

for script in "${scripts[@]}"; do
	script=$here/${script%.sh}.sh
	name=$(basename "$script" .sh)
	policies=${POLICIES:-$(sed -n 's/^# policies: *//p' "$script")}
	cases=$(sed -n 's/^# cases: *//p' "$script")
	# Lines stay where they are, for what bash says of them.
	if grep -q '^#--$' "$script"; then
		sed '/^#--$/,$d' "$script" >"$base/$name.before"
		sed '1,/^#--$/s/.*//' "$script" >"$base/$name.sh"
	else
		: >"$base/$name.before"
		cp "$script" "$base/$name.sh"
	fi

	run "$name" none "$script"
	status=$?
	result $status "$name outside of a session" "$base/log/out"
	cp "$base/log/out" "$base/log/out.twin"
	mv "$base/log/tree" "$base/log/tree.twin"

	for policy in ${policies:-worktree agent}; do
		run "$name" "$policy" "$script"
		in=$?
		{
			[ $in = $status ] || echo "status $in, outside $status"
			python3 "$twin" trees "$base"/log/tree{.twin,}
			python3 "$twin" words "$base"/log/out{.twin,} "$script"
			python3 "$twin" records "$base/log/d" "$script"
		} >"$base/log/err" 2>&1
		[ ! -s "$base/log/err" ]
		result $? "$name under $policy ${cases:+($cases)}" \
			"$base/log/err" "$base/log/out"
	done
done
echo "1..$n"
umount "$base"
rm -rf "$base" "$base.img"
