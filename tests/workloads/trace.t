#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# trace.t: a session leaves no trace, inside a guest. Before and after each way
# in which one can end, everything is listed: the workspace and the home with
# all that stat tells, and what there is in /tmp, /dev/shm, /run, the cgroups
# and bpffs. Denied, protected and read-only names of the policy are absent: no
# stub holds their place.
set -u

# shellcheck source=tests/workloads/tap.sh
. "$(dirname "$0")/tap.sh"
tool=$PWD/tests/workloads/trace.py
base=$(mktemp -d /var/tmp/trace.XXXXXX) || exit 1
chmod 755 "$base"
mkdir "$base/log"
home=/tmp/home-lh-test
ws=$base/ws
cache=$ws/.lh-toolchain-cache
cat >"$base/policy.json" <<'END'
{ "version": 1, "name": "trace", "workspace_roots": ["${WORKSPACE}"],
  "read_only_roots": ["?${WORKSPACE}/vendor", "${WORKSPACE}/no/such/ro"],
  "process_sandbox": { "read_deny_roots": ["${WORKSPACE}/secret",
    "${WORKSPACE}/no/such/secret", "~/private", "${WORKSPACE}/dir/file"] },
  "protect": { "add": ["deploy/keys", ".git/hooks/late"] },
  "limits": { "grace": "200ms" } }
END
sed 's/"name"/"side_effect_level": "read_only", &/
	s,"\${WORKSPACE}/no/such/ro","?&,; s,"?","?,' "$base/policy.json" \
	>"$base/reads.json"
sed 's/"version"/"vresion"/' "$base/policy.json" >"$base/wrong.json"
sed 's,"?\${WORKSPACE}/vendor","/no/such",' "$base/policy.json" \
	>"$base/missing.json"

mkdir -p "$ws"/{dir/sub,.vscode,.git/{objects,refs/heads},sticky} $home/.config
echo 'ref: refs/heads/main' >"$ws/.git/HEAD"
echo '[core]' >"$ws/.git/config"
echo x >"$ws/dir/file"
echo x >"$ws/.envrc"
echo '{}' >"$ws/.vscode/tasks.json"
printf '#!/no/such/interpreter\n' >"$ws/no-interpreter"
chmod 755 "$ws/no-interpreter"
ln "$ws/dir/file" "$ws/hard"
ln -s dir/file "$ws/link"
ln -s nowhere "$ws/dangling"
mkfifo "$ws/fifo"
chmod 1700 "$ws/sticky"
chmod 000 "$ws/.envrc"
chmod 600 "$ws/dir/file"
echo '[user]' >$home/.gitconfig
chown -hR lh-test: "$base" $home
chown root: "$base"
find "$ws" $home -exec touch -h -d @1000000000.123456789 {} +

places=(whole:"$ws" whole:"$home" names:/tmp names:/dev/shm names:/run
	names:/sys/fs/cgroup names:/sys/fs/bpf)
take()
{
	python3 -IS "$tool" take "${places[@]}" >"$base/before"
}

# $1: what; the rest: what may differ. The cache comes and goes, and the time
# of that change cannot be set back.
same()
{
	python3 -IS "$tool" diff "$base/before" "${places[@]}" -- \
		ctime:"$ws" "${@:2}" >"$base/diff" 2>&1
	result $? "no trace after $1" "$base/diff" "$base/said"
	rm -rf "$cache"
	touch -d @1000000000.123456789 "$ws"
}

# Under $policy, with records to $denials if there is such.
session()
{
	"$B/lh-supervise" --policy "$policy" ${denials:+--denials "$denials"} \
		--user "${user:-lh-test}" -C "$ws" "$@" >"$base/said" 2>&1 </dev/null
}

# $1: the status that must come; $2: what; the rest: of lh-supervise
ends()
{
	session "${@:3}"
	local status=$?
	[ $status = "$1" ]
	result $? "$2 (status $status)" "$base/said"
	cp "$base/said" "$base/said.last"
	same "$2"
}

# $1: what its words say; the rest as ends
refuses()
{
	ends 125 "${@:2}"
	grep -q "$1" "$base/said.last"
	result $? "and it says so" "$base/said.last"
}

