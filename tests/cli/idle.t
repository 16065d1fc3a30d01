#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# --idle-timeout: a session that writes nothing for so long is ended. For that
# its output goes by way of the supervisor, and nothing else of it may change:
# order, bytes, a reader who goes or never reads.
set -u
# shellcheck source=tests/cli/tap.sh
. "$(dirname "$0")/tap.sh"

needs_root
r=$tmp/out/r.json
printf '{ "version": 1, "limits": { "grace": "200ms" } }' >"$tmp/p.json"
start="$lh $how --policy $tmp/p.json --result $r"

idle() {
	# shellcheck disable=SC2086
	run timeout 300 $start --idle-timeout "$@"
}

idle 1s -- sleep 300
[ "$status" = 124 ] && json "$r" 'r["status"] == "idle" and r["timed_out"] and
	r["exit_code"] is None' && grep -q 'nothing was written' "$tmp/said"
ok $? 'who writes nothing is ended'
idle 1s -- sh -c 'trap "" TERM; while :; do sleep 300; done'
[ "$status" = 124 ] && json "$r" 'r["status"] == "idle"'
ok $? 'also one that does not listen'
# As long as it takes: a busy machine may be slow to hand it the signal.
printf '{ "version": 1, "limits": { "grace": "100s" } }' >"$tmp/p.json"
idle 1s -- sh -c 'trap "exit 5" TERM; echo some; while :; do sleep 0.1; done'
[ "$status" = 124 ] && [ "$(cat "$tmp/printed")" = some ] &&
	json "$r" 'r["status"] == "idle" and r["exit_code"] == 5'
ok $? 'it is asked first, and what it wrote before is passed on'
printf '{ "version": 1, "limits": { "grace": "200ms" } }' >"$tmp/p.json"
idle 6s -- sh -c 'for i in 1 2 3 4 5 6 7 8 9 10; do sleep 1; echo $i; done'
[ "$status" = 0 ] && [ "$(tr '\n' ' ' <"$tmp/printed")" = \
	'1 2 3 4 5 6 7 8 9 10 ' ] && json "$r" 'not r["timed_out"] and
	r["stdout"] is None'
ok $? 'who writes now and then is not'
idle 6s -- sh -c 'for i in 1 2 3 4 5 6 7 8 9 10; do sleep 1; echo $i >&2; done'
[ "$status" = 0 ] && grep -q '^10$' "$tmp/said"
ok $? 'on standard error too'
idle 300s --timeout 1s -- sleep 300
[ "$status" = 124 ] && json "$r" 'r["status"] == "timed_out"' &&
	grep -q 'the wall time is over' "$tmp/said"
ok $? 'the wall time holds besides'
idle 1s --capture -- sh -c 'echo some; sleep 300'
[ "$status" = 124 ] && json "$r" 'r["status"] == "idle" and
	r["stdout"] == "some\n"'
ok $? 'with --capture'
printf '{ "version": 1, "limits": { "grace": "0s", "idle_time": "1s" } }' \
	>"$tmp/i.json"
# shellcheck disable=SC2086
run timeout 300 "$lh" $how --policy "$tmp/i.json" --result "$r" -- sleep 300
[ "$status" = 124 ] && json "$r" 'r["status"] == "idle"'
ok $? 'said by the policy'

# By way of us, and as it was.
many='for i in $(seq 300); do echo $i; echo $((i + 1000)) >&2; done'
# shellcheck disable=SC2086
(cd "$tmp/ws" && timeout 300 $start --idle-timeout 60s -- sh -c "$many") \
	>"$tmp/out/both" 2>&1
grep -v '^lh-' "$tmp/out/both" >"$tmp/out/got"
sh -c "$many" 2>&1 | cmp -s - "$tmp/out/got"
ok $? 'two streams into one file keep their order'
idle 60s -- sh -c 'test -p /dev/stdout && echo a >/dev/stdout &&
	echo b >/proc/self/fd/1 && echo c >/dev/stderr'
[ "$status" = 0 ] && [ "$(tr '\n' ' ' <"$tmp/printed")" = 'a b ' ] &&
	grep -q '^c$' "$tmp/said"
