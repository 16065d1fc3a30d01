#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# lh-policy from outside: every file in bad/ is refused with exactly the words
# of its .err, every policy in good/, shipped or printed in the manual compiles,
# twice to the same bytes, and once more from what `show` prints.
#   tests/policy/check.t           run, TAP
#   tests/policy/check.t --update  write the .err files anew
set -u

top=$(cd "$(dirname "$0")/../.." && pwd)
here=$top/tests/policy
policy=${B:-build}/lh-policy
case $policy in /*) ;; *) policy=$top/$policy ;; esac
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
count=0
failed=0
unset KUBECONFIG DOCKER_CONFIG GNUPGHOME CARGO_HOME NETRC \
	AWS_SHARED_CREDENTIALS_FILE GOOGLE_APPLICATION_CREDENTIALS

# In a place and for a user that no machine has, so that messages are the same.
lh() {
	"$policy" "$@" -C /w --home /home/u --user u
}

# ok STATUS NAME: one line of TAP; what lies in $tmp/why explains a failure.
ok() {
	count=$((count + 1))
	if [ "$1" = 0 ]; then
		echo "ok $count - $2"
	else
		echo "not ok $count - $2"
		[ -s "$tmp/why" ] && sed 's/^/# /' "$tmp/why"
		failed=1
	fi
	: >"$tmp/why"
}

# refuses STATUS WORDS NAME -- COMMAND…: that status, nothing on stdout, and
# one message on stderr, that has the words; its line of the file may follow.
refuses() {
	want=$1 words=$2 name=$3
	shift 4
	timeout 20 "$@" >"$tmp/out" 2>"$tmp/why" </dev/null
	got=$?
	[ "$got" = "$want" ] && [ ! -s "$tmp/out" ] &&
		[ "$(grep -vc '^ *[0-9]* | ' "$tmp/why")" = 1 ] &&
		grep -qF -- "$words" "$tmp/why"
	status=$?
	[ $status = 0 ] || echo "status $got, wanted $want: $words" >>"$tmp/why"
	ok $status "$name"
}

if [ "${1-}" = --update ]; then
	cd "$here/bad" || exit 1
	for f in *.json; do
		lh check "$f" 2>"${f%.json}.err" >/dev/null
	done
	exit 0
fi

echo "TAP version 13"
cd "$here/bad" || exit 1
for f in *.json; do
	timeout 20 "$policy" check -C /w --home /home/u --user u "$f" \
		>"$tmp/out" 2>"$tmp/err" </dev/null
	status=$?
	diff -u "${f%.json}.err" "$tmp/err" >"$tmp/why" 2>&1 &&
		[ $status = 1 ] && [ ! -s "$tmp/out" ] && [ -s "$tmp/err" ]
	ok $? "bad/$f is refused as its .err says"
done

! grep -l s3cr3t ./*.err >"$tmp/why"
ok $? "no .err has the value of a variable"

# The manual's blocks of JSON are policies too.
awk -v dir="$tmp" '
	/^\.Bd -literal/ { n++; next }
	/^\.Ed/ { file = "" }
	/^\.\\" Not enforced yet/ { later = "-later" }
	n && /^{/ { file = dir "/manual" n later ".json"; later = "" }
	file { gsub(/\\e/, "\\"); print > file }
	/^}/ { file = "" }' "$top/policy-compiler/lh-policy.5"
ls "$tmp"/manual*.json >/dev/null 2>"$tmp/why"
ok $? "the manual shows policies"

# What check --json says on stdin is that of the language nothing is wrong, but
# something does not work yet: when it does, its mark here has to go.
only_later() {
	python3 -c 'import json, sys
errors = [d["message"] for d in json.load(sys.stdin)["diagnostics"]
          if d["severity"] == "error"]
wrong = [m for m in errors if not m.startswith("not enforceable by this build")]
print(*wrong, sep="\n", end="", file=sys.stderr)
sys.exit(not errors or bool(wrong))'
}

# From a file, from the same file again, and from what show prints of it,
# under the same name: one image.
mkdir "$tmp/shown"
for f in "$here"/good/*.json "$top"/policy-compiler/policies/*.json \
	"$top"/examples/*.json "$tmp"/manual*.json; do
	name=$(basename "$f")
	cd "$(dirname "$f")" || exit 1
	case $f in
	*/manual*-later.json)
		lh check --json "$name" | only_later 2>"$tmp/why" &&
			lh show "$name" 2>>"$tmp/why" | grep -q '"version": 1,'
		ok $? "$name is right, and not enforceable by this build"
		continue ;;
	esac
	lh check "$name" >"$tmp/why" 2>&1
	[ $? -eq "$([ -s "$tmp/why" ] && echo 4 || echo 0)" ] &&
		! grep -q 'error:' "$tmp/why"
	ok $? "$name has no errors"
	lh compile "$name" -o "$tmp/1" 2>>"$tmp/why" &&
		lh compile "$name" -o "$tmp/2" 2>>"$tmp/why" &&
		cmp "$tmp/1" "$tmp/2" 2>>"$tmp/why"
	ok $? "$name compiles to the same bytes twice"
	grep -q '"set": *{ *"' "$name" && continue
	# These are the same policy, whose rules have other names.
	grep -qE '"(policy|mounts)":' "$name" && continue
	lh show "$name" >"$tmp/shown/$name" 2>>"$tmp/why" &&
		cd "$tmp/shown" &&
		lh compile "$name" -o "$tmp/2" 2>>"$tmp/why" &&
		cmp "$tmp/1" "$tmp/2" 2>>"$tmp/why" &&
		lh show "$tmp/1" 2>>"$tmp/why" |
			cmp - "$tmp/shown/$name" 2>>"$tmp/why"
	ok $? "$name is the same image again from what show prints"
