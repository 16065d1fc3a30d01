# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh disable=SC2034
# TAP for shell tests of lh-supervise. Sourced; needs $0 to lie in tests/cli.

# Neither word splitting nor the caller's own sudo may change what is tested.
unset SUDO_UID SUDO_GID SUDO_USER SUDO_COMMAND LH_SANDBOX
top=$(cd "$(dirname "$0")/../.." && pwd)
bin=${B:-build}
case $bin in /*) ;; *) bin=$top/$bin ;; esac
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
# A copy that any user can reach, and a workspace of anybody's.
cp "$bin/lh-supervise" "$bin/lh-policy" "$tmp/" || exit 1
chmod 755 "$tmp" "$tmp/lh-supervise" "$tmp/lh-policy"
mkdir "$tmp/ws" "$tmp/out"
chmod 777 "$tmp/ws" "$tmp/out"
lh=$tmp/lh-supervise
count=0
failed=0
# How a session starts here: in a guest confined, elsewhere what is left of it.
how=--no-sandbox
[ ! -d /run/lh-vm ] || how="--user lh-test --denials $tmp/out/denials"

# ok STATUS NAME: one line of TAP, with what the last run said on failure.
ok() {
	count=$((count + 1))
	if [ "$1" = 0 ]; then
		echo "ok $count - $2"
	else
		echo "not ok $count - $2"
		sed 's/^/# /' "$tmp/said" "$tmp/printed" 2>/dev/null
		failed=1
	fi
}

skip() {
	count=$((count + 1))
	echo "ok $count - $1 # SKIP $2"
}

# Ends a test that nobody but root can run.
needs_root() {
	[ "$(id -u)" = 0 ] || { echo '1..0 # SKIP needs root'; exit 0; }
}

# run COMMAND…: in the workspace; $status, $tmp/printed and $tmp/said after it.
run() {
	(cd "$tmp/ws" && "$@") >"$tmp/printed" 2>"$tmp/said" </dev/null
	status=$?
}

# refuses STATUS WORDS NAME COMMAND…: that status, nothing on stdout, and a
# line on stderr, ours, that has the words.
refuses() {
	want=$1 words=$2 name=$3
	shift 3
	run "$@"
	[ "$status" = "$want" ] && [ ! -s "$tmp/printed" ] &&
		grep -F -- "$words" "$tmp/said" | grep -q '^lh-supervise: '
	ok $? "$name"
}

# works NAME COMMAND…: status 0 and nothing on stderr.
works() {
	name=$1
	shift
	run "$@"
	[ "$status" = 0 ] && [ ! -s "$tmp/said" ]
	ok $? "$name"
}

# under CEILING COMMAND…: with that /etc/lh/ceiling.json, in a copy of /etc.
under() {
	[ -d "$tmp/etc/lh" ] || { cp -a /etc "$tmp/etc" && mkdir "$tmp/etc/lh"; }
	printf '%s' "$1" >"$tmp/etc/lh/ceiling.json"
	shift
	unshare -m sh -c 'mount --make-rprivate / && mount --bind "$0" /etc &&
		exec "$@"' "$tmp/etc" "$@"
}

# ceiling PROFILE: one that leaves the workspace writable and all readable.
ceiling() {
	printf '{ "version": 1, "sandbox_profile": "%s", "read_only_roots":
		["/"], "workspace_roots": ["%s/ws"],
		"side_effect_level": "network" }' "$1" "$tmp"
}

# as_nobody COMMAND…
as_nobody() {
	setpriv --reuid=65534 --regid=65534 --clear-groups -- "$@"
}

# json FILE EXPRESSION: a Python expression over the object r is true.
json() {
	python3 -c 'import json, sys
with open(sys.argv[1]) as f:
    text = f.read()
assert text.count("\n") == 1 and text.endswith("\n"), "one line"
r = json.loads(text)
sys.exit(not eval("(" + sys.argv[2] + ")"))' "$1" "$2" 2>>"$tmp/said"
}

# appears FILE: within half a minute.
appears() {
	tries=0
	until [ -e "$1" ]; do
		tries=$((tries + 1))
		[ $tries -lt 300 ] || return 1
		sleep 0.1
	done
}

done_testing() {
	echo "1..$count"
	exit $failed
}
