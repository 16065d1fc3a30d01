#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# loopback.t: a server and its client in one session, a server of the host, and
# one of a session that the host may reach; two sessions at once; names of hosts
# with and without who answers for them. Inside a guest.
set -u

# shellcheck source=tests/workloads/tap.sh
. "$(dirname "$0")/tap.sh"
base=$(mktemp -d /tmp/loopback.XXXXXX) || exit 1
log=$(mktemp -d /tmp/loopback-log.XXXXXX) || exit 1
chmod 755 "$base" "$log"
ip link set lo up
echo page >"$base/f"

session()
{
	"$B/lh-supervise" -q --policy worktree -C "$base" "$@" </dev/null
}

# get PORT [COMMAND…]: the page, once somebody answers or half a minute is over
get()
{
	local port=$1 i
	shift
	for ((i = 0; i < 60; i++)); do
		"$@" curl -sf -m 5 "http://127.0.0.1:$port/f" && return
		sleep 0.5
	done
	return 1
}

session -- bash -c "$(declare -f get)"'
	python3 -m http.server --bind 127.0.0.1 8000 & s=$!
	get 8000; status=$?; kill $s; exit $status' >"$base/out" 2>&1
[ $? = 0 ] && grep -qx page "$base/out"
result $? "a server and its client in one session" "$base/out"

python3 -m http.server -d "$base" --bind 127.0.0.1 8100 >/dev/null 2>&1 &
host=$!
[ "$(get 8100)" = page ]
result $? "outside, a server of the host is reached"
session -- curl -sS -m 5 http://127.0.0.1:8100/f >"$base/out" 2>&1
[ $? = 7 ]
result $? "a session does not reach it" "$base/out"
session --loopback-port 8100 -- curl -sS -m 5 http://127.0.0.1:8100/f \
	>"$base/out" 2>&1
[ $? = 0 ] && grep -qx page "$base/out"
result $? "but where its port is named" "$base/out"
kill $host

"$B/lh-supervise" -q --policy worktree -C "$base" --publish-port 8200 -- \
	python3 -m http.server --bind 127.0.0.1 8200 >"$base/out" 2>&1 \
	</dev/null &
published=$!
[ "$(get 8200)" = page ]
result $? "the host reaches a port that is published" "$base/out"
kill $published
wait $published

# Each its own server, at the same time; neither the other's.
two()
{
	local mine=$1 theirs=$2

	mkdir "$base/$mine"
	echo "page of $mine" >"$base/$mine/f"
	"$B/lh-supervise" -q --policy agent -C "$base/$mine" \
		--denials "$log/d.$mine" -- bash -c "$(declare -f get)
		python3 -m http.server --bind 127.0.0.1 $mine >/dev/null 2>&1 &
		get $mine || exit 1
		touch up
		for i in \$(seq 600); do [ ! -e go ] || break; sleep 0.1; done
		get $mine || exit 2
		curl -sS -m 5 http://127.0.0.1:$theirs/f; echo status \$?
		touch judged
		for i in \$(seq 600); do [ ! -e end ] || break; sleep 0.1; done
		kill %1" >"$base/out.$mine" 2>&1 </dev/null &
}

# $1: both have made it
both()
{
	local i
	for ((i = 0; i < 600; i++)); do
		[ -e "$base/8301/$1" ] && [ -e "$base/8302/$1" ] && return
		sleep 0.1
	done
	return 1
}

two 8301 8302
two 8302 8301
both up && touch "$base"/830{1,2}/go && both judged
touch "$base"/830{1,2}/end
wait
for s in 8301 8302; do
	[ "$(grep -c "^page of $s\$" "$base/out.$s")" = 2 ] &&
		grep -qx 'status 7' "$base/out.$s" &&
		[ "$(wc -l <"$log/d.$s")" = 1 ] &&
		grep -q '"operation":"connect".*"reason":"peer"' "$log/d.$s"
	result $? "two sessions, each with its own server: $s" \
		"$base/out.$s" "$log/d.$s"
done

# Who answers for names is the host's, like any server of it (NET-23).
python3 - 127.0.0.53 <<'END' &
import socket
import sys
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.bind((sys.argv[1], 53))
while True:
    q, who = s.recvfrom(512)
    end = q.index(b"\0", 12) + 5
    found = b"\4here\4test\0" in q and q[end - 4:end - 2] == b"\0\1"
    a = q[:2] + (b"\x81\x80" if b"\4here" in q else b"\x81\x83")
    a += b"\0\1" + (b"\0\1" if found else b"\0\0") + b"\0\0\0\0"
    a += q[12:end]
    if found:
        a += b"\xc0\x0c\0\1\0\1\0\0\0\1\0\4" + socket.inet_aton("192.0.2.7")
    s.sendto(a, who)
END
answers=$!
echo 'nameserver 127.0.0.53
options timeout:2 attempts:1' >"$base/resolv.conf"
mount --bind "$base/resolv.conf" "$(realpath /etc/resolv.conf)"
cat >"$base/network.json" <<END
{ "version": 1, "name": "network", "side_effect_level": "network",
  "workspace_roots": ["$base"],
  "egress": { "allow": ["udp/127.0.0.53:53"] } }