done

cd "$tmp" || exit 1
cat >set.json <<-'END'
	{ "version": 1, "environment": { "set": { "TOKEN": "s3cr3t" } } }
END
lh show set.json >shown.json 2>why && ! grep -q s3cr3t shown.json &&
	grep -q '"TOKEN": null' shown.json
ok $? "show prints no value of a variable"
refuses 1 "/environment/set/TOKEN: the value was withheld" \
	"a withheld value is not taken for a value" -- \
	"$policy" check shown.json

# Input that is no policy.
refuses 1 "none.json: error: No such file" "a missing file" -- \
	"$policy" check ./none.json
refuses 1 "no policy is called nobody" "an unknown name" -- \
	"$policy" check nobody
refuses 1 "cannot be read: Is a directory" "a directory" -- \
	"$policy" check ./
mkfifo fifo
refuses 1 "./fifo: error: is empty" "a FIFO that nobody writes" -- \
	"$policy" check ./fifo
(sleep 0.2; cat "$here/good/minimal.json") | lh check - 2>why
ok $? "a pipe that is slow"
(sleep 0.2; cat "$here/good/minimal.json") | lh check /dev/stdin 2>>why
ok $? "a slow pipe by its name"
head -c 10000000 /dev/zero | tr '\0' ' ' >big.json
refuses 1 "larger than 1048576 bytes" "10 MB" -- "$policy" check big.json
(cat "$here/good/minimal.json"; head -c 1048576 /dev/zero | tr '\0' '\n') \
	>big.json
refuses 1 "larger than 1048576 bytes" "a little too large" -- \
	"$policy" check big.json
(head -c 1048500 /dev/zero | tr '\0' '\n'; cat "$here/good/minimal.json") \
	>big.json
lh check big.json 2>why
ok $? "as large as it may be"
# limit NAME MESSAGE N BEFORE EACH BETWEEN AFTER: N times EACH, in which # is a
# number from 0, is one too many; with one less it is not.
limit() {
	for n in $(($3 - 1)) "$3"; do
		awk -v n="$n" -v a="$4" -v each="$5" -v sep="$6" -v z="$7" '
			BEGIN {
				printf "{\"version\":1,%s", a
				for (i = 0; i < n; i++) {
					s = each
					gsub(/#/, i, s)
					printf "%s%s", i ? sep : "", s
				}
				print z "}"
			}' >"limit$((n < $3)).json"
	done
	timeout 20 "$policy" check limit0.json -C /w --home /home/u --user u \
		>out 2>why
	[ $? = 1 ] && grep -q "error:.*$2" why && [ ! -s out ]
	ok $? "$1: one too many"
	timeout 20 "$policy" check limit1.json -C /w --home /home/u --user u \
		>out 2>why
	! grep -q "$2" why
	ok $? "$1: as many as there may be"
}
limit roots 'more than 16384 roots' 16385 '"workspace_roots":[' \
	'"/x/#"' , ']'
limit names 'more than 4096 names' 4096 '' '"k#":1' , ''
limit values 'more than 65536 values' 65534 '"workspace_roots":[' '#' , ']'
limit depth 'nested more than 16 deep' 16 '"a":' '[' '' \
	']]]]]]]]]]]]]]]]'
limit string 'string of more than 65536 bytes' 65537 '"description":"' \
	x '' '"'
limit 'path' 'longer than 4095 bytes' 2048 '"read_only_roots":["?/' \
	x / '"]'
limit 'name in a path' 'longer than 255 bytes' 256 \
	'"read_only_roots":["?/' x '' '"]'
limit "policy's name" 'a name is 1 to 64' 65 '"name":"' x '' '"'
limit variables 'more than 1024 variables' 1025 \
	'"environment":{"pass":[' '"V#"' , ']}'
limit "a variable's name" 'no name of a variable' 256 \
	'"environment":{"pass":["' V '' '"]}'
limit 'files of variables' 'more than 64 files of variables' 65 \
	'"env_files":[' '"/no/such/#"' , ']'
limit ports 'more than 1024 ports' 1025 \
	'"process_sandbox":{"loopback_ports":[' '"1#"' , ']}'
limit 'rules of egress' 'more than 4096 rules' 4097 \
	'"side_effect_level":"network","egress":{"allow":[' '"1::#"' , ']}'
limit 'protected names' 'more than 256 protected names' 257 \
	'"protect":{"add":[' '"p/#"' , ']}'
awk 'BEGIN { printf "{\"version\":1,\"workspace_roots\":["
	for (i = 0; i < 60000; i++) printf "%d,", i
	print "0]}" }' >many.json
