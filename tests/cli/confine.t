#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# How much confinement a run has, and who may take it away: --no-sandbox,
# LH_SANDBOX, profiles without confinement, the ceiling above them, and the
# typed refusal where a mechanism is missing. On a kernel that loads the engine
# the same runs are confined, and that is what is expected there.
set -u
# shellcheck source=tests/cli/tap.sh
. "$(dirname "$0")/tap.sh"

needs_root
r=$tmp/out/r.json
status_of='grep -E "NoNewPrivs|Seccomp:|CapEff" /proc/self/status'
if "$lh" --engine load >/dev/null 2>&1; then engine=1; else engine=0; fi

tree=$(ceiling worktree)
hard=$(ceiling os_hardened)

# --no-sandbox
run "$lh" --no-sandbox --result "$r" -- sh -c "$status_of; exit 3"
[ "$status" = 3 ] && grep -q '^NoNewPrivs:.0$' "$tmp/printed" &&
	grep -q '^Seccomp:.0$' "$tmp/printed"
ok $? '--no-sandbox: neither filter nor no_new_privs'
grep -q '^lh-supervise: WARNING: NO SANDBOX (--no-sandbox)' "$tmp/said" &&
	[ "$(wc -l <"$tmp/said")" = 1 ]
ok $? 'it is said aloud, in one line'
json "$r" 'r["sandbox"] == {"confinement": "none", "decided_by":
	"--no-sandbox", "selector": None, "selector_honored": False} and
	set(r["not_enforced"]) >= {"file_rules", "network_rules",
	"process_rules", "seccomp", "no_new_privs"} and r["exit_code"] == 3 and
	r["not_recorded"] == [] and r["refusal"] is None'
ok $? 'and recorded'
run "$lh" -q --no-sandbox -- true
grep -q 'NO SANDBOX' "$tmp/said"
ok $? 'also with -q'
run "$lh" --no-sandbox -- sh -c "echo x >'$tmp/out/free'"
[ -e "$tmp/out/free" ]
ok $? 'it writes where no root is'
sudo="env SUDO_UID=65534 SUDO_GID=65534"
# shellcheck disable=SC2086
run $sudo "$lh" --no-sandbox -- sh -c "id -u; id -G; grep Cap /proc/self/status"
[ "$(sed -n 1,2p "$tmp/printed" | tr '\n' ' ')" = '65534 65534 ' ] &&
	[ "$(grep -cE '^Cap(Inh|Prm|Eff|Amb):.0+$' "$tmp/printed")" = 4 ]
ok $? 'it is the user who called sudo, with what that user has'
mkdir "$tmp/closed"
echo word >"$tmp/closed/file"
chmod 700 "$tmp/closed"
# shellcheck disable=SC2086
run $sudo "$lh" --no-sandbox -- cat "$tmp/closed/file"
[ "$status" = 1 ] && [ ! -s "$tmp/printed" ]
ok $? 'and no more'
chmod 755 "$tmp/closed"
# shellcheck disable=SC2086
run $sudo "$lh" --no-sandbox -- cat "$tmp/closed/file"
[ "$status" = 0 ] && [ "$(cat "$tmp/printed")" = word ]
ok $? 'nor less'
run timeout 60 "$lh" --no-sandbox --timeout 300ms --result "$r" -- sleep 100
[ "$status" = 124 ] && json "$r" 'r["timed_out"]'
ok $? 'the wall time holds'
run timeout -k 1 60 python3 -c 'import os, signal, sys
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
os.execv(sys.argv[1], sys.argv[1:])' "$lh" --no-sandbox -- sh -c 'exit 7'
[ "$status" = 7 ]
ok $? 'also for a caller that ignores its children'
run "$lh" --no-sandbox -- sh -c 'sleep 100 & echo $!'
! grep -qs '^[0-9]* ([^)]*) [^Z]' "/proc/$(cat "$tmp/printed")/stat"
ok $? 'nothing is left running'
run env MY_TOKEN=hush "$lh" --no-sandbox -- env
! grep -qE 'TOKEN|TMPDIR|XDG_CACHE' "$tmp/printed" &&
	grep -q '^PATH=' "$tmp/printed" && [ ! -e "$tmp/ws/.lh-toolchain-cache" ]
