#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# lh-ps: its options, what it shows of sessions, and of hostile facts. Sessions
# without confinement do for that: their places are the same.
set -u

# With a registry of its own: a start beside it would sweep what is dead here.
if [ "$(id -u)" = 0 ] && [ -z "${LH_PS_APART:-}" ]; then
	mkdir -p /run/lh
	LH_PS_APART=1 exec unshare -m sh -c 'mount --make-rprivate / &&
		mount -t tmpfs -o mode=755 tmpfs /run/lh && exec "$0"' "$0"
fi
# shellcheck source=tests/cli/tap.sh
. "$(dirname "$0")/tap.sh"
ps=$tmp/lh-ps
cp "$bin/lh-ps" "$tmp/" && chmod 755 "$ps" || exit 1
schema=$top/tools/schema/lh.ps.v1.json

# valid FILE: one line of JSON that the schema knows.
valid() {
	python3 -c 'import json, sys, jsonschema
with open(sys.argv[1]) as f:
    schema = json.load(f)
with open(sys.argv[2]) as f:
    text = f.read()
assert text.count("\n") == 1, "one line"
jsonschema.Draft7Validator.check_schema(schema)
jsonschema.Draft7Validator(schema).validate(json.loads(text))' \
		"$schema" "$1" 2>>"$tmp/said"
}

# narrow FILE: lines of at most 80 characters, none of them a control character.
narrow() {
	! LC_ALL=C.UTF-8 grep -qE '^.{81}|[[:cntrl:]]' "$1"
}

# --- the command line
for flag in --foo -x --jso; do
	run "$ps" $flag
	[ "$status" = 125 ] && [ ! -s "$tmp/printed" ] &&
		grep -q "^lh-ps: unknown option: $flag" "$tmp/said"
	ok $? "$flag: unknown"
done
run "$ps" "$(printf 'a\033[31m')"
[ "$status" = 125 ] && grep -qF 'takes no argument: a\x1b[31m' "$tmp/said"
ok $? 'an argument is refused, and shown escaped'
works 'the version' "$ps" --version
grep -q '^lh-ps [0-9.]* (abi [0-9]*)$' "$tmp/printed"
ok $? 'is on one line'
works '--help' "$ps" --help
grep -o -- '--[a-z][a-z-]*' "$tmp/printed" | sort -u >"$tmp/help"
grep -o '^\.It Fl .*' "$top/tools/lh-ps.1" |
	grep -o 'Fl -[a-z][a-z-]*' | sed 's/Fl /-/' | sort -u >"$tmp/manual"
diff "$tmp/help" "$tmp/manual" >"$tmp/said"
ok $? 'the manual has each option of --help, and no other'
sh -c 'exec "$0" >/dev/full' "$ps" 2>"$tmp/said"
[ $? = 125 ] && grep -q '^lh-ps: standard output: ' "$tmp/said"
ok $? 'what does not arrive is an error'

if [ "$(id -u)" != 0 ]; then
	skip 'sessions' 'needs root'
	done_testing
fi

# apart COMMAND…: with an empty /run.
run=$tmp/run
mkdir "$run" && chmod 755 "$run"
apart() {
	unshare -m sh -c 'mount --make-rprivate / && mount --bind "$0" /run &&
		exec "$@"' "$run" "$@"
}

works 'no directory of sessions' apart "$ps"
[ "$(cat "$tmp/printed")" = "$(printf '%-12s %-5s %-8s %-12s %5s %5s %6s %7s %s' \
	SESSION STATE USER POLICY AGE PROCS MEMORY DENIALS NAME)" ]
ok $? 'is the header alone, and no error'
works 'the same as JSON' apart "$ps" --json
valid "$tmp/printed" && json "$tmp/printed" 'r["sessions"] == [] and r["all_users"]'
ok $? 'is an empty list'

# --- sessions of two users, beside whatever else runs here
one=64201 two=64202
cat >"$tmp/wait" <<'END'
#!/bin/sh
: >"$1.up"
while [ ! -e "$1.go" ]; do sleep 0.1; done
END
chmod 755 "$tmp/wait"
ln "$tmp/wait" "$tmp/with-a-name-that-is-rather-too-long"
echo '{ "version": 1, "name": "one-policy" }' >"$tmp/p.json"
"$lh" --no-sandbox --policy "$tmp/p.json" --user $one --name one-$$ \
	-C "$tmp/ws" -- "$tmp/wait" "$tmp/out/1" 2>"$tmp/err1" &
first=$!
appears "$tmp/out/1.up"
ok $? 'a session'
"$lh" --no-sandbox --user $two -C "$tmp/ws" -- \
	"$tmp/with-a-name-that-is-rather-too-long" "$tmp/out/2" \
	2>"$tmp/err2" &
second=$!
appears "$tmp/out/2.up"
ok $? 'and another'

works 'as a table' "$ps"
narrow "$tmp/printed" && grep -qE \
	"^[0-9a-f]{12} live  $one    \(no sandbox\) +[0-9]+[sm] +[12] .* 0 one-$$\$" \
	"$tmp/printed" &&
	grep -qE " $two .* 0 with-a-name\+\$" "$tmp/printed"
