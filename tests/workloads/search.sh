# SPDX-License-Identifier: GPL-2.0-only
# Programs that only look: at a tree, at a home, at what every one of them
# looks at when it starts.
# expected: syscall *
# policies: agent
# cases: APP-16 APP-17 APP-25
mkdir -p a/b/c
for i in 1 2 3 4 5 6 7 8; do
	echo "needle $i" >a/b/$i
	echo hay >a/b/c/$i
done
ln -s ../.. a/b/up
#--
rg --sort path needle
rg -l -uuu --sort path hay
grep -rn needle a | sort
find . -path '*needle*' -o -name 3 | sort
find -L a -maxdepth 9 -name 3 2>/dev/null | sort | head -n 1
tree=$(ls -R)
[ -n "$tree" ]
bash -lc true
bash -ic true </dev/null 2>/dev/null
sh -c 'ls -d ~ >/dev/null'
python3 - <<'P'
import ctypes
import errno
import os
import site
import subprocess
import threading
t = [threading.Thread(target=os.getpid) for _ in range(50)]
for x in t:
    x.start()
for x in t:
    x.join()
subprocess.run(["true"], close_fds=True, check=True)
os.path.exists("/root/.pyrc")
# What is refused of the new calls is as if the kernel were too old for it:
# glibc and the runtimes fall back.
c = ctypes.CDLL(None, use_errno=True)
params = ctypes.create_string_buffer(120)
if c.syscall(425, 4, params) < 0:
    assert ctypes.get_errno() in (errno.ENOSYS, errno.EPERM)
assert c.syscall(439, -100, b"a", 4, 0) == 0		# faccessat2
assert c.syscall(436, 1000, 2000, 0) == 0		# close_range
assert c.syscall(9999) < 0 and ctypes.get_errno() == errno.ENOSYS
P
