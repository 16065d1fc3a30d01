# SPDX-License-Identifier: GPL-2.0-only
# Programs that trace others: strace and ltrace below themselves, gdb with
# breakpoints, calls and a running process, cores, and LeakSanitizer, which
# traces its own program; perl and python that do it themselves.
# needs: gdb gdb
# needs: strace strace
# needs: ltrace ltrace
# policies: tracing
cat >a.c <<'END'
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

int twice(int n)
{
	return 2 * n;
}

int main(int argc, char **argv)
{
	void *leak = malloc(argc > 2 ? 99 : 1);

	prctl(PR_SET_PTRACER, -1UL, 0, 0, 0);
	if (argc > 2)
		leak = NULL;
	else
		free(leak);
	printf("%d %d\n", twice(21), getppid() == 77);
	fflush(stdout);
	while (argc == 2)
		pause();
	return 0;
}
END
#--
cc -g -O0 -o a.out a.c
strace -f -o log sh -c './a.out; cat a.c | wc -l'
grep -q 'execve(' log
strace -f --seccomp-bpf -e trace=execve -o log sh -c './a.out; /bin/true'
grep -c 'execve(.*= 0' log
strace -c -o log ./a.out
grep -q 'execve' log
strace -e inject=getppid:retval=77 -o log ./a.out
strace -e inject=getppid:error=EPERM -o log ./a.out
strace -D -o log ./a.out
strace -o log strace -o log2 ./a.out
ltrace -o log ./a.out
grep -c 'printf(' log
gdb -nx -batch -ex 'break twice' -ex run -ex bt -ex 'print twice(50)' \
	-ex 'watch n' -ex 'print n = 4' -ex delete -ex 'call (int)getpid() > 1' \
	-ex continue ./a.out >log 2>&1 || { cat log; false; }
grep -E '^(#[01]|\$[0-9]+) |^8 ' log | sed 's/0x[0-9a-f]* *//g'
./a.out wait >out &
pid=$!
until [ -s out ]; do sleep 0.1; done
gdb -nx -batch -p $pid -ex bt -ex 'print twice(3)' -ex detach >log 2>&1
grep -E '^\$1|main' log | sed 's/0x[0-9a-f]* *//g'
strace -p $pid -o log &
until [ -s log ]; do sleep 0.1; done
kill $!
wait $! || echo "strace $?"
gcore -o core $pid >log 2>&1 || { cat log; false; }
gdb -nx -batch -ex 'frame function main' -ex 'print argc' a.out core.$pid \
	2>&1 | grep '^\$'
kill $pid
wait $pid || echo "a.out $?"
rm core.$pid
cc -g -fsanitize=address -o asan a.c
./asan
./asan leak by >log 2>&1 || echo "asan $?"
grep -c 'SUMMARY: AddressSanitizer: 99 byte' log
perl -e '
$pid = fork;
if (!$pid) { syscall(101, 0, 0, 0, 0) == 0 or die; kill 19, $$; exit 3; }
waitpid $pid, 0x40000000;
syscall(101, 17, $pid, 0, 0) == 0 or die;
waitpid $pid, 0; print $? >> 8, "\n";'
python3 -c '
import ctypes, os, signal
libc = ctypes.CDLL(None, use_errno=True)
pid = os.fork()
if not pid:
    signal.pause()
assert libc.ptrace(16, pid, None, None) == 0
os.waitpid(pid, 0)
assert libc.ptrace(7, pid, None, signal.SIGTERM) == 0
print(os.WTERMSIG(os.waitpid(pid, 0)[1]))'
rm -f log log2 out
