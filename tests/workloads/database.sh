# SPDX-License-Identifier: GPL-2.0-only
# SQLite: in the workspace, in each journal mode; and where it may only read,
# as .git is to this policy: there it is as in a read-only directory.
# policies: test
# cases: APP-10
# unstable: *.db *.db-*
# fleeting: .git .git/*
# expected: open */ws/.git/r.db*
# expected: create */ws/.git/r.db-*
# expected: unlink */ws/.git/r.db-*
mkdir .git
python3 - <<'P'
import sqlite3
c = sqlite3.connect(".git/r.db")
c.execute("pragma journal_mode=wal")
c.execute("create table t(x)")
c.execute("insert into t values(1)")
c.commit()
P
#--
python3 - <<'P'
import os
import sqlite3
for mode in ("wal", "delete", "truncate", "persist"):
    c = sqlite3.connect(mode + ".db")
    c.execute("pragma journal_mode=" + mode)
    c.execute("create table t(x)")
    c.execute("insert into t values(1)")
    c.commit()
    d = sqlite3.connect(mode + ".db")
    assert d.execute("select x from t").fetchone() == (1,)
    d.execute("insert into t values(2)")
    d.commit()
    assert c.execute("select count(*) from t").fetchone() == (2,)
    c.execute("vacuum")
    if mode == "wal":
        assert os.path.exists("wal.db-shm")
        c.execute("pragma wal_checkpoint(truncate)")
    d.close()
    c.close()
c = sqlite3.connect("tmp.db")
c.execute("create temp table big as with recursive n(i) as "
          "(select 1 union all select i + 1 from n where i < 20000) "
          "select i from n")
c.execute("pragma cache_size=10")
assert len(c.execute("select i from big order by i desc").fetchall()) == 20000

try:
    c = sqlite3.connect(".git/r.db", timeout=1)
    assert c.execute("select x from t").fetchone() == (1,)
    c.execute("insert into t values(2)")
except sqlite3.OperationalError as e:
    assert "readonly" in str(e) or "unable to open" in str(e), e
c = sqlite3.connect("file:.git/r.db?immutable=1", uri=True)
assert c.execute("select x from t").fetchone() == (1,)
P
