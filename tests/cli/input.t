#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# What lh-supervise reads before it needs the kernel: bad policies, odd files,
# commands that cannot be, directories. One clear line, the right status, and
# nothing started.
set -u
# shellcheck source=tests/cli/tap.sh
. "$(dirname "$0")/tap.sh"

p=$tmp/p.json
good='{ "version": 1 }'

refuses 125 'No such file' 'a policy that is missing' \
	"$lh" --policy ./none.json -- true
refuses 125 'no policy is called none' 'a name that is none' \
	"$lh" --policy none -- true
refuses 125 'did you mean agent?' 'a name that is misspelt' \
	"$lh" --policy agnt -- true
printf '%s' "$good" >"$tmp/ws/mine"
refuses 125 'write ./mine' 'a name is not looked up in the workspace' \
	"$lh" --policy mine -- true
: >"$p"
refuses 125 'p.json' 'an empty policy' "$lh" --policy "$p" -- true
printf '{ "version": 1, "name"' >"$p"
refuses 125 'p.json:1:' 'a truncated one' "$lh" --policy "$p" -- true
head -c 10485760 /dev/zero | tr '\0' ' ' >"$p"
refuses 125 'p.json' 'one of 10 MB' "$lh" --policy "$p" -- true
python3 -c 'print("[" * 10000 + "]" * 10000)' >"$p"
refuses 125 'p.json' 'one that is 10,000 deep' "$lh" --policy "$p" -- true
printf '{ "version": "1", "limits": 3 }' >"$p"
refuses 125 '/limits' 'wrong types' "$lh" --policy "$p" -- true
[ "$(grep -c 'p.json:1:' "$tmp/said")" = 2 ]
ok $? 'each of them in a line of its own'
refuses 125 'policy' 'a policy that is a directory' "$lh" --policy / -- true
refuses 125 'neither a regular file nor a pipe' 'a device' \
	"$lh" --policy /dev/null -- true
mkfifo "$tmp/fifo"
run timeout 20 "$lh" --policy "$tmp/fifo" --dry-run -- true
[ "$status" = 125 ]
ok $? 'a FIFO that nobody writes to is not waited for'
run sh -c "echo '$good' | '$lh' --policy /dev/fd/3 --dry-run -- true 3<&0"
[ "$status" = 0 ]
ok $? 'a policy may come through a pipe'
printf '%s' "$good" >"$p"
ln -s p.json "$tmp/link.json"
works 'or a symbolic link' "$lh" --policy "$tmp/link.json" --dry-run -- true

# Images.
works 'an image is made' "$tmp/lh-policy" compile "$p" -o "$tmp/image"
works 'and taken' "$lh" --policy "$tmp/image" --dry-run -- true
head -c 100 "$tmp/image" >"$tmp/short"
refuses 125 'short' 'a truncated image' "$lh" --policy "$tmp/short" -- true
python3 -c 'import sys
b = bytearray(open(sys.argv[1], "rb").read())
b[8] += 1
open(sys.argv[2], "wb").write(b)' "$tmp/image" "$tmp/foreign"
refuses 125 'ABI' 'an image of a foreign ABI' \
	"$lh" --policy "$tmp/foreign" -- true
python3 -c 'import sys
b = bytearray(open(sys.argv[1], "rb").read())
b[-9] ^= 1
open(sys.argv[2], "wb").write(b)' "$tmp/image" "$tmp/damaged"
refuses 125 'damaged' 'a damaged image' "$lh" --policy "$tmp/damaged" -- true

# Commands and directories.
refuses 127 'nosuch' 'a command that is not there' \
	"$lh" --dry-run -- nosuchcommand
refuses 127 'nosuch' 'also by a path' "$lh" --dry-run -- ./nosuch
refuses 127 '' 'an empty command' "$lh" --dry-run -- ''
refuses 126 '/etc/passwd' 'one that is not executable' \
	"$lh" --dry-run -- /etc/passwd
refuses 126 '/etc' 'a directory' "$lh" --dry-run -- /etc
refuses 125 '--cwd' 'a working directory that is not there' \
	"$lh" -C ./nosuch --dry-run -- true
