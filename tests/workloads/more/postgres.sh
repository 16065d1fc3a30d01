# SPDX-License-Identifier: GPL-2.0-only
# A database made, started, asked by its socket file and by loopback, and
# stopped; its processes share memory, locks and a directory.
# needs: - postgresql-15
# needs: psql postgresql-client-15
# policies: agent
# cases: APP-10
# unstable: db/* db
# fleeting: db/*
#--
export PATH=/usr/lib/postgresql/15/bin:$PATH PGTZ=UTC PGUSER=lh-test
export PGDATABASE=postgres LC_ALL=C
initdb -A trust --no-sync -U lh-test db >/dev/null
for how in 127.0.0.1 localhost; do
	pg_ctl -D db -s -w -t 120 -l db/log \
		-o "-c listen_addresses=$how -p 5999 -k $PWD/db" start
	createdb -h "$PWD/db" -p 5999 "on_$how"
	psql -h 127.0.0.1 -p 5999 -q -c 'create table t(x int)' \
		-c 'insert into t select generate_series(1, 1000)' \
		-c 'create index on t(x)'
	psql -h "$PWD/db" -p 5999 -Atc 'select sum(x) from t'
	psql -h localhost -p 5999 -Atc 'select count(*) from t a, t b
		where a.x = b.x' -c 'drop table t' -c 'vacuum'
	pg_dump -h localhost -p 5999 >/dev/null
	pg_ctl -D db -s -w -t 120 -m fast stop
done