ok $? 'root sees both; a long name is cut at its column'
works 'as JSON' "$ps" --json
valid "$tmp/printed"
ok $? 'which the schema knows'
json "$tmp/printed" "[(s['user']['name'], s['name'], s['policy']['name'],
	s['state'], s['confinement'], s['denials']) for s in r['sessions']
	if s['user']['uid'] in ($one, $two)] == [
	('$one', 'one-$$', 'one-policy', 'live', 'none', 0),
	('$two', None, 'worktree', 'live', 'none', 0)] and
	all(1 <= s['processes'] <= 2 and len(s['policy']['hash']) == 64
		and s['policy']['profile'] and 0 <= s['age_seconds'] < 3600
		and s['command'].startswith('$tmp/wait' if s['name'] else
			'$tmp/with-a-name-that-is-rather-too-long')
		for s in r['sessions'] if s['user']['uid'] in ($one, $two))"
ok $? 'and has of each what it is, oldest first'
works 'as one of the users' setpriv --reuid=$one --regid=$one \
	--clear-groups "$ps" --json
valid "$tmp/printed" && json "$tmp/printed" "not r['all_users'] and
	[s['name'] for s in r['sessions']] == ['one-$$']"
ok $? 'one sees the own session, and no other'
works 'as a user of the same group' setpriv --reuid=64203 --regid=$one \
	--clear-groups "$ps"
[ "$(wc -l <"$tmp/printed")" = 1 ]
ok $? 'one sees none'
id=$("$ps" | sed -n "s/ .* one-$$\$//p")
run setpriv --reuid=$one --regid=$one --clear-groups sh -c \
	'[ -r "$0.json" ] && [ ! -w "$0.json" ] && [ ! -r "$0" ] && [ ! -w "$0" ]' \
	"/run/lh/sessions/$id"
[ "$status" = 0 ]
ok $? 'and has no lock to take that a sweep goes by'

# Its supervisor is killed and its keeper held: dead, and nobody sweeps it yet.
keeper=
for pid in $(pgrep -P $first); do
	[ "$(cat /proc/"$pid"/comm)" = lh-keeper ] && keeper=$pid
done
kill -STOP "$keeper" && kill -KILL $first
wait $first 2>/dev/null
works 'a dead supervisor' "$ps"
grep -q "^$id dead  $one " "$tmp/printed" && grep -q " live  $two " "$tmp/printed"
ok $? 'is shown as such'
kill -KILL "$keeper"
run "$lh" --no-sandbox --user $two -C "$tmp/ws" -- true
[ "$status" = 0 ]
ok $? 'the next start'
"$ps" >"$tmp/printed"
! grep -q "^$id" "$tmp/printed" && ! ls "/run/lh/sessions/$id"* 2>"$tmp/said"
ok $? 'sweeps what was dead, its facts too'
: >"$tmp/out/2.go"
wait $second
ok $? 'the other session ends'
"$ps" >"$tmp/printed"
! grep -q " $two " "$tmp/printed"
ok $? 'and is no longer shown'

# --- facts as no supervisor writes them
id=0123456789ab
mkdir -p "$run/lh/sessions"
facts=$run/lh/sessions/$id.json
printf 'uid=7\ngid=8\npid=%d\nname=x\n' $first >"$run/lh/sessions/$id"
cat >"$facts" <<END
{ "schema": "lh.session.v1", "session": "$id",
  "policy": { "name": "\u001b[31mred\r\n\u202e\u9b5a\u9b5a", "source": "s",
    "hash": "h", "profile": "p" }, "confinement": "partial",
  "name": "a\tb$(printf '\\u0301%.0s' $(seq 40))$(printf '%05000d' 0)",
  "user": { "name": "$(printf '\\u9b5a%.0s' $(seq 50))", "uid": 7, "gid": 8 },
  "supervisor": { "pid": $first, "start": 1, "pid_namespace":
    $(stat -L -c %i /proc/self/ns/pid) }, "started": 1, "started_boot": 0,
  "denials": 18446744073709551614 }
END
works 'hostile names' apart "$ps"
narrow "$tmp/printed" && [ "$(wc -l <"$tmp/printed")" = 2 ] &&
	grep -qF ' *\x1b[31mre+ ' "$tmp/printed" && grep -q ' 18E ' "$tmp/printed"
ok $? 'come out escaped, on one line, within 80 columns'
works 'and as JSON' apart "$ps" --json
valid "$tmp/printed" && json "$tmp/printed" '[len(s["name"]) for s in
	r["sessions"] if s["state"] == "dead"] == [5043]' &&
	! LC_ALL=C grep -q "$(printf '[\033\r\t]')" "$tmp/printed"
ok $? 'whole'
for text in '' '{"schema":"lh.session.v1"}' \
	'{"schema":"lh.session.v1","user":1,"policy":[],"denials":"x"}'; do
	printf '%s' "$text" >"$facts"
	works "facts: '$text'" apart "$ps"
	narrow "$tmp/printed" && grep -qE "^$id dead +7 +- +- " "$tmp/printed"
	ok $? 'are left out, the session is not'
done
works 'nor as JSON' apart "$ps" --json
valid "$tmp/printed" && json "$tmp/printed" \
	'[s["policy"] for s in r["sessions"]] == [None]'
ok $? 'where they are null'
rm "$facts"
mkfifo "$facts"
run timeout 60 unshare -m sh -c 'mount --make-rprivate / &&
	mount --bind "$0" /run && exec "$1"' "$run" "$ps"
[ "$status" = 0 ] && grep -q "^$id dead " "$tmp/printed"
ok $? 'a FIFO in their place is not waited for'
chmod 777 "$run/lh/sessions"
run apart "$ps"
[ "$status" = 125 ] && [ ! -s "$tmp/printed" ] && grep -q '^lh-ps: ' "$tmp/said"
ok $? 'a directory that others can write is not believed'

done_testing
