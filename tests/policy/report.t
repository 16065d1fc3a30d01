#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# lh-policy for editors and people in a hurry: what is said in JSON, the exit
# statuses of check, and what was probably meant.
set -u

top=$(cd "$(dirname "$0")/../.." && pwd)
policy=${B:-build}/lh-policy
case $policy in /*) ;; *) policy=$top/$policy ;; esac
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
count=0
failed=0
mkdir "$tmp/w" "$tmp/h" "$tmp/p"
cd "$tmp/p" || exit 1
unset KUBECONFIG DOCKER_CONFIG GNUPGHOME CARGO_HOME NETRC \
	AWS_SHARED_CREDENTIALS_FILE GOOGLE_APPLICATION_CREDENTIALS NO_COLOR

lh() {
	timeout 20 "$policy" "$@" -C "$tmp/w" --home "$tmp/h" --user u \
		>"$tmp/out" 2>"$tmp/err" </dev/null
}

# ok STATUS NAME: one line of TAP, with what was said where it is not ok.
ok() {
	count=$((count + 1))
	if [ "$1" = 0 ]; then
		echo "ok $count - $2"
	else
		echo "not ok $count - $2"
		sed 's/^/# /' "$tmp/out" "$tmp/err"
		failed=1
	fi
}

# is STATUS NAME -- ARGUMENTS…: the exit status.
is() {
	want=$1 name=$2
	shift 3
	lh "$@"
	got=$?
	[ $got = "$want" ] || echo "status $got, wanted $want" >>"$tmp/err"
	[ $got = "$want" ]
	ok $? "$name"
}

# holds EXPRESSION NAME: in Python, of the documents on stdout: d is the list
# of them, one a line.
holds() {
	python3 - "$tmp/out" "$1" 2>>"$tmp/err" <<-'END'
		import json, sys
		d = [json.loads(l) for l in open(sys.argv[1], encoding="utf-8")]
		sys.exit(0 if eval("(" + sys.argv[2] + ")") else 1)
	END
	ok $? "$2"
}

echo "TAP version 13"
echo '{ "version": 1 }' >good.json
echo '{ "version": 1, "read_only_roots": ["/no/such/place"] }' >warn.json
echo '{ "version": 1, "nmae": "x", "mode": "enforced" }' >bad.json
printf '{ "version": 1, "\303\244\\u202e": [\t1] }' >odd.json

# Statuses.
is 0 "nothing to say" -- check ./good.json
is 4 "only warnings" -- check ./warn.json
is 1 "errors" -- check ./bad.json
is 1 "an error after a good file" -- check ./good.json ./bad.json
is 1 "an error before a good file" -- check ./bad.json ./good.json
is 4 "a warning before a good file" -- check ./warn.json ./good.json
is 1 "an error before a warning" -- check ./bad.json ./warn.json
grep -q '^./bad.json:.*error:' "$tmp/err" &&
	grep -q '^./warn.json:.*warning:' "$tmp/err"
ok $? "and each file was looked at"
is 1 "an absent file does not end the check" -- check ./none.json ./warn.json
grep -q '^./warn.json:.*warning:' "$tmp/err"
ok $? "and the next one was looked at"
is 0 "a warning is no error for compile" -- compile ./warn.json -o "$tmp/image"
for name in agent build reader test worktree; do
	is 0 "$name is not warned of" -- check "$name"
done

# JSON.
lh check --json ./good.json
holds 'd == [{"file": "./good.json", "ok": True, "errors": 0, "warnings": 0,
	"diagnostics": []}]' "a good file in JSON"
lh check --json ./bad.json
holds 'd[0]["ok"] is False and d[0]["errors"] == 2 and
	d[0]["diagnostics"][0] == {"severity": "error", "file": "./bad.json",
	"line": 1, "column": 17, "end_column": 23, "pointer": "/nmae",
	"message": "unknown field; did you mean \"name\"?",
	"suggestion": "name"} and
	d[0]["diagnostics"][1]["suggestion"] == "enforce"' "errors in JSON"
[ ! -s "$tmp/err" ]
ok $? "and nothing beside it"
lh check --json ./warn.json ./none.json ./good.json
holds '[x["file"] for x in d] ==
	["./warn.json", "./none.json", "./good.json"] and
	[x["ok"] for x in d] == [True, False, True] and
	d[0]["diagnostics"][0]["severity"] == "warning" and
	d[1]["diagnostics"][0]["line"] is None' "a line for each file"
lh check --json ./odd.json
holds 'd[0]["diagnostics"][0]["column"] == 17 and
	d[0]["diagnostics"][0]["end_column"] == 26 and
	"\u202e" not in str(d)' "odd characters are counted, and escaped"
lh check --json agnt
holds '"did you mean agent?" in d[0]["diagnostics"][0]["message"]' \
	"an unknown name in JSON"
for command in "compile -o $tmp/image" show "explain"; do
	# shellcheck disable=SC2086 # words
	case $command in
	explain) lh explain ./bad.json read /x --json ;;
	*) lh $command ./bad.json --json ;;
	esac
	[ $? = 1 ] && [ ! -s "$tmp/err" ]
	ok $? "${command%% *} --json fails"
	holds 'len(d) == 1 and d[0]["ok"] is False and d[0]["errors"] == 2' \
		"${command%% *} --json says why"
done
cat >swallowed.json <<-'END'
	{ "version": 1, "process_sandbox": { "read_roots": ["~/.ssh"] } }
END
lh compile --json ./swallowed.json -o "$tmp/image"
holds 'd[0]["ok"] and d[0]["warnings"] == 1 and d[0]["image"].endswith("image")
	and len(d[0]["hash"]) == 64' "compile --json says what it made"
{
	printf '{ "version": 1, "environment": { "set": { "TOKEN": '
	printf '"s3cr3t" }, "mod": "x" } }'
} >secret.json
is 1 "an error beside a secret" -- check ./secret.json
! grep -q s3cr3t "$tmp/err"
ok $? "does not show it"

# Words.
said() {
	want=$1
	shift
	lh "$@"
	grep -qF -- "$want" "$tmp/err"
	ok $? "$* says: $want"
}
said 'did you mean agent?' check agnt
said 'did you mean worktree?' explain wroktree read /x
said 'did you mean check?' chekc ./good.json
said 'did you mean --workspace?' --workspce x check ./good.json
said 'did you mean --json?' check --jsn ./good.json
said '--json takes no value' check --json=1 ./good.json
said 'unrecognized option -q' check -q ./good.json
said 'no policy is called zzz: there is none in /etc/lh/policies, and' check zzz
is 2 "a wrong option is wrong usage" -- check --frob ./good.json
lh check --home
[ $? = 2 ] || [ -s "$tmp/err" ]
ok $? "an option without its value"
(cd "$tmp/h" && "$policy" check agent --home "$tmp/h" >"$tmp/out" \
	2>"$tmp/err")
[ $? = 1 ] && grep -q 'is a home directory; go to the project or name it with -C DIR' \
	"$tmp/err"
ok $? "in a home directory, what to do"

# Colour is for terminals.
is 1 "no colour in a pipe" -- check ./bad.json
! grep -q "$(printf '\033')" "$tmp/err"
ok $? "and none was there"
coloured() {
	TERM=xterm env "$@" script -qec "$policy check ./bad.json" /dev/null \
		>"$tmp/out" 2>"$tmp/err" </dev/null
	grep -q "$(printf '\033')\\[1;31m" "$tmp/out"
}
coloured LANG=C
ok $? "colour on a terminal"
! coloured NO_COLOR=1
ok $? "unless NO_COLOR is set"

echo "1..$count"
exit $failed