END
cat >"$base/name.py" <<'END'
import socket
import sys
for name in sys.argv[1:]:
    try:
        print(name, sorted({a[4][0] for a in socket.getaddrinfo(name, 80)}))
    except socket.gaierror as e:
        print(name, {socket.EAI_AGAIN: "again", socket.EAI_NONAME:
                     "nobody"}.get(e.errno, e))
END
names()
{
	"$B/lh-supervise" -q --policy "$1" -C "$base" --denials "$log/d" -- \
		python3 "$base/name.py" here.test none.test localhost \
		>"$base/out" 2>&1 </dev/null
}

# It may take some time to be there.
for ((i = 0; i < 60; i++)); do
	python3 "$base/name.py" here.test none.test localhost >"$base/out"
	grep -q 192 "$base/out" && break
	sleep 0.5
done
grep -qx "here.test \['192.0.2.7'\]" "$base/out" &&
	grep -qx 'none.test nobody' "$base/out"
result $? "outside, a name has its address" "$base/out"
cp "$base/out" "$base/outside"
names "$base/network.json" && cmp -s "$base/out" "$base/outside" &&
	[ ! -s "$log/d" ]
result $? "likewise where the network level and a rule open its server" \
	"$base/out" "$log/d"
names agent && grep -qx 'here.test again' "$base/out" &&
	grep '^localhost' "$base/outside" | grep -qxFf - "$base/out" &&
	grep -q '"address":"127.0.0.53","port":53' "$log/d"
result $? "without, no question leaves, and its own names are known" \
	"$base/out" "$log/d"
kill $answers
umount "$(realpath /etc/resolv.conf)"

# A rule is for an address, however its name is spelt and wherever that moves
# later (NET-36). Rules for names are an error: tests/policy/bad/network.json.
for at in 127.0.0.1 127.0.0.2; do
	python3 -m http.server -d "$base" --bind $at 8311 >/dev/null 2>&1 &
	servers+=($!)
done
echo '127.0.0.1 ok.test' | cat - /etc/hosts >"$base/hosts"
mount --bind "$base/hosts" /etc/hosts
spell()
{
	local h
	for h in ok.test OK.TEST; do
		timeout 5 bash -c "exec 3<>/dev/tcp/$h/8311" 2>/dev/null &&
			echo "$1 $h"
	done
}
cat >"$base/moves.json" <<END
{ "version": 1, "name": "moves", "side_effect_level": "network",
  "workspace_roots": ["$base"], "egress": { "allow": ["127.0.0.1:8311"] } }
END
until get 8311 >"$base/out" && curl -sf -m 5 http://127.0.0.2:8311/f; do
	sleep 0.5
done >>"$base/out"
mkfifo "$base/moved"
"$B/lh-supervise" -q --policy "$base/moves.json" -C "$base" \
	--denials "$log/d" -- bash -c "$(declare -f spell)
	spell at; echo once >moved; read -r _ <moved; spell then; true" \
	>"$base/out" 2>&1 </dev/null &
moves=$!
read -r _ <"$base/moved"
echo '127.0.0.2 ok.test' >/etc/hosts
[ "$(spell outside | wc -l)" = 2 ]
result $? "outside, a name has moved" /etc/hosts
echo >"$base/moved"
wait $moves
[ "$(cat "$base/out")" = "$(printf 'at %s\n' ok.test OK.TEST)" ] &&
	[ "$(grep -c '"address":"127.0.0.2","port":8311' "$log/d")" = 2 ]
result $? "a rule for its address does not move along" "$base/out" "$log/d"
kill "${servers[@]}"
umount /etc/hosts

# A container engine's client is an HTTP client (NET-19).
python3 - /run/docker.sock <<'END' &
import http.server
import os
import socketserver
import sys


class Engine(socketserver.ThreadingUnixStreamServer):
    pass


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"engine")

    def address_string(self):
        return "client"


os.umask(0)
Engine(sys.argv[1], Handler).serve_forever()
END
engine=$!
engine_client=(curl -sS -m 20 --unix-socket /run/docker.sock
	http://localhost/version)
for ((i = 0; i < 60; i++)); do
	"${engine_client[@]}" >"$base/out" 2>&1 && break
	sleep 0.5
done
grep -q engine "$base/out"
result $? "outside, a container engine answers" "$base/out"
session --denials "$log/d" -- "${engine_client[@]}" >"$base/out" 2>&1
[ $? = 7 ] && grep -q '"path":"/run/docker.sock"' "$log/d"
result $? "in a session its client is told no, and ends" "$base/out" "$log/d"
kill $engine
rm /run/docker.sock

session -- ip -br addr >"$base/out" 2>&1
[ $? = 0 ] && grep -q '^lo .*127.0.0.1/8' "$base/out"
result $? "the interfaces are seen" "$base/out"

"$B/lh-supervise" --engine unload >"$base/out" 2>&1 &&
	! bpftool cgroup tree 2>>"$base/out" | grep -q inet_
result $? "unloaded, nothing is left at any cgroup" "$base/out"
echo "1..$n"
rm -rf "$base" "$log"
