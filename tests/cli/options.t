#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The command line of lh-supervise: what it takes, what it refuses by name, and
# that the table, --help and the manual page say the same.
set -u
# shellcheck source=tests/cli/tap.sh
. "$(dirname "$0")/tap.sh"

refuses 125 'no command' 'no command is an error' "$lh"
refuses 125 'no command' 'nor is one after --' "$lh" --
refuses 125 'unknown option: --foo' 'an unknown option' "$lh" --foo -- true
refuses 125 'unknown option: --pol' 'no abbreviations' "$lh" --pol x -- true
refuses 125 'did you mean --read-only-root?' 'a slip of the fingers' \
	"$lh" --read-onyl-root /x -- true
run "$lh" --frobnicate -- true
! grep -q 'did you mean' "$tmp/said"
ok $? 'no suggestion where nothing is near'
refuses 125 'unknown option: -x' 'an unknown letter' "$lh" -qx -- true
refuses 125 'FILE|NAME is missing' 'a value that is missing' "$lh" --policy
refuses 125 'takes no value' 'a value too many' "$lh" --quiet=yes -- true
refuses 125 'the value is empty' 'an empty value' "$lh" --policy= -- true
refuses 125 'given twice' 'twice the same' \
	"$lh" --policy agent --policy agent -- true
refuses 125 'the path is empty' 'an empty root' "$lh" --rw= -- true
refuses 125 'the name is empty' 'a variable without a name' \
	"$lh" --env =x -- true
for time in x 0 -1 10y 1.5s 99999999999999999999 '' ' 5'; do
	refuses 125 'not a time' "--timeout '$time'" \
		"$lh" "--timeout=$time" -- true
done
for size in x 0 -1 12Q 99999999999999999999 ''; do
	refuses 125 'not a size' "--memory '$size'" \
		"$lh" "--memory=$size" -- true
done
for time in x 0 10y; do
	refuses 125 '--idle-timeout: not a time' "--idle-timeout '$time'" \
		"$lh" "--idle-timeout=$time" -- true
done
for n in x 0 -1 1.5 4194305 99999999999999999999 ''; do
	refuses 125 '--pids: not a number' "--pids '$n'" "$lh" "--pids=$n" -- true
done
for share in x 0% 50 -1% 100001% 1.5% ''; do
	refuses 125 '--cpu: no share of processors' "--cpu '$share'" \
		"$lh" "--cpu=$share" -- true
done
for flag in --allow-credential --egress-allow --loopback-port --publish-port \
	--env-file --policy-from; do
	refuses 125 "$flag: the value is empty" "$flag ''" "$lh" "$flag=" -- true
done
for flag in --allow-net --allow-process-network --allow-process-loopback \
	--no-sandbox; do
	refuses 125 "$flag: takes no value" "$flag=x" "$lh" "$flag=x" -- true
done

# What contradicts itself is not guessed at.
for flag in --rw=/x --ro=/x --deny=/x --write-root=/x --read-only-root=/x \
	--sandbox-write-root=/x --sandbox-read-root=/x --read-deny-root=/x \
	--allow-credential=/x --allow-net --allow-process-network \
	--allow-process-loopback --egress-allow=192.0.2.1 --loopback-port=1 \
	--publish-port=1 --sandbox-unix-socket-root=/x; do
	refuses 125 "--no-sandbox and ${flag%%=*}: " "--no-sandbox $flag" \
		"$lh" "$flag" --no-sandbox -- true
done
refuses 125 '--no-sandbox and --policy-from: ' '--no-sandbox --policy-from' \
	"$lh" --no-sandbox --policy-from x -- true
refuses 125 'one policy at a time' '--policy --policy-from' \
	"$lh" --policy agent --policy-from x -- true
refuses 125 'would be lost' '--capture without a result' \
	"$lh" --capture -- true
for fd in 0 1 2; do
	refuses 125 "the command's own" "--status-fd $fd" \
		"$lh" --status-fd $fd -- true
	refuses 125 "the command's own" "--keep-fd $fd" \
		"$lh" --keep-fd $fd -- true
