# SPDX-License-Identifier: GPL-2.0-only
# What Python programs do to their surroundings (APP-06, APP-26).
# policies: test
python3 -m venv --without-pip v
cat >mp.py <<'END'
import asyncio
import ctypes
import concurrent.futures
import mmap
import multiprocessing
import os
import sqlite3
import subprocess
import tempfile
import threading
from multiprocessing import shared_memory


async def both():
    p = await asyncio.create_subprocess_exec("true")
    return await p.wait()


if __name__ == "__main__":
    multiprocessing.Lock().acquire()
    s = shared_memory.SharedMemory(create=True, size=64)
    s.buf[0] = 1
    s.close()
    s.unlink()
    for how in ("fork", "forkserver", "spawn"):
        c = multiprocessing.get_context(how)
        with concurrent.futures.ProcessPoolExecutor(2, mp_context=c) as p:
            assert list(p.map(abs, [-1, 2])) == [1, 2]
    threads = [threading.Thread(target=lambda: 0) for _ in range(50)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    with tempfile.TemporaryDirectory() as d:
        assert d.startswith(os.environ["TMPDIR"])
        open(d + "/f", "w").close()
    db = sqlite3.connect("w.db")
    db.execute("pragma journal_mode=wal")
    db.execute("create table t(x)")
    db.execute("insert into t values(1)")
    db.commit()
    assert sqlite3.connect("w.db").execute("select x from t").fetchone()
    m = os.memfd_create("x")
    os.write(m, b"hi")
    assert os.read(os.open(f"/proc/self/fd/{m}", os.O_RDWR), 2) == b"hi"
    r, w = os.pipe()
    os.close(os.open(f"/dev/fd/{w}", os.O_WRONLY))
    f = os.open(".", os.O_TMPFILE | os.O_RDWR, 0o600)
    os.write(f, b"1")
    os.ftruncate(f, 0)
    os.link(str(f), "named", src_dir_fd=os.open("/proc/self/fd", os.O_RDONLY))
    mmap.mmap(-1, 4096, prot=7).close()
    assert subprocess.run(["sh", "-c", "exit 3"]).returncode == 3
    assert asyncio.run(both()) == 0
    assert os.cpu_count() > 0
    # as databases share their buffers and locks: System V, by key
    c = ctypes.CDLL(None)
    c.shmat.restype = ctypes.c_void_p
    shm = c.shmget(0x4c4801, 4096, 0o1600)
    p = c.shmat(shm, None, 0)
    ctypes.memset(p, 1, 4096)
    assert c.shmget(0x4c4801, 4096, 0) == shm >= 0
    assert c.shmdt(ctypes.c_void_p(p)) == c.shmctl(shm, 0, None) == 0
    sem = c.semget(0x4c4801, 17, 0o1600)
    assert sem >= 0 and c.semctl(sem, 0, 16, 1) == c.semctl(sem, 0, 0) == 0
    q = c.mq_open(b"/lh-python", os.O_RDWR | os.O_CREAT, 0o600, None)
    assert q >= 0 and c.mq_send(q, b"hi", 2, 0) == 0
    assert c.mq_unlink(b"/lh-python") == 0
    assert len(os.urandom(8)) == 8
END
v/bin/python mp.py
v/bin/python -c 'import json, ssl, ctypes, uuid; uuid.uuid4()'
