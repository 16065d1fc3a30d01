#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# lh-policy show, intersect and diff from outside: what they print is a policy
# again, or the differences, and their status says which.
set -u

top=$(cd "$(dirname "$0")/../.." && pwd)
policy=${B:-build}/lh-policy
case $policy in /*) ;; *) policy=$top/$policy ;; esac
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
count=0
failed=0

ok() {
	count=$((count + 1))
	if [ "$1" = 0 ]; then
		echo "ok $count - $2"
	else
		echo "not ok $count - $2"
		sed 's/^/# /' "$tmp/out" "$tmp/err" 2>/dev/null
		failed=1
	fi
}

# run STATUS COMMAND...: for a user that no machine has.
run() {
	want=$1
	shift
	timeout 20 "$policy" "$@" -C "$tmp/w" --home /home/u --user u \
		>"$tmp/out" 2>"$tmp/err" </dev/null
	[ $? = "$want" ]
}

# says LINE...: each stands in the output, as a whole line.
says() {
	for line in "$@"; do
		grep -qxF -- "$line" "$tmp/out" || return 1
	done
}

echo "TAP version 13"
mkdir "$tmp/w" "$tmp/real"
ln -s real "$tmp/link"
cd "$tmp" || exit 1

cat >all.json <<-'END'
	{ "version": 1, "name": "all", "side_effect_level": "network",
	  "process_sandbox": { "allow_loopback": true,
	    "loopback_ports": [5432, "8000-8010"], "ptrace": true,
	    "unix_socket_roots": ["/run/x"] }, "mode": "report",
	  "egress": { "allow": ["tcp/[2001:db8::/32]:443", "10.0.0.0/8"] },
	  "limits": { "cpu": "200%", "idle_time": "2m" } }
END
run 1 check all.json && grep -q 'error: .*not enforceable' err
ok $? "what is not enforced yet is an error of check"
run 0 show all.json && says '      "tcp/[2001:db8::/32]:443",' \
	'      "8000-8010"' '    "cpu": "200%"' &&
	grep -q 'warning: .*not enforceable' err
ok $? "and shown, with a warning"
cp out shown.json
run 0 show shown.json && cmp -s out shown.json
ok $? "show of what show printed is the same"
run 0 show all.json -o o.json && cmp -s o.json shown.json && [ ! -s out ]
ok $? "show -o writes a file"

cat >short.json <<-'END'
	{ "policy": { "read": ["/data/**"], "write": ["."], "exec": ["*"],
	  "net": ["192.0.2.7:443", "loopback"] } }
END
run 0 show short.json && says '  "side_effect_level": "network",' \
	'      "/data"' "    \"$tmp\"" '      "192.0.2.7:443"' \
	'    "allow_loopback": true,'
ok $? "show prints what the short form lowers to"
printf '{ "policy": { "read": ["/d"] }, "workspace_roots": ["."] }' >two.json
run 1 check two.json && grep -q 'one form or the other' err
ok $? "both forms at once are an error"
printf '{ "policy": { "exec": ["/bin/ls"] } }' >two.json
run 1 check two.json && grep -q 'single programs' err
ok $? "a single program in exec is an error, not a wider grant"
printf '{ "policy": {} }' >none.json
run 0 show none.json && says '  "side_effect_level": "none",' &&
	run 3 explain none.json write "$tmp/w/x"
ok $? "the short form grants what it lists and no more"

cat >links.json <<-'END'
	{ "version": 1, "workspace_roots": ["link", "?link/absent"],
	  "process_sandbox": { "read_deny_roots": ["link/secret"] } }
END
run 0 show --resolved links.json && says "    \"$tmp/real\"," \
	"    \"?$tmp/real/absent\"" "      \"$tmp/link/secret\"," \
	"      \"$tmp/real/secret\""
ok $? "show --resolved follows links; a deny holds for both names"
run 0 show links.json && says "    \"$tmp/link\","
ok $? "show alone does not"
run 0 show --source agent &&
	cmp -s out "$top/policy-compiler/policies/agent.json"
ok $? "show --source prints a shipped policy as it is"
run 0 compile agent -o a.image && run 0 show --source a.image &&
	mv out a && run 0 show a.image && cmp -s out a
ok $? "show --source of an image is what it holds"
run 2 show --source --resolved agent
ok $? "--source and --resolved at once are wrong usage"

cat >tight.json <<-'END'
	{ "version": 1, "workspace_roots": ["w"],
	  "process_sandbox": { "read_roots": ["/data"],
	    "read_deny_roots": ["w/keys"] }, "limits": { "pids": 9 } }
END
cat >wide.json <<-'END'
	{ "version": 1, "workspace_roots": [".", "/srv"],
	  "process_sandbox": { "read_deny_roots": ["w/more"],
	    "ptrace": true } }
END
run 0 intersect wide.json tight.json && says "    \"$tmp/w\"" \
	"      \"$tmp/w/keys\"," "      \"?$tmp/w/more\"" '    "pids": 9' \
	'    "ptrace": true' && ! grep -q srv out && ! grep -q data out
ok $? "an inner policy is narrowed; denies unite; tracing is the outer's"
run 0 intersect tight.json wide.json && ! grep -q srv out &&
	says '    "ptrace": false'
ok $? "and brings no tracing in"
run 0 intersect tight.json wide.json -o i.json && run 0 show i.json -o j.json &&
	cmp -s i.json j.json
ok $? "what intersect prints is a policy"
run 1 intersect tight.json none-such && grep -q none-such err
ok $? "intersect with a policy that is not there"
run 2 intersect tight.json
ok $? "intersect of one policy is wrong usage"

run 0 diff tight.json tight.json && [ ! -s out ]
ok $? "no difference: nothing printed, status 0"
run 3 diff tight.json wide.json &&
	says "opens  read,write,remove,exec /srv  (/workspace_roots/1)" \
	"closes read,exec /data  (default)" "opens  process ptrace" \
	"opens  limits.pids 4096, was 9"
ok $? "diff says what opens and what closes"
run 3 diff tight.json wide.json --json && python3 -c '
import json, sys
d = json.load(open("out"))
assert {"change": "opens", "what": "process", "object": "ptrace",
	"itself": False, "rule": ""} in d, d' 2>err
ok $? "diff --json"
run 3 diff tight.json all.json && says 'opens  egress.allow 10.0.0.0/8' \
	'opens  loopback_ports 8000-8010'
ok $? "diff looks at what is not enforced yet too"
printf '{ "version": 1, "environment": { "set": { "A": "hush1" } } }' >s1.json
printf '{ "version": 1, "environment": { "set": { "A": "hush2" } } }' >s2.json
run 3 diff s1.json s2.json && says 'opens  environment.set (value) A' &&
	! grep -q hush out err
ok $? "values of variables differ, and are not told"
run 1 diff tight.json bad.json && [ ! -s out ]
ok $? "diff with a policy that is not there"

echo "A=1
# none
B = 2
export C=3
T=\$HOME x" >vars
printf '{ "version": 1, "env_files": ["vars"] }' >env.json
run 1 check env.json && grep -q 'vars:3:1: ' err && grep -q 'vars:4:1: ' err &&
	! grep -q 'HOME x' err
ok $? "an env file's errors have a place"
echo "A=hush
B=
T=\$HOME x" >vars
run 0 show env.json && ! grep -q hush out && says "    \"$tmp/vars\""
ok $? "show names an env file and not what is in it"
run 0 compile env.json -o e.image && tr '\0' '\n' <e.image >words &&
	grep -qx hush words && grep -qx "\$HOME x" words
ok $? "its values are taken as they stand"
[ "$(stat -c %a e.image)" = 600 ] && run 0 compile agent -o a.image &&
	[ "$(stat -c %a a.image)" != 600 ]
ok $? "an image that has values is the user's alone"
printf '{ "version": 1, "env_files": ["vars"],
	"environment": { "set": { "A": "mine" } } }' >env.json
run 0 compile env.json -o e.image && ! tr '\0' '\n' <e.image | grep -qx hush
ok $? "the policy's own value stands above a file's"
printf '{ "version": 1, "env_files": ["none"] }' >env.json
run 1 check env.json && grep -q 'env_files/0.*No such file' err
ok $? "an env file that is missing is an error"

echo "1..$count"
exit $failed
