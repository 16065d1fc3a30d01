#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# --dry-run: what it says, in which order, for people and for machines; that it
# says no value, and that nothing is made by it.
set -u
# shellcheck source=tests/cli/tap.sh
. "$(dirname "$0")/tap.sh"

p=$tmp/p.json
mkdir "$tmp/ws/real" "$tmp/ws/keys"
ln -s real "$tmp/ws/link"
cat >"$p" <<JSON
{ "version": 1, "name": "mine",
  "workspace_roots": ["$tmp/ws"],
  "read_only_roots": ["$tmp/ws/link"],
  "process_sandbox": { "read_deny_roots": ["$tmp/ws/keys", "$tmp/ws/absent"] },
  "environment": { "set": { "SECRET": "hush" } },
  "limits": { "wall_time": "10m", "memory": "2G" } }
JSON

# at PATTERN: number of the first line that has it, or nothing.
at() {
	grep -n -- "$1" "$tmp/printed" | head -n 1 | cut -d: -f1
}

works 'a plan for people' "$lh" --policy "$p" --dry-run --rw "$tmp/out" -- true
[ "$(at '^policy       mine$')" = 1 ]
ok $? 'begins with the policy'
grep -q "^widened      extra write root: $tmp/out\$" "$tmp/printed"
ok $? 'names what the command line widens'
grep -q '^wall time    10m$' "$tmp/printed" &&
	grep -q '^memory       2G$' "$tmp/printed" &&
	grep -q '^level        process_exec$' "$tmp/printed" &&
	grep -q '^command      /.*/true$' "$tmp/printed"
ok $? 'names level, command and limits'
grep -q "^  rwxd----- $tmp/ws  (/workspace_roots/0)\$" "$tmp/printed" &&
	grep -q "^  rwxd----- $tmp/out  (flag:--rw" "$tmp/printed" &&
	grep -q "^  r-x-R---- $tmp/ws/link  (/read_only_roots/0)\$" \
		"$tmp/printed" &&
	grep -q "leads to $tmp/ws/real\$" "$tmp/printed" &&
	grep -q "^  ------D-- $tmp/ws/absent \\[absent\\]  (/process_sandbox/read_deny_roots/1)\$" \
		"$tmp/printed"
ok $? 'every root of the policy, with its rights and its rule'
roots=$(at '^roots') presets=$(at '^presets') shut=$(at '^credentials')
[ "$roots" -lt "$presets" ] && [ "$presets" -lt "$shut" ] &&
	! grep -qE '\.ssh|/dev/null' "$tmp/printed"
ok $? 'presets and credentials come after it, in short'
! grep -q hush "$tmp/printed" && grep -q '^environment.* SECRET' "$tmp/printed"
ok $? 'variables by name alone'
[ -z "$(ls -A "$tmp/out")" ] && [ ! -e "$tmp/ws/.lh-toolchain-cache" ]
ok $? 'and nothing is made'

cat >"$tmp/net.json" <<'END'
{ "version": 1, "side_effect_level": "network",
  "process_sandbox": { "allow_tcp_loopback": true, "loopback_ports": [5432],
    "publish_ports": ["3000-3009"], "bind_any": "loopback" },
  "egress": { "allow": ["192.0.2.7:443", "tcp/198.51.100.0/24"],
    "deny": ["198.51.100.9"] } }
END
works 'a plan with a network' "$lh" --policy "$tmp/net.json" --dry-run -- true
loop="TCP, within this session; ports of the host's: 5432"
also='open to the host: 3000-3009; a bind to any address is one to loopback'
out='refused but for 192.0.2.7:443, tcp/198.51.100.0/24; never 198.51.100.9'
grep -qx "loopback     $loop; $also" "$tmp/printed" &&
	grep -qx "egress       $out" "$tmp/printed"
ok $? 'says of the network what is open'
works 'one without' "$lh" --policy reader --dry-run -- true
grep -q '^loopback     none of its own$' "$tmp/printed" &&
	grep -q '^egress       none$' "$tmp/printed"
ok $? 'says that none is'

works 'with -v' "$lh" --policy "$p" --dry-run -v -- true
grep -q '/\.ssh  (builtin:credentials/\.ssh)$' "$tmp/printed" &&
	grep -q ' /dev/null \[itself\]  (preset:system_runtime//dev/null)$' \
		"$tmp/printed"
ok $? 'every place is listed'

works 'a plan for machines' "$lh" --policy "$p" --dry-run --json --rw \
	"$tmp/out" --allow-credential "$HOME/.ssh" -- true
python3 - "$tmp" <<'PY'
import json, sys
tmp = sys.argv[1]
lines = open(tmp + "/printed").read().splitlines()
assert len(lines) == 1
d = json.loads(lines[0])
assert d["schema"] == "lh.plan.v1"
assert d["policy"]["name"] == "mine" and len(d["policy"]["hash"]) == 64
assert d["policy"]["level"] == "process_exec" and d["policy"]["exec"]
assert d["limits"]["memory_bytes"] == 2 << 30
assert d["limits"]["wall_ns"] == 600 * 10**9
assert any(w.startswith("extra write root: " + tmp) for w in d["widened"])
assert any(w.startswith("credential: ") for w in d["widened"])
by = {r["rule"]: r for r in d["roots"] if not r["rule"].startswith("builtin")}
ws = by["/workspace_roots/0"]
assert ws["path"] == tmp + "/ws" and ws["exists"]
assert ws["rights"] == ["read", "write", "exec", "delete"]
assert by["/read_only_roots/0"]["leads_to"] == tmp + "/ws/real"
assert by["/process_sandbox/read_deny_roots/1"]["exists"] is False
assert by["/process_sandbox/read_deny_roots/0"]["rights"] == ["deny"]
rules = {r["rule"] for r in d["roots"]}
assert "builtin:credentials/.aws" in rules
assert "builtin:credentials/.ssh" not in rules
assert "SECRET" in d["environment"]["names"]
assert any(n["name"] == "hooks" for n in d["protected"])
assert d["resolved_policy"]["version"] == 1
assert isinstance(d["lacking_here"], list)
assert "hush" not in lines[0]
PY
ok $? 'is one object that has it all'

# What every user can see that this host lacks is said before it is needed.
if grep -qs bpf /sys/kernel/security/lsm; then
	skip 'what is missing here' 'nothing is'
else
	works 'a host without BPF LSM' "$lh" --dry-run -- true
	grep -q '^lacking here linux_bpf_lsm: ' "$tmp/printed"
	ok $? 'is told that it is one'
fi

esc=$(printf '\033[31m\nx')
cp /bin/true "$tmp/ws/$esc"
works 'a name that a terminal would obey' "$lh" --dry-run -- "./$esc"
! LC_ALL=C grep -q "$(printf '\033')" "$tmp/printed"
ok $? 'is escaped'

done_testing