ok $? 'the environment is as the policy says, and nothing is put around it'
run sh -c "exec '$lh' --no-sandbox -- sh -c 'echo x >&7' 7>'$tmp/out/seven'"
[ "$status" != 0 ] && [ ! -s "$tmp/out/seven" ]
ok $? 'descriptors above 2 are closed'
refuses 127 nosuch 'a command that is not there' "$lh" --no-sandbox -- nosuch
refuses 125 'no policy is called' 'a policy is looked at all the same' \
	"$lh" --no-sandbox --policy none -- true
run "$lh" --no-sandbox --dry-run -- true
[ "$status" = 0 ] && grep -q 'NO SANDBOX' "$tmp/said"
ok $? '--dry-run says it too'
refuses 125 'does not permit it' 'a ceiling with profile os_hardened forbids it' \
	under "$hard" "$lh" --no-sandbox -- true
refuses 125 'does not permit it' 'so does worktree' \
	under "$tree" "$lh" --no-sandbox -- true
refuses 125 'does not permit it' 'so does one that is silent' \
	under '{ "version": 1 }' "$lh" --no-sandbox -- true

# A kernel without the engine.
tree_only() { run env LH_SANDBOX="$1" "$lh" --result "$r" -- sh -c "$status_of"; }
missing='r["refusal"]["source"] == "sandbox_mechanism" and
	r["refusal"]["mechanism"] == "linux_bpf_lsm" and
	r["refusal"]["availability"] in ("absent_on_host",
	"entry_point_cannot_attach") and r["status"] == "supervisor_error"'
confined='r["sandbox"]["confinement"] == "full" and r["refusal"] is None'
tree_only warn
[ "$status" = 0 ] && grep -q '^NoNewPrivs:.1$' "$tmp/printed" &&
	grep -q '^Seccomp:.2$' "$tmp/printed" &&
	grep -q '^CapEff:.0*$' "$tmp/printed"
ok $? 'LH_SANDBOX=warn: filter, no_new_privs and no capability in any case'
selected='"selector": "warn", "selector_honored": True'
if [ $engine = 1 ]; then
	[ ! -s "$tmp/said" ] && json "$r" "$confined"
else
	[ "$(grep -c 'file rules, network rules, process rules' \
		"$tmp/said")" = 1 ] && json "$r" 'r["sandbox"] == {
		"confinement": "partial", "decided_by": "LH_SANDBOX",
		'"$selected"'} and set(r["not_enforced"]) >= {
		"file_rules", "network_rules", "process_rules"} and
		"seccomp" not in r["not_enforced"]'
fi
ok $? 'the rest is enforced, or named once and recorded'
for value in enforce off; do
	tree_only $value
	if [ $engine = 1 ]; then
		json "$r" "$confined"
	else
		[ "$status" = 125 ] && json "$r" "$missing"' and
			r["refusal"]["profile"] == "worktree" and
			r["refusal"]["requirement"] == "fallback" and
			r["refusal"]["selector_honored"]'
	fi
	ok $? "LH_SANDBOX=$value without a ceiling: enforced, or refused"
done
grep -q 'LH_SANDBOX=off is not honoured' "$tmp/said" &&
	json "$r" 'r["sandbox"]["selector"] == "off" and
		not r["sandbox"]["selector_honored"]'
ok $? 'that off is not honoured is said and recorded'
run "$lh" --result "$r" --json -- true
if [ $engine = 1 ]; then
	json "$r" "$confined"
else
	tail -n 2 "$tmp/said" | grep '^{' >"$tmp/out/j.json"
	[ "$status" = 125 ] && json "$r" "$missing" &&
		json "$tmp/out/j.json" "$missing"
fi
ok $? 'without LH_SANDBOX: enforced, or refused, also by --json'
echo '{ "version": 1 }' >"$tmp/ok.json"
run sh -c "exec '$lh' --status-fd 3 --policy '$tmp/ok.json' -- true 3>'$tmp/out/s.json'"
if [ $engine = 1 ]; then
	json "$tmp/out/s.json" "$confined"
else
	json "$tmp/out/s.json" "$missing"
fi
ok $? 'and to --status-fd'
for value in '' no OFF 'warn ' 1; do
	refuses 125 'none of off, warn and enforce' "LH_SANDBOX='$value'" \
		env LH_SANDBOX="$value" "$lh" --no-sandbox -- true
done

# os_hardened does not listen.
for value in off warn; do
	run env LH_SANDBOX=$value "$lh" --policy "$tmp/ok.json" --result "$r" \
		-- true
	if [ $engine = 1 ]; then
		json "$r" "$confined"
	else
		[ "$status" = 125 ] && json "$r" "$missing"' and
			r["refusal"]["profile"] == "os_hardened" and
			r["refusal"]["requirement"] == "profile" and
			not r["refusal"]["selector_honored"] and
			r["sandbox"]["selector"] == "'$value'"'
	fi
	ok $? "os_hardened ignores LH_SANDBOX=$value"