# One in the background, until its command runs.
start()
{
	rm -f "$base/log/runs"
	mkfifo -m 666 "$base/log/runs"
	exec 7<>"$base/log/runs"
	"$B/lh-supervise" --policy "$base/policy.json" --user lh-test \
		-C "$ws" --denials "$base/log/d" --rw "$base/log/runs" -- \
		sh -c 'mkdir "$TMPDIR/x"; echo "$$" >"$0"; exec sleep 1000' \
		"$base/log/runs" >"$base/said" 2>&1 </dev/null &
	supervisor=$!
	read -r -t 120 -u 7 command || exit 1
	keeper=$(ps -o pid=,comm= --ppid $supervisor |
		sed -n 's/ *lh-keeper$//p')
}

# Until process $1 is gone.
gone()
{
	tail --pid="$1" -s 0.1 -f /dev/null
}

policy=$base/policy.json
denials=$base/log/d
session -- true		# the engine, /run/lh and the parent cgroup
rm -rf "$cache"
touch -d @1000000000.123456789 "$ws"
take

ends 0 "a command that does nothing" -- true
ends 3 "a command that fails" -- sh -c 'exit 3'
ends 137 "a command that is killed" -- sh -c 'kill -9 $$'
ends 0 "what is absent is asked for" -- sh -c '
	cat secret no/such/secret deploy/keys ~/private vendor 2>/dev/null
	mkdir -p no/such/secret; mkdir secret; mkdir deploy && rmdir deploy
	rmdir no/such no; echo x >dir/file; mkdir .git/hooks
	touch -d @1000000000.123456789 .; true'
ends 0 "a child is left running" -- sh -c 'sleep 1000 & true'
ends 124 "the wall time is over" --timeout 500ms -- sleep 1000
policy=$base/reads.json
ends 0 "a policy that only reads" -- true
policy=$base/policy.json
denials=
ends 0 "no denials file is named" -- sh -c 'cat dir/file 2>/dev/null; true'
denials=$base/log/d

session -- sh -c 'echo new >made; mkdir -p "$XDG_CACHE_HOME/x"'
result $? "a command writes" "$base/said"
[ -e "$cache/.gitignore" ]
result $? "the cache stays where something was put into it" "$base/said"
same "what a command wrote itself" "$ws/made" "$ws" "$cache" "$cache/*"
rm -f "$ws/made"
touch -d @1000000000.123456789 "$ws"
take

policy=$base/wrong.json
refuses vresion "a policy that is wrong" -- true
policy=$base/missing.json
refuses /no/such "a policy whose root is missing" -- true
policy=/no/such.json
refuses /no/such.json "a policy that is not there" -- true
policy=$base/policy.json
denials=$ws/d
refuses "$ws/d" "records into the workspace" -- true
denials=$base/log/d
refuses "$ws/r" "a result into the workspace" --result "$ws/r" -- true
refuses no-such-option "an option that is none" --no-such-option -- true
user=no-such-user
refuses no-such-user "no such user" -- true
user=
ends 127 "no such command" -- no-such-command
ends 126 "a command that is none" -- /etc/passwd
ends 126 "an interpreter that is missing" -- ./no-interpreter

start
kill -TERM $supervisor
wait $supervisor
same "SIGTERM"

start
kill -KILL $supervisor
wait $supervisor 2>/dev/null
gone "$keeper"
same "kill -9 of the supervisor"

start
kill -KILL "$keeper"
wait $supervisor
same "kill -9 of the keeper"

start
kill -STOP "$keeper"
kill -KILL $supervisor "$keeper"
wait $supervisor 2>/dev/null
session -- true
same "kill -9 of both, and the next start"
kill -0 "$command" 2>/dev/null
[ $? = 1 ]
result $? "and its command is gone" "$base/said"

# At any moment of a start; the next one has all to clear up.
for delay in 0.05 0.1 0.2 0.3 0.4 0.6; do
	"$B/lh-supervise" --policy "$base/policy.json" --user lh-test \
		-C "$ws" --denials "$base/log/d" -- true \
		>"$base/said" 2>&1 </dev/null &
	supervisor=$!
	sleep $delay
	mapfile -t children < <(ps -o pid= --ppid $supervisor)
	kill -KILL $supervisor "${children[@]}" 2>/dev/null
	wait $supervisor 2>/dev/null
done
session -- true
same "kill -9 at some moments of the start, and the next"
echo "1..$n"
rm -rf "$base"