ok $? 'they can be opened by their names'
idle 60s -- sh -c 'head -c 5000000 /dev/zero & head -c 5000000 /dev/zero >&2
	wait'
[ "$status" = 0 ] && [ "$(wc -c <"$tmp/printed")" = 5000000 ] &&
	[ "$(tr -cd '\000' <"$tmp/said" | wc -c)" = 5000000 ]
ok $? 'large output arrives whole'
# shellcheck disable=SC2086
(cd "$tmp/ws" && echo in | timeout 300 $start --idle-timeout 60s -- cat) \
	>"$tmp/printed" 2>"$tmp/said"
[ "$(cat "$tmp/printed")" = in ]
ok $? 'standard input is the caller'"'"'s'
idle 60s -- sh -c 'sleep 300 & setsid sleep 300 & echo started'
[ "$status" = 0 ] && [ "$(cat "$tmp/printed")" = started ] &&
	json "$r" 'r["resources"]["wall_ns"] < 60e9'
ok $? 'who is left behind is not waited for'

# Readers of all kinds: by python, which is given the start as words.
cat >"$tmp/reader.py" <<'END'
import os, signal, socket, subprocess, sys, time
how, start = sys.argv[1], sys.argv[2].split()
def session(*words, **more):
    return subprocess.Popen(start + list(words), stderr=subprocess.PIPE,
                            stdin=subprocess.DEVNULL, **more)
def pipe(*words):
    return session(*words, stdout=subprocess.PIPE)
def end(p):
    said = p.stderr.read()
    return p.wait(120), said
if how == "gone":
    p = pipe("--idle-timeout", "60s", "--", "yes")
    p.stdout.read(10)
    p.stdout.close()
    print(end(p)[0])
elif how == "never":
    p = pipe("--idle-timeout", "60s", "--timeout", "2s", "--", "yes")
    code, said = end(p)
    print(code, b"nobody read the rest" in said)
elif how == "late":
    p = pipe("--idle-timeout", "1s", "--", "head", "-c", "500000", "/dev/zero")
    time.sleep(4)
    print(len(p.stdout.read()), end(p)[0])
elif how == "asked":
    p = pipe("--idle-timeout", "60s", "--", "head", "-c", "100000",
             "/dev/zero")
    time.sleep(2)
    p.send_signal(signal.SIGTERM)
    print(end(p)[0])
elif how == "socket":
    a, b = socket.socketpair()
    p = session("--idle-timeout", "60s", "--", "sh", "-c",
                "head -c 300000 /dev/zero", stdout=b)
    b.close()
    n = 0
    while part := a.recv(65536):
        n += len(part)
    print(n, end(p)[0])
elif how == "full":
    with open("/dev/full", "wb") as f:
        p = session("--idle-timeout", "60s", "--", "yes", stdout=f)
        code, said = end(p)
    print(code, b"standard output: No space left" in said)
elif how == "less":
    os.mkfifo("less")
    r = os.open("less", os.O_RDONLY | os.O_NONBLOCK)
    p = session("--idle-timeout", "60s", "--", "sh", "-c", "echo x; exit 3",
                stdout=r)
    code, said = end(p)
    try:
        got = os.read(r, 9)
    except BlockingIOError:
        got = b""
    os.unlink("less")
    print(code, got, b"standard output: Bad file descriptor" in said)
elif how == "closed":
    p = session("--idle-timeout", "60s", "--", "sh", "-c", "echo x; exit 3",
                preexec_fn=lambda: os.close(1))
    print(end(p)[0])
END
reader() {
	run timeout 300 python3 "$tmp/reader.py" "$1" "$start"
	[ "$(cat "$tmp/printed")" = "$2" ]
	ok $? "$3"
}
reader gone 141 'a reader who goes ends the writer, as without us'
reader never '124 True' 'one who never reads does not stop the clocks'
reader late '500000 0' 'one who is late gets all; the session was not idle'
reader asked 0 'who asks us to end while a reader is late is heard'
reader socket '300000 0' 'a socket'
reader full '141 True' 'a full disk is told, and the writer stopped'
reader less "3 b'' True" 'one that was opened for reading is not written to'
reader closed 3 'a closed one is no reason to fail'

done_testing