done
run under "$hard" env LH_SANDBOX=warn "$lh" --result "$r" -- true
if [ $engine = 1 ]; then
	json "$r" "$confined"
else
	[ "$status" = 125 ] &&
		json "$r" 'not r["refusal"]["selector_honored"]'
fi
ok $? 'nor does worktree under a ceiling of os_hardened'

run under "$tree" env LH_SANDBOX=off "$lh" --result "$r" -- true
json "$r" 'r["sandbox"]["confinement"] == "full" and
	not r["sandbox"]["selector_honored"]'
ok $? 'LH_SANDBOX=off counts for nothing under one with profile worktree'

# Limits that this host cannot enforce.
has() {
	grep -qw "$1" "$(sed -n 's/^[^ ]* \([^ ]*\) cgroup2 .*/\1/p' \
		/proc/self/mounts | head -n 1)/cgroup.controllers"
}
# without_v1 COMMAND…: where no v1 hierarchy is mounted.
without_v1() {
	unshare -m sh -c 'mount --make-rprivate / && while read -r _ at type _
		do [ "$type" != cgroup ] || umount "$at" || exit 1
		done </proc/self/mounts; exec "$@"' sh "$@"
}
run without_v1 "$lh" --policy "$tmp/ok.json" --memory 1G --result "$r" -- true
if has memory; then
	json "$r" 'not r["refusal"] or
		r["refusal"]["mechanism"] == "linux_bpf_lsm"'
else
	[ "$status" = 125 ] && json "$r" 'r["refusal"] == {
		"source": "sandbox_mechanism",
		"mechanism": "linux_cgroup_memory",
		"availability": "absent_on_host", "profile": "os_hardened",
		"requirement": "profile", "selector_honored": False}'
fi
ok $? 'a memory limit: enforced, or a typed refusal'

# What a run widened: one line, expanded, and none for a deny.
LH_SANDBOX=warn
export LH_SANDBOX
widened() { grep '^lh-supervise: sandbox ' "$tmp/said"; }
mkdir "$tmp/a b" "$tmp/c"
run "$lh" --rw "$tmp/./a b" --sandbox-read-root "?$tmp/c/" --ro "$tmp/out" \
	--deny "$tmp/etc" -- true
[ "$(widened | wc -l)" = 1 ] && widened | grep -q "; extra write root: \
$tmp/a b" && widened | grep -q "; extra read root: $tmp/c\(;\|$\)" &&
	widened | grep -q "; extra read-only root: $tmp/out" &&
	! widened | grep -q "$tmp/etc"
ok $? 'a run that widens says what, in one line'
run "$lh" --allow-credential /etc/./shadow --result "$r" -- true
widened | grep -q 'sandbox .*active; credential: /etc/shadow$' &&
	json "$r" 'r["allowed_credentials"] == ["/etc/shadow"]'
ok $? 'a credential that is lifted is said, and recorded'
run "$lh" --allow-net -- true
widened | grep -q '; network, but no rule allows any destination'
ok $? 'a network without a rule is none, and that is said'
run "$lh" --deny "$tmp/out" -- true
! widened
ok $? 'one that only narrows says nothing'
esc=$(printf 'x\342\200\256y')
mkdir "$tmp/$esc"
run "$lh" -q --ro "$tmp/$esc" -- true
[ "$(widened | wc -l)" = 1 ] &&
	! LC_ALL=C grep -q "$(printf '\342')" "$tmp/said"
ok $? 'what is named comes out escaped, also with -q'
long=$(printf '%0200d' 0)
d=$tmp/$long/$long/$long/$long
mkdir -p "$d"
set --
for i in $(seq 1 20); do
	mkdir "$d/$i"
	set -- "$@" --ro "$d/$i"
done
run "$lh" "$@" -- true
all=$(widened | grep -o 'extra read-only root: ' | wc -l)
[ "$all" = 20 ] && [ "$(widened | wc -l)" -gt 1 ] &&
	widened | sed 1d | grep -q 'and further; extra'
ok $? 'a long list goes on in another line, and nothing is unsaid'
run under "$tree" "$lh" --rw "$tmp/c" -- true
widened | grep -q "extra read root: $tmp/c" && ! widened | grep -q write
ok $? 'what a ceiling took away is not said to be granted'
unset LH_SANDBOX

done_testing
