#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# lh-doctor: its options, what it says of hosts that lack something, with the
# remedy, and that it leaves nothing behind. What a kernel with BPF LSM answers
# is tried in guests.
set -u
# shellcheck source=tests/cli/tap.sh
. "$(dirname "$0")/tap.sh"
doctor=$tmp/lh-doctor
cp "$bin/lh-doctor" "$tmp/" && chmod 755 "$doctor" || exit 1
schema=$top/tools/schema/lh.doctor.v1.json

# says NAME EXPRESSION COMMAND…: it prints JSON of which the expression is true
# (c: the checks by name), the status is as it says, and, while $validate is set,
# the schema knows it.
says() {
	name=$1 expression=$2
	shift 2
	run "$@"
	python3 -c 'import json, sys
with open(sys.argv[1]) as f:
    schema = json.load(f)
with open(sys.argv[2]) as f:
    text = f.read()
assert text.count("\n") == 1, "one line"
r = json.loads(text)
if len(sys.argv) > 5:	# it takes longer than all the rest
    import jsonschema
    jsonschema.Draft7Validator.check_schema(schema)
    jsonschema.Draft7Validator(schema).validate(r)
c = {x["check"]: x for x in r["checks"]}
lacks = [x["check"] for x in r["checks"]
         if x["needed_for"] != "nothing" and x["verdict"] != "ok"]
assert len(c) == len(r["checks"]), "each check once"
assert r["exit_status"] == int(sys.argv[3]) == int(bool(lacks)), lacks
assert (r["profiles"]["os_hardened"]["runs"] == "yes") == (not lacks), lacks
assert eval("(" + sys.argv[4] + ")"), c' \
		"$schema" "$tmp/printed" "$status" "$expression" \
		${validate:+x} 2>>"$tmp/said"
	ok $? "$name"
}
validate=yes

run "$doctor" --foo
[ "$status" = 125 ] && grep -q '^lh-doctor: unknown option: --foo' "$tmp/said"
ok $? 'an unknown option'
run "$doctor" --josn
grep -q 'did you mean --json?' "$tmp/said"
ok $? 'a slip of the fingers'
run "$doctor" x
[ "$status" = 125 ] && grep -q '^lh-doctor: takes no argument: x' "$tmp/said"
ok $? 'an argument'
works 'the version' "$doctor" --version
works '--help' "$doctor" --help
grep -o -- '--[a-z][a-z-]*' "$tmp/printed" | sort -u >"$tmp/help"
grep -o '^\.It Fl .*' "$top/tools/lh-doctor.1" |
	grep -o 'Fl -[a-z][a-z-]*' | sed 's/Fl /-/' | sort -u >"$tmp/manual"
diff "$tmp/help" "$tmp/manual" >"$tmp/said"
ok $? 'the manual has each option of --help, and no other'
sh -c 'exec "$0" --json >/dev/full' "$doctor" 2>"$tmp/said"
[ $? = 125 ] && grep -q '^lh-doctor: standard output: ' "$tmp/said"
ok $? 'what does not arrive is an error'

# Every check by its name, in the manual too.
run "$doctor" --json
python3 -c 'import json, sys
for c in json.load(sys.stdin)["checks"]:
    print(c["check"])' <"$tmp/printed" | sort >"$tmp/checks"
sed -n '/^\.Ss Checks/,/^\.Ss/s/^\.It Cm //p' "$top/tools/lh-doctor.1" |
	grep -v '^other_engine$' | sort >"$tmp/manual"
diff "$tmp/checks" "$tmp/manual" >"$tmp/said"
ok $? 'the manual has each check, and no other'

# A user: what only root can try is not said to be there.
says 'as a user' 'c["root"]["verdict"] == "missing" and
	c["root"]["remedy"] == "sudo lh-doctor" and not r["root"] and
	all(c[x]["verdict"] in ("untried", "missing") for x in
		("bpf_lsm", "engine", "cgroup_v2", "cgroup_bpf", "bpffs",
		 "run_directory")) and
	c["seccomp"]["verdict"] == "ok"' \
	as_nobody "$doctor" --json

if [ "$(id -u)" != 0 ]; then
	skip 'the rest' 'needs root'
	done_testing
fi

