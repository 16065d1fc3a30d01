#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Profiles without confinement, and what only a ceiling with profile
# unrestricted permits: by name, aloud, and never where the ceiling is stricter.
set -u
# shellcheck source=tests/cli/tap.sh
. "$(dirname "$0")/tap.sh"

needs_root
r=$tmp/out/r.json
status_of='grep -E "NoNewPrivs|Seccomp:" /proc/self/status'
any=$(ceiling unrestricted)
paths=$(ceiling workspace_paths)
tree=$(ceiling worktree)
echo '{ "version": 1 }' >"$tmp/ok.json"
profile() {
	printf '{ "version": 1, "sandbox_profile": "%s" %s }' "$1" "${2:-}"
}
free='r["sandbox"]["confinement"] == "none" and r["refusal"] is None and
	r["sandbox"]["decided_by"] == "sandbox_profile"'

for p in unrestricted workspace_paths; do
	profile $p >"$tmp/$p.json"
	run "$lh" --policy "$tmp/$p.json" --result "$r" -- sh -c "$status_of"
	[ "$status" = 0 ] && grep -q '^NoNewPrivs:.0$' "$tmp/printed" &&
		grep -q '^Seccomp:.0$' "$tmp/printed" && json "$r" "$free"
	ok $? "profile $p: no confinement"
	grep -q "^lh-supervise: WARNING: NO SANDBOX (the policy's profile is $p)" \
		"$tmp/said"
	ok $? 'it is said aloud'
	run under "$tree" "$lh" --policy "$tmp/$p.json" --result "$r" -- true
	json "$r" 'r["sandbox"]["confinement"] == "full" and
		r["policy"]["profile"] == "worktree"'
	ok $? 'under a stricter ceiling it is as strict as that'
	run under "$any" "$lh" --policy "$tmp/$p.json" --result "$r" -- true
	[ "$status" = 0 ] && json "$r" "$free"
	ok $? 'under one with profile unrestricted it runs'
done
run under "$paths" "$lh" --policy "$tmp/workspace_paths.json" \
	--result "$r" -- true
[ "$status" = 0 ] && json "$r" "$free"
ok $? 'workspace_paths under a ceiling of the same'
run under "$paths" "$lh" --policy "$tmp/unrestricted.json" --result "$r" -- true
[ "$status" = 0 ] && json "$r" "$free"' and
	r["policy"]["profile"] == "workspace_paths"'
ok $? 'unrestricted becomes workspace_paths there'
refuses 125 'does not permit it' 'and --no-sandbox is refused' \
	under "$paths" "$lh" --no-sandbox -- true

# Where it starts is all that workspace_paths checks.
mkdir "$tmp/ws/in" "$tmp/else"
ln -s ../else "$tmp/ws/link"
profile workspace_paths ', "workspace_roots": ["'"$tmp"'/ws"]' >"$tmp/w.json"
run "$lh" --policy "$tmp/w.json" -C "$tmp/ws/in" -- true
[ "$status" = 0 ]
ok $? 'workspace_paths starts inside its workspace'
refuses 125 'in no workspace root' 'and nowhere else' \
	"$lh" --policy "$tmp/w.json" -C "$tmp/else" -- true
refuses 125 'in no workspace root' 'nor through a link' \
	"$lh" --policy "$tmp/w.json" -C link -- true
profile unrestricted ', "workspace_roots": ["'"$tmp"'/ws"]' >"$tmp/u.json"
run "$lh" --policy "$tmp/u.json" -C "$tmp/else" -- true
[ "$status" = 0 ]
ok $? 'unrestricted starts anywhere'

run under "$any" "$lh" --no-sandbox -- echo ran
[ "$status" = 0 ] && [ "$(cat "$tmp/printed")" = ran ]
ok $? 'one with profile unrestricted permits it'

# Off, where the site says so.
run under "$any" env LH_SANDBOX=off "$lh" --result "$r" -- sh -c "$status_of"
[ "$status" = 0 ] && grep -q '^Seccomp:.0$' "$tmp/printed" &&
	grep -q 'NO SANDBOX (LH_SANDBOX=off)' "$tmp/said" &&
	json "$r" 'r["sandbox"]["decided_by"] == "LH_SANDBOX" and
		r["sandbox"]["confinement"] == "none" and
		r["sandbox"]["selector_honored"]'
ok $? 'LH_SANDBOX=off under a ceiling with profile unrestricted'
run under "$any" env LH_SANDBOX=off "$lh" --policy "$tmp/ok.json" \
	--result "$r" -- true
json "$r" 'r["sandbox"]["confinement"] == "full" and
	not r["sandbox"]["selector_honored"]'
ok $? 'but not for os_hardened'

done_testing
