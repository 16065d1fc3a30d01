#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# lh-conform: its options, and what it says of a host that cannot enforce. What
# rows are found to be is tried in guests (tests/lsm/conform.t).
set -u

# shellcheck source=tests/cli/tap.sh
. "$(dirname "$0")/tap.sh"

needs_root
conform=$top/tools/lh-conform
B=$bin
export B
run "$conform" --list
[ "$status" = 0 ] && grep -q '^files/workspace: ' "$tmp/printed"
ok $? 'it lists its rows'
[ "$(wc -l <"$tmp/printed")" = "$(cat "$top"/tests/conformance/*.rows |
	grep -c '^row ')" ]
ok $? 'all of them'
run "$conform" --list --group unix
[ "$status" = 0 ] && ! grep -qv '^unix/' "$tmp/printed"
ok $? 'or those of a group'
run "$conform" --group nothing --host
[ "$status" = 2 ] && grep -q 'no such group: nothing; there are .*unix' \
	"$tmp/said"
ok $? 'a group that is none is refused, with those that are'
run "$conform" --foo
[ "$status" = 2 ] && grep -q -- '--foo' "$tmp/said"
ok $? 'so is an unknown option'
run env B="$tmp" "$conform" --host
[ "$status" = 2 ] && grep -q 'make tests' "$tmp/said"
ok $? 'without its runner it says how that is made'
"$conform" --help >"$tmp/printed" 2>"$tmp/said"
grep -o '^ *--[a-z]*' "$tmp/printed" | tr -d ' ' | sort -u >"$tmp/has"
sed -n 's/^\.It Fl -\([a-z]*\).*/--\1/p' "$top/tools/lh-conform.1" |
	sort -u >"$tmp/told"
diff "$tmp/has" "$tmp/told" >"$tmp/said"
ok $? 'the manual has its options'

# Of a host without the engine's hooks nothing is claimed.
run "$conform" --host --group unix --json --junit "$tmp/junit.xml"
python3 - "$tmp/printed" "$tmp/junit.xml" "$status" <<'END'
import json
import sys
import xml.etree.ElementTree as ET
cells = json.load(open(sys.argv[1], encoding="utf-8"))["kernels"]["host"]
cases = ET.parse(sys.argv[2]).getroot().findall("testsuite/testcase")
assert cells and len(cases) == len(cells)
if sys.argv[3] == "0":
    assert all(c["verdict"] == "conforms" for c in cells.values())
    assert all(c.find("failure") is None for c in cases)
else:
    assert all(c["verdict"] == "not_measured" and
               "lh-supervise: " in c["why"] for c in cells.values())
    assert all(c.find("failure").get("type") == "not_measured" for c in cases)
END
ok $? 'what cannot be enforced is not measured, with the reason'
done_testing