refuses 125 '--cwd' 'one that is a file' "$lh" -C /etc/passwd --dry-run -- true
refuses 125 '' 'the workspace may not be /' "$lh" -C / --dry-run -- true
refuses 125 'no such user' 'a user that is none' \
	"$lh" --user nosuchuser --dry-run -- true

# The working directory is the workspace, and where flags start from.
mkdir "$tmp/ws/sub"
works 'a root of the command line' "$lh" -C sub --dry-run --ro .. -- true
grep -q " $tmp/ws/sub  (/workspace_roots/0)" "$tmp/printed" &&
	grep -q " $tmp/ws  (flag:--ro" "$tmp/printed"
ok $? 'is relative to -C'

# The environment: names only, and nothing secret by itself.
run env GITHUB_TOKEN=hush PLAIN=loud "$lh" --dry-run --env PLAIN \
	--env NEW=value -- true
grep -q '^environment.* PLAIN' "$tmp/printed" &&
	grep -q '^environment.* NEW' "$tmp/printed" &&
	! grep -qE 'GITHUB_TOKEN|hush|loud|value' "$tmp/printed"
ok $? 'variables pass by name, and no value is printed'
run env GITHUB_TOKEN=hush "$lh" --dry-run --env GITHUB_TOKEN -- true
grep -q 'GITHUB_TOKEN' "$tmp/printed"
ok $? 'a secret passes when it is named'
printf '{ "version": 1 }' >"$p"
pass='"environment": { "mode": "isolated", "pass": ["MINE"] }'
passes=$(ceiling os_hardened | sed "s/ }\$/, $pass }/")
if [ "$(id -u)" = 0 ]; then
	run under "$passes" env MINE=x OTHER=y "$lh" --policy "$p" --dry-run \
		--env MINE --env OTHER -- true
	[ "$status" = 0 ] && grep -q '^environment.* MINE' "$tmp/printed" &&
		! grep -q '^environment.* OTHER' "$tmp/printed"
	ok $? 'what a ceiling does not pass, --env does not either'
	refuses 125 'holds the credential list' 'a ceiling holds it' under \
		"$(ceiling os_hardened)" "$lh" --policy "$p" --dry-run \
		--allow-credential /etc/shadow -- true
	run under "$(ceiling unrestricted)" "$lh" --policy "$p" --dry-run \
		--allow-credential /etc/shadow -- true
	[ "$status" = 0 ]
	ok $? 'unless it permits runs without a sandbox'
fi

# A file of variables: from where we were started, with the user's rights.
printf '# two\nONE=first\nTWO=second\n' >"$tmp/ws/two.env"
run "$lh" --dry-run -C sub --env-file two.env -- true
[ "$status" = 0 ] && grep -q '^environment.* ONE' "$tmp/printed" &&
	grep -q '^environment.* TWO' "$tmp/printed" &&
	! grep -qE 'first|second' "$tmp/printed"
ok $? '--env-file sets what is in it, and shows no value'
cp "$tmp/ws/two.env" "$tmp/ws/\$HOME.env"
run "$lh" --dry-run --env-file "\$HOME.env" -- true
[ "$status" = 0 ] && grep -q '^environment.* ONE' "$tmp/printed"
ok $? 'its name is taken as it stands'
refuses 125 'none.env' 'one that is missing' \
	"$lh" --dry-run --env-file none.env -- true
refuses 125 'neither a regular file' 'one that is a directory' \
	"$lh" --dry-run --env-file sub -- true
printf 'ONE=hush\nnonsense hush\n' >"$tmp/ws/bad.env"
refuses 125 'bad.env' 'one with a line that is none' \
	"$lh" --dry-run --env-file bad.env -- true
! grep -q hush "$tmp/said"
ok $? 'whose text is not shown'
printf 'ONE=hush\n' >"$tmp/out/secret.env"
ln -s ../out/secret.env "$tmp/ws/link.env"
refuses 125 'leads to' 'one that a session may have linked to another' \
	"$lh" --dry-run --env-file link.env -- true
