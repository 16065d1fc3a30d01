#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# workloads.t [NAME...]: honest programs under the shipped policies, inside a guest. Each
# NAME.sh must end with 0 in a session, without a refusal that anybody would
# call an alert, and leave the workspace as the same script does outside.
set -u

B=${B:-build}
cd "$(dirname "$0")/../.." || exit 1
here=tests/workloads
base=$(mktemp -d /tmp/workloads.XXXXXX) || exit 1
chmod 755 "$base"
mkdir "$base/log"
cp policy-compiler/policies/*.json "$base/"
cp $here/*.sh "$base/"
touch "$base/log/out"
chown -R lh-test: "$base/log"

n=0
# $1: did it go well; $2: what; the rest: said when it did not
result()
{
	n=$((n + 1))
	if [ "$1" = 0 ]; then
		echo "ok $n - $2"
	else
		echo "not ok $n - $2"
		sed 's/^/# /' "${@:3}"
	fi
}

workspace()
{
	rm -rf "$base/ws"
	mkdir "$base/ws"
	chown lh-test: "$base/ws"
}

scripts=("$here"/*.sh)
[ $# -eq 0 ] || scripts=("${@/%/.sh}")
policies=(worktree agent)
echo "1..$((${#scripts[@]} * (1 + ${#policies[@]})))"
for script in "${scripts[@]}"; do
	name=$(basename "$script" .sh)

	workspace
	(cd "$base/ws" && setpriv --reuid lh-test --regid lh-test \
		--init-groups env -i PATH="$PATH" HOME=/tmp/home-lh-test \
		TMPDIR=/tmp bash -eu "$base/$name.sh") >"$base/log/out" 2>&1 \
		</dev/null
	result $? "$name outside of a session" "$base/log/out"

	for policy in "${policies[@]}"; do
		workspace
		rm -f "$base/log/d" "$base/log/r"
		"$B/lh-supervise" --policy "$base/$policy.json" --user lh-test \
			-C "$base/ws" --ro "$base/$name.sh" \
			--denials "$base/log/d" --result "$base/log/r" -- \
			bash -eu "$base/$name.sh" >"$base/log/out" 2>&1 \
			</dev/null
		status=$?
		touch "$base/log/d"
		[ $status -eq 0 ] && python3 -c 'import json, sys
sys.exit(json.load(open(sys.argv[1]))["security_alert"])' "$base/log/r"
		result $? "$name under $policy (status $status)" \
			"$base/log/out" "$base/log/d"
	done
done
rm -rf "$base"
