#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Signals, stops and standard streams of a session that shares its caller's
# terminal, or has none: as if lh-supervise were not between.
set -u
# shellcheck source=tests/cli/tap.sh
. "$(dirname "$0")/tap.sh"

needs_root
printf '{ "version": 1, "limits": { "grace": "200ms" } }' >"$tmp/p.json"
start="$lh $how --policy $tmp/p.json"
PYTHONPATH=$top/tests/cli PYTHONDONTWRITEBYTECODE=1
export PYTHONPATH PYTHONDONTWRITEBYTECODE

case_() {
	run timeout 600 python3 "$top/tests/cli/signals-cases.py" "$1" "$start"
	[ "$status" = 0 ] && [ "$(tail -n 1 "$tmp/printed")" = works ]
	ok $? "$2"
}
case_ once 'what is sent to us is passed on, once (PROC-35)'
case_ key 'what the terminal sends is not sent once more'
case_ stop_key 'a shell stops the session by a key, and lets it go on (APP-12)'
case_ stops_itself 'also where the command stops itself'
case_ reads_in_background 'who reads a terminal in the background is stopped'
case_ elsewhere 'no stop of a command stops us where no shell waits for it'
case_ time_over_while_stopped 'the wall time ends also a stopped session'
case_ asks_for_keys 'a terminal that signals every key does not end us'
case_ not_stopped 'nobody stops its output'
case_ put_right 'the terminal of a session that was killed is put right'
case_ left_as_it_is 'that of one that ended by itself is as it left it'
case_ inputs 'standard input is a pipe, a file, a socket, or closed'
case_ broken 'standard output without a reader, or full'

done_testing