ln -sf two.env "$tmp/ws/link.env"
works 'a link to one beside it' "$lh" --dry-run --env-file link.env -- true
head -c 2000000 /dev/zero | tr '\0' '#' >"$tmp/ws/big.env"
refuses 125 'big.env' 'one of 2 MB' \
	"$lh" --dry-run --env-file big.env -- true
run "$lh" --dry-run -v -- true
grep -q 'D.. /etc/shadow ' "$tmp/printed" &&
	run "$lh" --dry-run -v --allow-credential /etc/shadow -- true &&
	[ "$status" = 0 ] && ! grep -q 'D.. /etc/shadow ' "$tmp/printed" &&
	grep -q 'D.. /etc/gshadow ' "$tmp/printed"
ok $? '--allow-credential lifts one entry'
refuses 125 'no entry of the credential list' 'and nothing else' \
	"$lh" --dry-run --allow-credential /usr -- true
printf '{ "version": 1, "environment": { "mode": "inherited" } }' >"$p"
run env GITHUB_TOKEN=hush PLAIN=x "$lh" --policy "$p" --dry-run -- true
grep -q 'PLAIN' "$tmp/printed" && ! grep -q TOKEN "$tmp/printed"
ok $? 'inherited passes all but what looks secret'
printf '{ "version": 1, "environment": { "mode": "granted" } }' >"$p"
run env PLAIN=x "$lh" --policy "$p" --dry-run -- true
! grep -qE 'environment.* (PATH|HOME|PLAIN)' "$tmp/printed"
ok $? 'granted passes nothing'

# Who asks.
if [ "$(id -u)" = 0 ]; then
	refuses 125 'must be started by root' 'not without root' \
		as_nobody "$lh" -- true
	works 'but for --dry-run' as_nobody "$lh" --dry-run -- true
	refuses 125 'only root' 'nobody else is played at' \
		as_nobody "$lh" --user root --dry-run -- true
	cp "$lh" "$tmp/setuid"
	chmod 4755 "$tmp/setuid"
	if as_nobody grep -q '^CapPrm.*f' /proc/self/status ||
		! as_nobody sh -c "'$tmp/setuid' -- true 2>&1" |
		grep -q 'setuid or setgid\|started by root'; then
		ok 1 'a setuid copy is refused'
	else
		ok 0 'a setuid copy is refused'
	fi
	rm -f "$tmp/setuid"
	printf 'TOPSECRET' >"$tmp/secret"
	chmod 600 "$tmp/secret"
	refuses 125 'Permission denied' "root's file is not read for a user" \
		env SUDO_UID=65534 SUDO_GID=65534 "$lh" \
		--policy "$tmp/secret" -- true
	! grep -q TOPSECRET "$tmp/said"
	ok $? 'nor shown'
	refuses 125 'Permission denied' 'nor as a file of variables' \
		env SUDO_UID=65534 SUDO_GID=65534 "$lh" \
		--env-file "$tmp/secret" -- true
	printf '{ "version": 1, "env_files": ["%s"] }' "$tmp/secret" >"$p"
	refuses 125 'Permission denied' 'nor one that the policy names' \
		env SUDO_UID=65534 SUDO_GID=65534 "$lh" --policy "$p" -- true
	! grep -q TOPSECRET "$tmp/said"
	ok $? 'nor shown then'
	refuses 125 'Permission denied' 'nor is /proc of others' \
		env SUDO_UID=65534 SUDO_GID=65534 "$lh" \
		--policy /proc/1/environ -- true
	refuses 125 'not two numbers' 'a SUDO_UID that is none' \
		env SUDO_UID=x SUDO_GID=0 "$lh" -- true
	works 'a user by sudo' env SUDO_UID=65534 SUDO_GID=65534 "$lh" \
		--dry-run -- true
	grep -q '^user         nobody$' "$tmp/printed"
	ok $? 'is who the command runs as'
	refuses 125 'in no group that administers' 'and cannot say root' \
		env SUDO_UID=65534 SUDO_GID=65534 "$lh" --user root -- true
	works 'an administrator by sudo can' \
		env SUDO_UID=65534 SUDO_GID=0 "$lh" --user root --dry-run -- true
else
	refuses 125 'must be started by root' 'not without root' "$lh" -- true
	skip 'what a user may open' 'needs root'
fi

done_testing
