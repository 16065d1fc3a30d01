#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# loopback.t: a server and its client in one session, a server of the host, and
# one of a session that the host may reach. Inside a guest.
set -u

# shellcheck source=tests/workloads/tap.sh
. "$(dirname "$0")/tap.sh"
base=$(mktemp -d /tmp/loopback.XXXXXX) || exit 1
chmod 755 "$base"
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

session -- ip -br addr >"$base/out" 2>&1
[ $? = 0 ] && grep -q '^lo .*127.0.0.1/8' "$base/out"
result $? "the interfaces are seen" "$base/out"

"$B/lh-supervise" --engine unload >"$base/out" 2>&1 &&
	! bpftool cgroup tree 2>>"$base/out" | grep -q inet_
result $? "unloaded, nothing is left at any cgroup" "$base/out"
echo "1..$n"
rm -rf "$base"