done
for fd in -1 x 3x 99999999999; do
	refuses 125 'not a descriptor' "--status-fd $fd" \
		"$lh" "--status-fd=$fd" -- true
done
refuses 125 'Bad file descriptor' 'a descriptor that is closed' \
	"$lh" --dry-run --status-fd 99 -- true
refuses 125 'Bad file descriptor' 'keeping one that is closed' \
	"$lh" --dry-run --keep-fd 99 -- true
refuses 125 '--attach: not supported' '--attach is refused by name' \
	"$lh" --attach x -- true
for name in '' 'a b' 'a/b' "$(printf 'a\nb')" "$(printf '%065d' 0)"; do
	refuses 125 '--name: ' "--name '$name'" "$lh" "--name=$name" -- true
done
refuses 125 'status, load or unload' 'a verb of --engine that is none' \
	"$lh" --engine reload
refuses 125 'takes no command' '--engine with a command' \
	"$lh" --engine status true

# Nothing behind the first word that is no option is an option.
works 'options stop at the command' "$lh" --dry-run sh --foo --policy nope
works 'and at --' "$lh" --dry-run -- sh --no-sandbox
refuses 127 'file or directory' 'a command may start with a dash' \
	"$lh" --dry-run -- --foo
works 'values join by =' "$lh" --dry-run --policy=agent -- true
works 'a letter takes its value joined' "$lh" -q -C"$tmp" --dry-run -- true
works 'times' "$lh" --dry-run --timeout 1500ms -- true
grep -q '^wall time    1500ms$' "$tmp/printed"
ok $? 'a time is taken as it is said'
works 'a limit of processes' "$lh" --dry-run --pids 64 -- true
grep -q '^pids         64$' "$tmp/printed"
ok $? 'is taken as it is said'
works 'a share of processors' "$lh" --dry-run --cpu 150% -- true
grep -q '^cpu          150%$' "$tmp/printed"
ok $? 'is taken as it is said'
works 'sizes' "$lh" --dry-run --memory 2G -- true
grep -q '^memory       2G$' "$tmp/printed"
ok $? 'a size is taken as it is said'
works 'the version' "$lh" --version
grep -q '^lh-supervise [0-9.]* (abi [0-9]*)$' "$tmp/printed"
ok $? 'is on one line'

# What a session names must not reach the terminal as it is.
esc=$(printf '\033[31mred\r\n\302\233')
run "$lh" --policy "./$esc" -- true
! LC_ALL=C grep -q "$(printf '[\033\r\302]')" "$tmp/said" &&
	[ "$(wc -l <"$tmp/said")" = 1 ] && [ "$status" = 125 ]
ok $? 'escape sequences in a name come out escaped, on one line'

run "$lh" --help
[ "$status" = 0 ] && [ ! -s "$tmp/said" ]
ok $? '--help goes to stdout and succeeds'
grep -o -- '--[a-z][a-z-]*' "$tmp/printed" | sort -u >"$tmp/help"
grep -o '^\.It Fl .*' "$top/supervisor/lh-supervise.1" |
	grep -o 'Fl -[a-z][a-z-]*' | sed 's/Fl /-/' | sort -u >"$tmp/manual"
diff "$tmp/help" "$tmp/manual" >"$tmp/said"
ok $? 'the manual has each option of --help, and no other'

"$bin/lh-policy" --help >"$tmp/printed"
grep -o -- '--[a-z][a-z-]*' "$tmp/printed" | sort -u >"$tmp/help"
grep -o '^\.It Fl .*' "$top/policy-compiler/lh-policy.1" |
	grep -o 'Fl -[a-z][a-z-]*' | sed 's/Fl /-/' | sort -u >"$tmp/manual"
[ -s "$tmp/help" ] && diff "$tmp/help" "$tmp/manual" >"$tmp/said"
ok $? 'and so has that of lh-policy'

done_testing
