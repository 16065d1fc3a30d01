#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# What a start clears up, and what it must leave alone: a session whose files
# lie in another /run, as of a container that shares the cgroups.
set -u
# shellcheck source=tests/cli/tap.sh
. "$(dirname "$0")/tap.sh"
cat >"$tmp/wait" <<'END2'
#!/bin/sh
sed -n 's/^0:://p' /proc/self/cgroup >"$1.cgroup"
: >"$1.up"
while [ ! -e "$1.go" ]; do sleep 0.1; done
END2
chmod 755 "$tmp/wait"

# elsewhere NAME: a session with a /run of its own, in the background.
elsewhere() {
	unshare -m sh -c 'mount --make-rprivate / && mount -t tmpfs tmpfs /run &&
		exec "$@"' sh "$lh" --no-sandbox -C "$tmp/ws" -- \
		"$tmp/wait" "$tmp/out/$1" 2>"$tmp/err.$1" &
}

root=$(findmnt -n -t cgroup2 -o TARGET | head -n 1)
elsewhere a
first=$!
appears "$tmp/out/a.up"
ok $? 'a session whose files lie in another /run'
run "$lh" --no-sandbox -- true
[ "$status" = 0 ]
ok $? 'a start'
dir=$root$(cat "$tmp/out/a.cgroup")
grep -qx 'populated 1' "$dir/cgroup.events"
ok $? 'leaves it alone'
run setpriv --reuid=65534 --regid=65534 --clear-groups ls "$dir"
[ "$status" != 0 ]
ok $? 'nobody else can open its directory, and so not lock it'
run setpriv --reuid=65534 --regid=65534 --clear-groups cat "$dir/cgroup.events"
[ "$status" = 0 ]
ok $? 'but read what is in it, as runtimes do'
: >"$tmp/out/a.go"
wait $first
ok $? 'it ends as it likes'
[ ! -e "$dir" ]
ok $? 'and leaves no cgroup'

elsewhere b
second=$!
appears "$tmp/out/b.up"
ok $? 'another one'
dir=$root$(cat "$tmp/out/b.cgroup")
keeper=
for pid in $(pgrep -P $second); do
	[ "$(cat /proc/"$pid"/comm)" = lh-keeper ] && keeper=$pid
done
kill -STOP "$keeper" && kill -KILL $second "$keeper"
wait $second 2>/dev/null
[ $? = 137 ]
ok $? 'whose supervisor and keeper are killed'
run "$lh" --no-sandbox -- true
[ "$status" = 0 ]
ok $? 'and the next start'
[ ! -e "$dir" ]
ok $? 'sweeps it, wherever its file was'
done_testing
