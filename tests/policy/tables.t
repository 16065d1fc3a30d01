#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Each tables/NAME.table over the files that NAME.setup makes, under NAME.json:
# `lh-policy test` finds what the table expects. In a guest tests/lsm/table_test
# asks the kernel the same.
set -u

here=$(cd "$(dirname "$0")" && pwd)
policy=$(realpath "${B:-build}")/lh-policy
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
unset SUDO_UID SUDO_GID
count=0
failed=0

ok() {
	count=$((count + 1))
	if [ "$1" = 0 ]; then
		echo "ok $count - $2"
	else
		echo "not ok $count - $2"
		sed 's/^/# /' "$tmp/said"
		failed=1
	fi
}

# world NAME: what NAME.setup makes, in $tmp/NAME.
world() {
	mkdir -p "$tmp/$1/home"
	(cd "$tmp/$1" && HOME=$tmp/$1/home TOOL=/bin/true \
		sh -eu "$here/tables/$1.setup") >"$tmp/said" 2>&1
}

# on NAME [OPTION...]: test NAME's table there.
on() {
	local name=$1
	shift
	"$policy" test "$here/tables/$name.json" "$here/tables/$name.table" \
		-C "$tmp/$name/ws" --home "$tmp/$name/home" --user u "$@" \
		>"$tmp/said" 2>&1
}

for table in "$here"/tables/*.table; do
	name=$(basename "$table" .table)
	world "$name" && on "$name"
	ok $? "$name"
done

# A row that expects something else is found, told, and counted.
sed 's/^read f	.*/read f refuse/' "$here/tables/basic.table" >"$tmp/wrong"
"$policy" test "$here/tables/basic.json" "$tmp/wrong" -C "$tmp/basic/ws" \
	--home "$tmp/basic/home" --user u >"$tmp/said" 2>&1
[ $? = 3 ] && grep -q 'wrong:2: expected refuse, but: allow read' "$tmp/said" &&
	grep -qE '^([0-9]+) of [0-9]+ rows as expected$' "$tmp/said"
ok $? "a verdict that is not expected"
sed 's,^read f	.*,read f allow default,' "$here/tables/basic.table" \
	>"$tmp/wrong"
"$policy" test "$here/tables/basic.json" "$tmp/wrong" -C "$tmp/basic/ws" \
	--home "$tmp/basic/home" --user u >"$tmp/said" 2>&1
[ $? = 3 ] && grep -q 'expected allow by default, but: allow' "$tmp/said"
ok $? "a rule that is not expected"
on basic --json && python3 -c 'import json, sys
r = json.load(open(sys.argv[1]))
rows = r["rows"]
assert r["failed"] == 0 and r["passed"] == len(rows) > 40
assert all(x["passed"] for x in rows)
assert rows[0]["verdict"] == "allow" and rows[0]["operation"] == "read"
' "$tmp/said"
ok $? "the same as JSON"
printf 'read f\n' >"$tmp/bad"
"$policy" test worktree "$tmp/bad" -C "$tmp/basic/ws" >"$tmp/said" 2>&1
[ $? = 1 ] && grep -q 'bad:1:6: .*allow or refuse is wanted' "$tmp/said"
ok $? "a row that is none"
"$policy" test worktree "$tmp/nothing" -C "$tmp/basic/ws" >"$tmp/said" 2>&1
[ $? = 1 ] && grep -q 'nothing: No such file' "$tmp/said"
ok $? "a table that is not there"
"$policy" test worktree - -C "$tmp/basic/ws" <"$here/tables/delete.table" \
	>"$tmp/said" 2>&1
[ $? = 3 ] && grep -q '^-:[0-9]*: expected ' "$tmp/said"
ok $? "a table from the standard input"

# explain, over the same files.
explains() {
	"$policy" explain "$here/tables/links.json" "$@" \
		-C "$tmp/links/ws" --home "$tmp/links/home" --user u \
		>"$tmp/said" 2>&1
}
explains write out/f
[ $? = 3 ] && grep -qx "  link    $tmp/links/ws/out -> ../outside" "$tmp/said" &&
	grep -qx "  object  $tmp/links/outside/f" "$tmp/said" &&
	grep -q "^  change  add .* or --rw $tmp/links/outside/f\$" "$tmp/said"
ok $? "the link that led there, and the change"
explains rename f out/x --json
[ $? = 3 ] && python3 -c 'import json, sys
r = json.load(open(sys.argv[1]))
assert r["verdict"] == "refuse" and r["decided_by"] == "other_path"
assert r["other_object"].endswith("/links/outside/x")
assert r["links"][0]["target"] == "../outside"
step, = r["change"]["steps"]
assert step["do"] == "add"
assert step["pointer"] == "/process_sandbox/write_roots"
assert step["value"].endswith("/links/outside")
assert step["flag"] == ["--rw", step["value"]]
' "$tmp/said"
ok $? "both names of a rename, as JSON"
explains read /proc/self/cwd/f
[ $? = 3 ] && grep -qx 'depends read' "$tmp/said"
ok $? "what only the session can tell"
explains connect 127.0.0.1:80
[ $? = 3 ] && grep -q 'no such socket is granted' "$tmp/said"
ok $? "a socket that no rule grants"
explains read f g
[ $? = 2 ] && grep -q 'read has one object' "$tmp/said"
ok $? "an object too many"

echo "1..$count"
exit $failed