timeout 5 "$policy" check many.json >out 2>err
[ $? = 1 ] && [ ! -s out ] &&
	[ "$(grep -c error: err)" = 100 ] &&
	[ "$(wc -l <err)" -le 301 ] && tail -n 1 err | grep -q ' more$'
ok $? "errors without end are cut short and counted"
printf '{"version":1,"na\\u001bme\\u202e":1}' >esc.json
"$policy" check esc.json 2>err
grep -qF 'na\x1bme\xe2\x80\xae' err
ok $? "what is quoted cannot reach the terminal raw"

# The workspace.
refuses 1 "directory is /; go to the project" "a workspace that is /" -- \
	"$policy" check worktree -C / --home /home/u --user u
refuses 1 "is a home directory; go to the project or name it with -C DIR" \
	"a workspace that is a home" -- \
	"$policy" check worktree -C /home/u --home /home/u --user u
refuses 1 "holds the home directory" "a workspace above a home" -- \
	"$policy" check worktree -C /home --home /home/u --user u
mkdir -p real/home && ln -s real/home link
refuses 1 "holds the home directory" "a home under another name" -- \
	"$policy" check worktree -C "$tmp/real/home" --home "$tmp/link" --user u
(mkdir ws && cd ws && "$policy" check worktree --home "$tmp" --user u) 2>why
ok $? "a directory below a home is fine"

# Where the environment moves credentials.
moved() {
	env "$1" "$policy" compile worktree -C /w --home /home/u --user u \
		-o moved 2>why && tr '\0' '\n' <moved | grep -qx "$2"
	ok $? "$1 denies $2"
}
moved KUBECONFIG=/a/k1:k2 /a/k1
moved KUBECONFIG=/a/k1:k2 /w/k2
moved DOCKER_CONFIG=/d /d/config.json
moved CARGO_HOME=c/../c2 /w/c2/credentials.toml
KUBECONFIG=/dev/null "$policy" explain worktree write /dev/null \
	-C "$tmp/ws" --home /home/u --user u >out 2>why
ok $? "KUBECONFIG=/dev/null leaves the device alone"
refuses 1 "GNUPGHOME: error: names /" "a moved place that is /" -- \
	env GNUPGHOME=/ "$policy" check worktree -C /w --home /home/u --user u

# Images.
lh compile worktree -o good.image 2>why
ok $? "an image is made"
lh check good.image 2>why && [ ! -s why ]
ok $? "an image checks"
cp good.image bad.image
printf 'x' | dd of=bad.image bs=1 seek=400 conv=notrunc 2>/dev/null
refuses 1 "damaged image: its hash does not match" "a changed image" -- \
	"$policy" show bad.image
head -c 1000 good.image >bad.image
refuses 1 "damaged image: size" "a cut image" -- "$policy" show bad.image
cp good.image bad.image
printf '\377\377' | dd of=bad.image bs=1 seek=8 conv=notrunc 2>/dev/null
refuses 1 "an image of ABI 65535, but this build has ABI" "a foreign ABI" -- \
	"$policy" explain bad.image read /etc/passwd
chmod 644 good.image
cp good.image old.image
refuses 1 "none/x" "an output that cannot be made" -- \
	"$policy" compile "$here/good/minimal.json" -o none/x -C /w
refuses 1 "unknown field" "an error leaves the output alone" -- \
	"$policy" compile "$here/bad/duplicate-free.json" -o good.image -C /w
