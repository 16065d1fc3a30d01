#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# roots.t: roots, and what leads to them inside a writable root, stay where they
# are; work beside them goes on. Inside a guest, as a user and as root.
set -u

# shellcheck source=tests/workloads/tap.sh
. "$(dirname "$0")/tap.sh"
tool=$PWD/tests/workloads/roots.py
base=$(mktemp -d /tmp/roots.XXXXXX) || exit 1
chmod 755 "$base"
mkdir "$base/log"
cp "$tool" "$base/roots.py"

# The root that is a pipe keeps nobody waiting: nothing ever writes to it.
cat >"$base/policy.json" <<END
{ "version": 1, "name": "roots", "workspace_roots": ["$base/top/ws"],
  "read_only_roots": ["$base/top/ws/up/mid/ro", "$base/top/ws/up/mid/ro-empty",
    "$base/top/ws/up/mid/ro-file", "$base/top/ws/newrepo/.git"],
  "process_sandbox": {
    "read_roots": ["$base/roots.py", "$base/top/root-fifo"],
    "write_roots": ["$base/top/ws/up/mid/ro/out"],
    "read_deny_roots": ["$base/top/ws/up/mid/deny",
      "$base/top/ws/up/mid/deny-empty", "$base/top/ws/secret",
      "$base/top/ws/late/secret"] } }
END

session()
{
	(cd "$base/top/ws" && timeout 300 "$B/lh-supervise" -q \
		--policy "$base/policy.json" --user "$user" -C "$base/top/ws" \
		--denials "$base/log/d" -- python3 "$base/roots.py" "$1") \
		>"$base/log/out" 2>&1 </dev/null
}

for user in lh-test root; do
	rm -rf "$base/top" "$base/log"
	mkdir -m 755 "$base/top" "$base/log"
	chmod 777 "$base"	# each of its worlds is made anew in it
	chown "$user": "$base/top" "$base/log"
	setpriv --reuid "$user" --regid "$user" --init-groups \
		python3 "$tool" outside "$base/top" >"$base/log/out" 2>&1
	result $? "$user: outside of a session each works" "$base/log/out"
	chmod 755 "$base"
	session refused
	result $? "$user: roots and what leads to them stay" "$base/log/out"
	want=$(python3 "$tool" count)
	have=$(grep -c '"errno":"EACCES"' "$base/log/d")
	[ "$have" -ge "$want" ]
	result $? "$user: each is recorded ($have of $want)" "$base/log/d"
	rm -f "$base/log/d"
	session beside
	result $? "$user: work beside them goes on" "$base/log/out"
done
echo "1..$n"
rm -rf "$base"
