#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# examples.t [NAME...]: each policy of examples/ over a tiny world of its kind,
# inside a guest. examples/NAME is two parts, "setup" to a line "--", made by
# the user outside, and rows:
#   works COMMAND          ends with 0 in a session under the policy
#   refused RULE COMMAND   does not, and a record of it names the rule
# Each command works outside of a session, in a world that is the same.
set -u

# shellcheck source=tests/workloads/tap.sh
. "$(dirname "$0")/tap.sh"
here=$PWD/tests/workloads/examples
base=$(mktemp -d /tmp/examples.XXXXXX) || exit 1
chmod 755 "$base"
mkdir "$base/log"
chown lh-test: "$base/log"
home=/tmp/home-lh-test

# Not enforced by this build: nothing to run yet. check.t sees to it that this
# is so, and these get a world when it is not.
later=online-agent

as_user()
{
	(cd "$base/ws" && setpriv --reuid lh-test --regid lh-test --init-groups \
		env -i PATH="$PATH" HOME=$home TMPDIR=/tmp "$@") \
		>"$base/log/out" 2>&1 </dev/null
}

# The world of example $1, as it was.
world()
{
	rm -rf "$base/ws" $home
	mkdir -p "$base/ws" $home/.ssh
	echo key >$home/.ssh/id_ed25519
	chown -R lh-test: "$base/ws" $home
	as_user sh -euc "$(sed '/^--$/,$d' "$here/$1")"
}

# $1: policy; the rest: a command
session()
{
	rm -f "$base/log/d"
	(cd "$base/ws" && "$B/lh-supervise" --policy "$1" \
		--user lh-test --denials "$base/log/d" -- "${@:2}") \
		>"$base/log/out" 2>&1 </dev/null
	status=$?
	touch "$base/log/d"
	return $status
}

# $1: policy; $2: what; $3: rule or ""; the rest: the command
row()
{
	local policy=$1 what=$2 rule=$3 status
	shift 3
	session "$policy" "$@"
	status=$?
	case $what in
	works)
		[ $status = 0 ] ;;
	refused)
		# 125: it was not started at all
		[ $status != 0 ] && [ $status != 125 ] &&
			grep -qF "\"rule\":\"$rule\"" "$base/log/d" ;;
	esac
	result $? "$(basename "$policy"): $what $rule: $* (status $status)" \
		"$base/log/out" "$base/log/d"
}

rows()
{
	sed '1,/^--$/d; /^#/d; /^$/d' "$here/$1"
}

# each FUNCTION ARGUMENT NAME: the function on every row
each()
{
	local what rest rule
	while read -r what rest; do
		rule=
		if [ "$what" = refused ]; then
			rule=${rest%% *}
			rest=${rest#* }
		fi
		eval "set -- \"$1\" \"$2\" \"$3\" $rest"
		"$1" "$2" "$what" "$rule" "${@:4}"
	done < <(rows "$3")
}

outside()
{
	as_user "${@:4}"
	result $? "outside: ${*:4}" "$base/log/out"
}

one()
{
	world "$1" || { result 1 "the world of $1" "$base/log/out"; return; }
	each outside - "$1"
	world "$1"
	each row "$base/$1.json" "$1"
}

# A ceiling is no policy of its own: each session is under it. /etc is the
# machine's, so this is a copy, for as long as it takes.
under_ceiling()
{
	local etc=$base/etc

	mkdir -m 1777 /run/lh-examples
	world site-ceiling
	each outside - site-ceiling
	world site-ceiling
	mkdir "$etc" && cp -a /etc/. "$etc/" && mkdir -p "$etc/lh" &&
		cp examples/site-ceiling.json "$etc/lh/ceiling.json" &&
		chmod 644 "$etc/lh/ceiling.json" && mount --bind "$etc" /etc
	result $? "the ceiling is in place" /dev/null
	cat >"$base/wide.json" <<-'END'
		{ "version": 1, "process_sandbox": { "read_roots": ["/"],
		  "write_roots": ["~/other", "/run/lh-examples"] } }
	END
	each row "$base/wide.json" site-ceiling
	umount -l /etc
	rm -r /run/lh-examples
}

cp examples/*.json "$base/"
if [ $# -eq 0 ]; then
	for f in examples/*.json; do
		set -- "$@" "$(basename "$f" .json)"
	done
fi
for name; do
	[[ " $later " != *" $name "* ]] || continue
	case $name in
	site-ceiling) under_ceiling ;;
	*) one "$name" ;;
	esac
done
# A world without a policy, or rows without a world, would be no test.
for f in "$here"/*; do
	[ -f "examples/$(basename "$f").json" ]
	result $? "examples has $(basename "$f")" /dev/null
done
echo "1..$n"
rm -rf "$base"
