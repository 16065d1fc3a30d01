# SPDX-License-Identifier: GPL-2.0-only
# A store in memory, by loopback and by a socket file, and a second that copies
# the first. By itself it listens at every address there is.
# needs: redis-server redis-server
# fleeting: *.rdb *.log *.aof appendonlydir appendonlydir/* r.sock
#--
serve()
{
	redis-server --dir "$PWD" "$@" >>redis.log 2>&1 &
}
until_is()
{
	for _ in $(seq 300); do
		[ "$("${@:2}" 2>/dev/null | tr -d '\r')" != "$1" ] || return 0
		sleep 0.2
	done
	return 1
}

serve --port 6999 --unixsocket "$PWD/r.sock" --save '' --appendonly yes
until_is PONG redis-cli -p 6999 ping
serve --port 6998 --replicaof 127.0.0.1 6999 --dbfilename two.rdb
redis-cli -h ::1 -p 6999 set a 1
redis-cli -s "$PWD/r.sock" incr a
until_is 2 redis-cli -p 6998 get a
redis-cli -p 6999 --no-raw save
redis-cli -p 6998 shutdown nosave
redis-cli -s "$PWD/r.sock" shutdown nosave
wait
