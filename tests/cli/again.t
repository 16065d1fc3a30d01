#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# What a result records of its policy, and --policy-from, which applies that
# again: the same text, by its hash, under today's ceiling, on a host that has
# what the first one had; and that no value of a variable is ever in it.
set -u
# shellcheck source=tests/cli/tap.sh
. "$(dirname "$0")/tap.sh"

needs_root
r=$tmp/out/r.json
s=$tmp/out/s.json
if "$lh" --engine load >/dev/null 2>&1; then engine=1; else engine=0; fi
# A run to the end, also where the engine does not load.
free() {
	run env LH_SANDBOX=warn "$lh" "$@"
}
# edit EXPRESSION: $s is $r after a Python statement on r.
edit() {
	python3 -c 'import json, sys
with open(sys.argv[1]) as f:
    r = json.load(f)
exec(sys.argv[3])
with open(sys.argv[2], "w") as f:
    json.dump(r, f)' "$r" "$s" "$1"
}

printf '{ "version": 1, "name": "mine", "description": "\303\251 \\u202e $$",
	"sandbox_profile": "unrestricted", "limits": { "wall_time": "10m" },
	"read_only_roots": ["%s"], "environment": { "set": {
	"GIVEN": "hush-hush" } } }' "$tmp/out" >"$tmp/p.json"
free --policy "$tmp/p.json" --env FLAG=hush-flag --rw /usr --result "$r" -- true
[ "$status" = 0 ] && json "$r" 'r["policy"]["resolved"]["name"] == "mine" and
	r["policy"]["resolved"]["environment"]["set"] ==
	{"GIVEN": None, "FLAG": None} and "/usr" in
	r["policy"]["resolved"]["process_sandbox"]["write_roots"]'
ok $? 'a result has the policy as it came out, without values'
! grep -q hush "$r"
ok $? 'no value is anywhere in it'
free --policy "$tmp/p.json" -C "$tmp/ws" --result "$r" -- true
sum=$(cd "$tmp/ws" && "$tmp/lh-policy" show "$tmp/p.json" | sha256sum)
json "$r" "r['policy']['hash'] == '${sum%% *}'"
ok $? 'its hash is that of what lh-policy show prints'
hash=$(sed 's/.*"hash":"\([0-9a-f]*\)".*/\1/' "$r")
sed 's/hush-hush/other/' "$tmp/p.json" >"$tmp/q.json"
free --policy "$tmp/q.json" --result "$s" -- true
json "$s" "r['policy']['hash'] == '$hash'"
ok $? 'another value gives the same hash: it cannot be guessed from it'

# Applied again.
free --policy-from "$r" -- true
[ "$status" = 125 ] && grep -q '/environment/set/GIVEN' "$tmp/said"
ok $? 'what was withheld has to be given again'
free --policy-from "$r" --env GIVEN=again --result "$s" -- \
	sh -c 'echo "$GIVEN"'
[ "$status" = 0 ] && [ "$(cat "$tmp/printed")" = again ] &&
	json "$s" "r['policy']['hash'] == '$hash' and
	r['policy']['source'].endswith('r.json#/policy/resolved')"
ok $? 'then it runs under the same policy'
mkdir "$tmp/elsewhere"
chmod 777 "$tmp/elsewhere"
free -C "$tmp/elsewhere" --policy-from "$r" --env GIVEN=again \
	--result "$s" -- true
json "$s" "r['policy']['hash'] == '$hash'"
ok $? 'wherever it is started: all its paths are absolute'
edit 'r["policy"]["resolved"]["side_effect_level"] = "none"'
refuses 125 'it was changed' 'a policy that was changed' \
	"$lh" --policy-from "$s" -- true
edit 'r["policy"]["hash"] = "0" * 64'
refuses 125 'it was changed' 'another hash' "$lh" --policy-from "$s" -- true
edit 'del r["policy"]["hash"]'
refuses 125 'no recorded policy' 'no hash' "$lh" --policy-from "$s" -- true
edit 'r["policy"] = None'
refuses 125 'no recorded policy' 'no policy' "$lh" --policy-from "$s" -- true
edit 'r["schema"] = "lh.denial.v1"'
refuses 125 'not a result' 'another schema' "$lh" --policy-from "$s" -- true
edit 'r["not_enforced"] = "nothing"'
refuses 125 'not a result' 'a wrong type' "$lh" --policy-from "$s" -- true
refuses 125 'p.json' 'a policy is no result' \
	"$lh" --policy-from "$tmp/p.json" -- true
: >"$s"
refuses 125 's.json' 'an empty file' "$lh" --policy-from "$s" -- true
head -c 300 "$r" >"$s"
refuses 125 's.json:1:' 'half a result' "$lh" --policy-from "$s" -- true
cat "$r" "$r" >"$s"
refuses 125 's.json:2:' 'two of them' "$lh" --policy-from "$s" -- true
sed 's/"schema"/"schema":"x","schema"/' "$r" >"$s"
refuses 125 'schema' 'a key that is there twice' \
	"$lh" --policy-from "$s" -- true
head -c 2000000 /dev/zero | tr '\0' ' ' >"$s"
refuses 125 'larger than' 'one of 2 MB' "$lh" --policy-from "$s" -- true
refuses 125 'No such file' 'none' "$lh" --policy-from "$tmp/none" -- true
refuses 125 'neither a regular file' 'a directory' \
	"$lh" --policy-from "$tmp" -- true
chmod 600 "$r"
refuses 125 'Permission denied' "root's result is not read for a user" \
	env SUDO_UID=65534 SUDO_GID=65534 "$lh" --policy-from "$r" -- true

# Under a ceiling.
run under "$(ceiling worktree | sed 's/network/read_only/')" \
	"$lh" --policy-from "$r" --env GIVEN=x --result "$s" -- true
json "$s" 'r["policy"]["resolved"]["side_effect_level"] == "read_only" and
	r["policy"]["resolved"]["sandbox_profile"] == "worktree"'
ok $? "today's ceiling holds"

# Never without the rules of the kernel, whatever the first run went without:
# a result is a file that anybody can write.
free --policy worktree --result "$r" -- true
json "$r" 'r["policy"]["profile"] == "worktree"'
ok $? 'a run under LH_SANDBOX=warn is recorded'
claims() {
	run "$@" "$lh" --policy-from "$r" --result "$s" -- true
	if [ $engine = 1 ]; then
		json "$s" 'r["sandbox"]["confinement"] == "full"'
	else
		[ "$status" = 125 ] && json "$s" 'r["refusal"]["source"] ==
			"sandbox_mechanism" and r["refusal"]["mechanism"] ==
			"linux_bpf_lsm" and r["refusal"]["availability"] in
			("absent_on_host", "entry_point_cannot_attach") and
			not r["refusal"]["selector_honored"]'
	fi
}
claims env LH_SANDBOX=warn
ok $? 'its repetition is refused without them, and the selector not heard'
edit 'r["not_enforced"] = ["limits.pids", "file_rules", "network_rules",
	"process_rules"]'
mv "$s" "$r"
claims env
ok $? 'a result that says it went without them is no permission'
free --policy worktree --result "$s" -- true
[ "$status" = 0 ]
ok $? 'the operator of a run can give it, by name and in person'

done_testing
