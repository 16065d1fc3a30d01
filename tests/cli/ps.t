#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# lh-ps: its options, what it shows of sessions, and of hostile facts. Sessions
# without confinement do for that: their places are the same.
set -u
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

# appears FILE: within half a minute.
appears() {
	tries=0
	until [ -e "$1" ]; do
		tries=$((tries + 1))
		[ $tries -lt 300 ] || return 1
		sleep 0.1
	done
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

# --- in a /run of its own, so that nobody else's sessions are counted
run=$tmp/run
mkdir "$run" && chmod 755 "$run"

# apart COMMAND…: with that /run.
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

# A session as nobody and one as another user, until told to end.
cat >"$tmp/wait" <<'END'
#!/bin/sh
: >"$1.up"
while [ ! -e "$1.go" ]; do sleep 0.1; done
END
chmod 755 "$tmp/wait"
ln "$tmp/wait" "$tmp/with-a-name-that-is-rather-too-long"
echo '{ "version": 1, "name": "one-policy" }' >"$tmp/p.json"
apart "$lh" --no-sandbox --policy "$tmp/p.json" --user 65534 --name one \
	-C "$tmp/ws" -- "$tmp/wait" "$tmp/out/1" 2>"$tmp/err1" &
first=$!
appears "$tmp/out/1.up"
ok $? 'a session'
apart "$lh" --no-sandbox --user 65533 -C "$tmp/ws" -- \
	"$tmp/with-a-name-that-is-rather-too-long" "$tmp/out/2" \
	2>"$tmp/err2" &
second=$!
appears "$tmp/out/2.up"
ok $? 'and another'

works 'two sessions' apart "$ps"
narrow "$tmp/printed" && [ "$(wc -l <"$tmp/printed")" = 3 ] &&
	sed -n 2p "$tmp/printed" | grep -qE \
	'^[0-9a-f]{12} live  (nobody|65534) +\(no sandbox\) +[0-9]+s +[12] .* 0 one$' &&
	sed -n 3p "$tmp/printed" | grep -qE ' 0 with-a-name\+$'
ok $? 'root sees both, oldest first; a long name is cut at its column'
works 'as JSON' apart "$ps" --json
valid "$tmp/printed"
ok $? 'which the schema knows'
json "$tmp/printed" '[(s["user"]["uid"], s["name"], s["policy"]["name"],
	s["state"], s["confinement"], s["denials"]) for s in r["sessions"]] == [
	(65534, "one", "one-policy", "live", "none", 0),
	(65533, None, "worktree", "live", "none", 0)] and
	r["sessions"][1]["user"]["name"] == "65533" and r["sessions"][1]["command"].endswith("/with-a-name-that-is-rather-too-long")
	and all(1 <= s["processes"] <= 2 and len(s["policy"]["hash"]) == 64
		and s["policy"]["profile"] and 0 <= s["age_seconds"] < 600
		for s in r["sessions"])'
ok $? 'and has of each what it is'
works 'as one of the users' apart setpriv --reuid=65534 --regid=65534 \
	--clear-groups "$ps" --json
valid "$tmp/printed" && json "$tmp/printed" 'not r["all_users"] and
	[s["name"] for s in r["sessions"]] == ["one"]'
ok $? 'one sees the own session, and no other'
works 'as a user of the same group' apart setpriv --reuid=65532 --regid=65534 \
	--clear-groups "$ps"
[ "$(wc -l <"$tmp/printed")" = 1 ]
ok $? 'one sees none'
run apart setpriv --reuid=65534 --regid=65534 --clear-groups sh -c \
	'for f in /run/lh/sessions/*; do
		[ ! -w "$f" ] && flock -n "$f" true && echo "$f"
	done'
[ "$(wc -l <"$tmp/printed")" = 0 ] || grep -qv '\.json$' "$tmp/printed"
ok $((! $?)) 'and has no lock to take that a sweep goes by'