# state: all that a check could have left or changed.
state() {
	find /sys/fs/cgroup -type d -name 'lh*' 2>/dev/null | sort
	find /sys/fs/cgroup -name cgroup.subtree_control -exec cat {} + 2>&1
	ls -AR /sys/fs/bpf /run/lh/sessions /var/log/lh 2>&1
	ls -Ad /run/lh /var/log/.lh* /run/.lh* 2>/dev/null
	cat /proc/mounts
	bpftool prog list 2>/dev/null | grep -w 'lh_doctor'
	bpftool map list 2>/dev/null | grep -w 'lh_doctor'
}
mkdir -p /run/lh	# the locks in it stay
state >"$tmp/before"
says 'as root' 'r["root"] and c["root"]["verdict"] == "ok" and
	all(x["verdict"] != "untried" for x in r["checks"]) and
	all(x["effect"] or x["remedy"] for x in r["checks"]
		if x["verdict"] != "ok") and
	all(x["remedy"] is None for x in r["checks"] if x["verdict"] == "ok")' \
	"$doctor" --json
state >"$tmp/after"
diff "$tmp/before" "$tmp/after" >"$tmp/said"
ok $? 'leaves nothing, and changes nothing'
run "$doctor"
! grep -nE '^.{81}|[[:cntrl:]]' "$tmp/printed" >"$tmp/said" &&
	[ "$(grep -c 'runs here: ' "$tmp/printed")" = 4 ] &&
	[ "$(grep -cE '^(ok|limited|missing|untried) +[a-z_0-9]+ +[^ ]' \
		"$tmp/printed")" = "$(wc -l <"$tmp/checks")" ]
ok $? 'the text has a line a check, within 80 columns'

# Where the engine loads, it is told; where not, why and what then.
says 'the engine' 'c["engine"]["verdict"] == "ok" or
	(c["engine"]["verdict"] == "missing" and
	 r["profiles"]["os_hardened"]["runs"] == "no" and
	 r["profiles"]["unrestricted"]["runs"] == "yes" and
	 any(x["verdict"] == "missing" and x["remedy"] for x in r["checks"]
		if x["needed_for"] == "engine"))' "$doctor" --json

validate=
# apart SCRIPT COMMAND…: after the script, in a mount namespace.
apart() {
	script=$1
	shift
	unshare -m sh -c "mount --make-rprivate / && { $script
		} >/dev/null 2>&1; exec \"\$@\"" sh "$@"
}

lsm='mount -t tmpfs tmpfs /sys/kernel/security &&
	echo lockdown,capability,yama >/sys/kernel/security/lsm'
says 'bpf is not in the list' 'c["bpf_lsm"]["verdict"] == "missing" and
	"lsm=lockdown,capability,yama,bpf" in c["bpf_lsm"]["remedy"] and
	c["engine"]["verdict"] == "missing"' apart "$lsm" "$doctor" --json
etc="cp -a /etc $tmp/etc2; mkdir -p $tmp/etc2/default;
	echo >$tmp/etc2/default/grub; mount --bind $tmp/etc2 /etc"
says 'with the file of the boot loader' '"/etc/default/grub" in
	c["bpf_lsm"]["remedy"] and "GRUB_CMDLINE_LINUX" in
	c["bpf_lsm"]["remedy"]' apart "$lsm; $etc" "$doctor" --json
says 'a word that is only part of another' \
	'c["bpf_lsm"]["verdict"] == "missing" and
	"lsm=bpfilter,xbpf,bpf" in c["bpf_lsm"]["remedy"]' \
	apart "$lsm; echo bpfilter,xbpf >/sys/kernel/security/lsm" "$doctor" --json
says 'lockdown' 'c["lockdown"]["verdict"] == "missing" and
	"lockdown=integrity" in c["lockdown"]["remedy"]' \
	apart "$lsm; echo 'none integrity [confidentiality]' \
		>/sys/kernel/security/lockdown" "$doctor" --json
says 'no BPF file system' 'c["bpffs"]["verdict"] == "missing" and
	c["bpffs"]["remedy"] == "mount -t bpf bpf /sys/fs/bpf"' \
	apart 'umount -l /sys/fs/bpf; :' "$doctor" --json
says 'one, mounted' 'c["bpffs"]["verdict"] == "ok"' \
	apart 'umount -l /sys/fs/bpf; mount -t bpf bpf /sys/fs/bpf' \
	"$doctor" --json
