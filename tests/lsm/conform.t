#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# The conformance rows hold here, and a row that is false is found to be so.
set -u

# shellcheck source=tests/workloads/tap.sh
. "$(dirname "$0")/../workloads/tap.sh"
tmp=$(mktemp -d /tmp/conform.XXXXXX)
trap 'rm -rf "$tmp"' EXIT
ip link set lo up
export B CONFORM_USER=lh-test

for rows in tests/conformance/*.rows; do
	"$B/tests/conformance/conform" "$rows" >"$tmp/out" 2>"$tmp/said"
	status=$?
	grep -v '"conforms"' "$tmp/out" >"$tmp/why"
	result $status "${rows##*/}" "$tmp/why" "$tmp/said"
	[ -s "$tmp/out" ]
	result $? 'it has rows'
done

cat >"$tmp/false.rows" <<'END'
policy
{ "version": 1, "sandbox_profile": "os_hardened",
  "side_effect_level": "process_exec", "workspace_roots": ["@W@/ws"],
  "process_sandbox": { "presets": ["system_runtime"] } }
end
group false
row escaped: what is granted is refused
	in refused open file r
row overrefused: what is not granted works
	in works open $W/outside/file r
row contradiction: a refusal has another record
	in refused:rename open $W/outside/file r
row not_measured: what is not there is refused
	in refused open nothing r
row not_applicable: a kernel of the future
	needs kernel 99.0
	in refused open file r
row conforms: a truth among them
	in refused:open open $W/outside/file r
	in works open file r
END
"$B/tests/conformance/conform" "$tmp/false.rows" >"$tmp/out" 2>"$tmp/said"
[ $? = 1 ]
result $? 'false rows fail' "$tmp/said"
python3 - "$tmp/out" <<'END'
import json
import sys
rows = [json.loads(line) for line in open(sys.argv[1], encoding="utf-8")]
wrong = [r for r in rows if r["row"] != r["verdict"]]
for r in wrong:
    print("#", r)
sys.exit(len(rows) != 6 or bool(wrong))
END
result $? 'each with the verdict that it deserves'
echo "in works open x r" >"$tmp/bad.rows"
"$B/tests/conformance/conform" "$tmp/bad.rows" >"$tmp/out" 2>"$tmp/said"
[ $? = 2 ] && grep -q 'bad.rows:1: a step before any row' "$tmp/said"
result $? 'what makes no sense is said with its place'
echo "1..$n"