# The supervisor and the keeper die together: dead, until the next start.
id=$(apart sh -c 'grep -l 65534 /run/lh/sessions/*.json | head -n 1')
id=$(basename "$id" .json)
keeper=$(apart sh -c 'sed -n s/pid=//p "/run/lh/sessions/$0"' "$id")
for pid in $(pgrep -P "$keeper"); do
	[ "$(cat /proc/"$pid"/comm)" = lh-keeper ] && kill -STOP "$pid" &&
		kill -KILL "$keeper" "$pid"
done
wait $first 2>/dev/null
works 'a dead supervisor' apart "$ps"
grep -q "^$id dead " "$tmp/printed" && [ "$(grep -c ' live ' "$tmp/printed")" = 1 ]
ok $? 'is shown as such'

# --- facts as no supervisor writes them
facts=$run/lh/sessions/$id.json
fact() {
	python3 - "$facts" "$1" <<'END'
import json, sys
with open(sys.argv[1]) as f:
    facts = json.load(f)
exec(sys.argv[2])
with open(sys.argv[1], "w") as f:
    json.dump(facts, f)
END
}
fact 'facts["policy"]["name"] = "\x1b[31mred\r\n\u202e\u9b5a\u9b5a\u9b5a\u9b5a"
facts["confinement"] = "partial"
facts["name"] = "a\tb" + "\u0301" * 40 + "x" * 5000
facts["user"]["name"] = "\u9b5a" * 50
facts["denials"] = 18446744073709551614
facts["started_boot"] = 0'
works 'hostile names' apart "$ps"
narrow "$tmp/printed" && [ "$(wc -l <"$tmp/printed")" = 3 ] &&
	grep -qF ' *\x1b[31mre+ ' "$tmp/printed" &&
		grep -q ' 18E ' "$tmp/printed"
ok $? 'come out escaped, on one line, within 80 columns'
works 'and as JSON' apart "$ps" --json
valid "$tmp/printed" && json "$tmp/printed" '[len(s["name"]) for s in
	r["sessions"] if s["state"] == "dead"] == [5043] and "\x1b" not in text' &&
	! LC_ALL=C grep -q "$(printf '[\033\r\t]')" "$tmp/printed"
ok $? 'whole'
for text in '' '{"schema":"lh.session.v1"}' \
	"$(printf '{"schema":"lh.session.v1","user":1,"policy":[],"denials":"x"}')"; do
	printf '%s' "$text" >"$facts"
	works "facts: '$text'" apart "$ps"
	narrow "$tmp/printed" && grep -qE "^$id dead +65534 +- +- " \
		"$tmp/printed"
	ok $? 'are left out, the session is not'
done
works 'nor as JSON' apart "$ps" --json
valid "$tmp/printed" && json "$tmp/printed" \
	'[s["policy"] for s in r["sessions"] if s["state"] == "dead"] == [None]'
ok $? 'where they are null'
rm "$facts"
mkfifo "$facts"
run timeout 20 unshare -m sh -c 'mount --make-rprivate / &&
	mount --bind "$0" /run && exec "$1"' "$run" "$ps"
[ "$status" = 0 ] && grep -q "^$id dead " "$tmp/printed"
ok $? 'a FIFO in their place is not waited for'

# The next start clears up, and the other ends by itself.
run apart "$lh" --no-sandbox --user 65533 -C "$tmp/ws" -- true
[ "$status" = 0 ]
ok $? 'the next start'
apart "$ps" >"$tmp/printed"
[ "$(wc -l <"$tmp/printed")" = 2 ] && ! grep -q "^$id" "$tmp/printed"
ok $? 'sweeps what was dead'
: >"$tmp/out/2.go"
wait $second
ok $? 'the other session ends'
[ -z "$(ls "$run/lh/sessions")" ]
ok $? 'and leaves nothing'
chmod 777 "$run/lh/sessions"
run apart "$ps"
[ "$status" = 125 ] && [ ! -s "$tmp/printed" ] && grep -q '^lh-ps: ' "$tmp/said"
ok $? 'a directory that others can write is not believed'

done_testing