cmp good.image old.image >why 2>&1
ok $? "and the old image is still there"
[ "$(find . -name '*.image.*' | wc -l)" = 0 ]
ok $? "no part of a file is left behind"
"$policy" show "$here/good/minimal.json" -C /w >/dev/full 2>why
[ $? = 1 ] && grep -q 'standard output: No space' why
ok $? "a full disk is noticed"

# Usage.
refuses 2 "no command" "no command" -- "$policy"
refuses 2 "no command is called frob" "an unknown command" -- "$policy" frob
refuses 2 "compile needs -o" "no output" -- "$policy" compile worktree
refuses 2 "no operation is called fly" "an unknown operation" -- \
	"$policy" explain worktree fly /x
refuses 2 "unrecognized option" "an unknown option" -- "$policy" --frob
refuses 1 "no user is called" "an unknown user" -- \
	"$policy" check worktree --user no-such-user-here
"$policy" --help | grep -q '^lh-policy: check'
ok $? "help goes to standard output"

# A verdict, with the rule and the status that say the same.
mkdir -p proj/sub home/.ssh && : >home/.ssh/id && : >proj/secret
cat >explain.json <<-'END'
	{ "version": 1, "read_only_roots": ["sub"],
	  "process_sandbox": { "read_deny_roots": ["secret", "later"] } }
END
mv explain.json proj
verdict() {
	want=$1 rule=$2
	shift 2
	"$policy" explain proj/explain.json -C "$tmp/proj" --home "$tmp/home" \
		--user u "$@" >out 2>why
	got=$?
	cat out >>why
	[ $got = "$want" ] && grep -qx "  rule    $rule" out
	ok $? "explain $* says $rule"
}
verdict 0 /workspace_roots/0 write file
verdict 0 /workspace_roots/0 create new/file
verdict 0 /workspace_roots/0 remove file
verdict 3 /read_only_roots/0 write sub/file
verdict 0 /read_only_roots/0 read sub/file
verdict 3 /process_sandbox/read_deny_roots/0 read secret
verdict 3 /process_sandbox/read_deny_roots/0 stat secret
verdict 3 /process_sandbox/read_deny_roots/1 create later
verdict 3 builtin:credentials/.ssh read "$tmp/home/.ssh/id"
verdict 3 builtin:credentials//etc/shadow read /etc/shadow
verdict 0 preset:system_runtime//etc read /etc/passwd
verdict 3 default write /etc/passwd
verdict 0 preset:system_runtime//dev/null write /dev/null
verdict 3 default list /
"$policy" explain reader exec /bin/sh -C "$tmp/proj" --json >out 2>why
[ $? = 3 ] && grep -q '"reason":"no_exec"' out &&
	grep -q '"rule":"/side_effect_level"' out
ok $? "explain --json says why reader runs nothing"

# What would turn the verdict on an address, tried before it is told.
cat >proj/net.json <<-'END'
	{ "version": 1, "side_effect_level": "network",
	  "egress": { "allow": ["192.0.2.7:443"], "deny": ["198.51.100.9"] } }
END
turns() {
	want=$1
	shift
	"$policy" explain "$@" -C "$tmp/proj" --home "$tmp/home" \
		--user u >why 2>&1
	grep -qxF "$want" why
	ok $? "explain $*: $want"
}
turns '  change  take /egress/allow/0 out of the policy ("192.0.2.7:443")' \
	proj/net.json connect 192.0.2.7:443
turns '  change  take /egress/deny/0 out of the policy ("198.51.100.9")' \
	proj/net.json connect 198.51.100.9:80
for to in 192.0.2.7:80 10.1.2.3:53 '[2001:db8::1]:80' udp/192.0.2.7:9; do
	turns "  change  add \"$to\" to /egress/allow, or --egress-allow $to" \
		proj/net.json connect "$to"
done
turns '  change  "side_effect_level": "network"' worktree connect 192.0.2.7:80
turns "  reason  a special range, which only a rule for addresses inside it \
opens" proj/net.json connect 10.1.2.3:53
turns '  change  take /process_sandbox/allow_loopback out of the policy' \
	worktree bind 127.0.0.1:0
turns '  reason  granted' worktree bind 127.0.0.1:0
turns "  change  its port in /process_sandbox/loopback_ports opens what the \
host has there, too" worktree connect 127.0.0.1:80
turns "  change  a root at or above it in /process_sandbox/unix_socket_roots \
opens what the host has there, too" worktree connect unix:/run/absent/socket
turns '  change  no policy decides it' worktree connect unix:@name
turns '  change  no policy grants a bind beyond loopback' \
	worktree bind 192.0.2.1:80

echo "1..$count"
exit $failed