says 'one that is read-only' 'c["bpffs"]["verdict"] == "missing" and
	"remount,rw" in c["bpffs"]["remedy"]' \
	apart 'umount -l /sys/fs/bpf; mount -t bpf -o ro bpf /sys/fs/bpf' \
	"$doctor" --json
says 'no cgroup v2' 'c["cgroup_v2"]["verdict"] == "missing" and
	"mount -t cgroup2" in c["cgroup_v2"]["remedy"] and
	all(p["runs"] == "no" for p in r["profiles"].values())' \
	apart 'umount -l /sys/fs/cgroup/unified; umount -l /sys/fs/cgroup; :' \
	"$doctor" --json
says 'one that is read-only' 'c["cgroup_v2"]["verdict"] == "missing" and
	"remount,rw" in c["cgroup_v2"]["remedy"]' \
	apart 'umount -l /sys/fs/cgroup; mount -t cgroup2 -o ro none /sys/fs/cgroup' \
	"$doctor" --json
says 'no BTF' 'c["btf"]["verdict"] == "missing" and
	"CONFIG_DEBUG_INFO_BTF" in c["btf"]["remedy"]' \
	apart 'mount -t tmpfs tmpfs /sys/kernel/btf' "$doctor" --json
says 'too few descriptors' 'c["ring_memory"]["verdict"] == "missing" and
	"ulimit -n" in c["ring_memory"]["remedy"]' \
	sh -c 'ulimit -n 30; exec "$@"' sh "$doctor" --json
says 'without a capability' 'c["root"]["verdict"] == "missing" and
	"cap_kill" in c["root"]["detail"]' \
	setpriv --bounding-set=-kill --inh-caps=-kill "$doctor" --json
says 'root of a user namespace' 'c["root"]["verdict"] == "missing" and
	"user namespace" in c["root"]["detail"]' \
	as_nobody unshare -r "$doctor" --json

# /run/lh and /var/log/lh
places='mount -t tmpfs tmpfs /run; mount -t tmpfs tmpfs /var/log'
says 'an empty /run' 'c["run_directory"]["verdict"] == "ok" and
	c["log_directory"]["verdict"] == "ok"' \
	apart "$places" "$doctor" --json
says 'places that others can write' '
	c["run_directory"]["verdict"] == "missing" and
	"go-w /run/lh/sessions" in c["run_directory"]["remedy"] and
	c["log_directory"]["verdict"] == "missing"' \
	apart "$places; mkdir -p /run/lh/sessions /var/log/lh
		chmod 777 /run/lh/sessions /var/log/lh" "$doctor" --json
says 'places that are read-only' '
	c["run_directory"]["verdict"] == "missing" and
	"writable" in c["run_directory"]["remedy"]' \
	apart "$places; mount -o remount,ro /run" "$doctor" --json

# The ceiling.
says 'a ceiling' '"worktree" in c["ceiling"]["detail"] and
	c["ceiling"]["verdict"] == "ok"' \
	under "$(ceiling worktree)" "$doctor" --json
says 'that is none' 'c["ceiling"]["verdict"] == "missing" and
	"lh-policy check" in c["ceiling"]["remedy"]' \
	under '{ "version": 1, "sandbox_profile": "x" }' "$doctor" --json
says 'that is empty' 'c["ceiling"]["verdict"] == "missing"' \
	under '' "$doctor" --json
under '{ "version": 1 }' true
chmod 666 "$tmp/etc/lh/ceiling.json"
says 'that others can write' 'c["ceiling"]["verdict"] == "missing" and
	"root alone" in c["ceiling"]["detail"] and
	"chmod 644" in c["ceiling"]["remedy"]' \
	unshare -m sh -c 'mount --make-rprivate / && mount --bind "$0" /etc &&
		exec "$@"' "$tmp/etc" "$doctor" --json

# Inside of a session, as the cgroup tells.
top2=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/self/mounts)
group=$top2/lh/d0c70d0c70d0
mkdir -p "$group"
says 'inside a session' 'c["session"]["verdict"] == "missing" and
	"d0c70d0c70d0" in c["session"]["detail"]' \
	sh -c 'echo $$ >"$0/cgroup.procs" && exec "$@"' "$group" "$doctor" --json
rmdir "$group" && rmdir "$top2/lh" 2>/dev/null

done_testing
