// SPDX-License-Identifier: GPL-2.0-only
/*
 * A tracer: what one process does to another that it holds, and what of a held
 * one's system calls comes to.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/ptrace.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "probe.h"

/* glibc's <sys/ptrace.h> and the kernel's do not go together. */
long ptrace(int request, ...);

#define SEIZE(pid, options) ptrace(PTRACE_SEIZE, pid, 0L, (long)(options))

/* At the same place in every process of this program, which is not moved. */
static char board[256];
extern const char insn_call[], insn_int80[];
__asm__(".text\n"
	"insn_call: syscall\nint3\n"
	"insn_int80: int $0x80\nint3\n");

static pid_t pid_of(const char *s)
{
	return strtol(s, NULL, 10);
}

static int op_ptracer(char **a, struct probe_reply *r)
{
	(void)r;
	return probe_errno(prctl(PR_SET_PTRACER, *a[0] == 'a' ?
				 -1UL : strtoul(a[0], NULL, 10), 0, 0, 0));
}

/*
 * Be traced by the parent: of this process, or with `child` of a new one. "o":
 * when that is none of its own session any more.
 */
static int op_traceme(char **a, struct probe_reply *r)
{
	(void)r;
	while (a[0] && getsid(getppid()) == getsid(0))
		sched_yield();
	return probe_errno(ptrace(PTRACE_TRACEME, 0L, 0L, 0L));
}

/* SEIZE with options. */
static int op_seize(char **a, struct probe_reply *r)
{
	int err = probe_errno(SEIZE(pid_of(a[0]), strtoul(a[1], NULL, 0)));

	(void)r;
	if (!err && !ptrace(PTRACE_INTERRUPT, pid_of(a[0]), 0L, 0L)) {
		waitpid(pid_of(a[0]), NULL, __WALL);
		ptrace(PTRACE_DETACH, pid_of(a[0]), 0L, 0L);
	}
	return err;
}

/* Write and read the board of @a, a child that was only forked, both ways. */
static int op_memory(char **a, struct probe_reply *r)
{
	char path[64], got[16] = "";
	struct iovec in = { "by-writev", 10 }, back = { got, 10 };
	struct iovec out = { board, 10 };
	int fd;

	(void)r;
	if (process_vm_writev(pid_of(a[0]), &in, 1, &out, 1, 0) < 0 ||
	    process_vm_readv(pid_of(a[0]), &back, 1, &out, 1, 0) < 0)
		return errno;
	if (strcmp(got, "by-writev") || !strcmp(board, got))
		return EILSEQ;
	snprintf(path, sizeof(path), "/proc/%s/mem", a[0]);
	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return errno;
	if (pwrite(fd, "by-file", 8, (uintptr_t)board) != 8 ||
	    pread(fd, got, 8, (uintptr_t)board) != 8) {
		close(fd);
		return errno ? errno : EIO;
	}
	close(fd);
	return strcmp(got, "by-file") ? EILSEQ : 0;
}

static int stop(pid_t pid)
{
	if (SEIZE(pid, 0) || ptrace(PTRACE_INTERRUPT, pid, 0L, 0L))
		return errno;
	return waitpid(pid, NULL, __WALL) == pid ? 0 : ECHILD;
}

static int write_board(pid_t pid, const char *text)
{
	struct iovec in = { (char *)text, strlen(text) + 1 };
	struct iovec out = { board, strlen(text) + 1 };

	return process_vm_writev(pid, &in, 1, &out, 1, 0) < 0 ? errno : 0;
}

/*
 * PID NR [TEXT [HOW [A1]]]: make that one do the system call NR, with TEXT's
 * address, A1 and 0 for arguments: its errno. HOW "i": by int 0x80; "c": that,
 * in a segment of 32 bits.
 */
static int op_inject(char **a, struct probe_reply *r)
{
	pid_t pid = pid_of(a[0]);
	struct user_regs_struct old, now;
	char how = a[2] && a[3] ? *a[3] : 0;
	int status, err = stop(pid);

	if (!err && a[2])
		err = write_board(pid, a[2]);
	if (err)
		return err;
	if (ptrace(PTRACE_GETREGS, pid, 0L, &old))
		return errno;
	now = old;
	now.rax = strtoul(a[1], NULL, 0);
	now.orig_rax = -1;
	now.rip = (uintptr_t)(how ? insn_int80 : insn_call);
	now.rdi = now.rbx = (uintptr_t)board;
	now.rsi = now.rcx = how && a[4] ? strtoul(a[4], NULL, 0) : 0;
	now.rdx = 0;
	if (how == 'c')
		now.cs = 0x23;
	if (ptrace(PTRACE_SETREGS, pid, 0L, &now) ||
	    ptrace(PTRACE_CONT, pid, 0L, 0L))
		return errno;
	if (waitpid(pid, &status, __WALL) != pid || !WIFSTOPPED(status))
		return ECHILD;
	if (ptrace(PTRACE_GETREGS, pid, 0L, &now) || WSTOPSIG(status) !=
	    SIGTRAP)
		return EIO;
	ptrace(PTRACE_SETREGS, pid, 0L, &old);
	ptrace(PTRACE_DETACH, pid, 0L, 0L);
	r->value = how ? (int)now.rax : (long)now.rax;
	return r->value < 0 ? -r->value : 0;
}

static void trap_getppid(void)
{
	struct sock_filter f[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			 offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getppid, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRACE),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog p = { .len = 4, .filter = f };

	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &p))
		_exit(1);
}

/* Run till it is about to do getppid: at PTRACE_SYSCALL's stop or a filter's */
static int run_to_call(pid_t pid, int how, struct user_regs_struct *regs)
{
	int status;

	do {
		if (ptrace(how, pid, 0L, 0L))
			return errno;
		if (waitpid(pid, &status, __WALL) != pid ||
		    !WIFSTOPPED(status))
			return ECHILD;
		if (ptrace(PTRACE_GETREGS, pid, 0L, regs))
			return errno;
	} while (regs->orig_rax != SYS_getppid);
	return 0;
}

/*
 * HOW NR [RAX]: a child asks for getppid; its tracer makes that NR, with RAX
 * for what it returned so far, at the stop of PTRACE_SYSCALL ("s") or of a
 * filter of its own ("f"). The child's errno; value: what it got.
 */
static int op_change(char **a, struct probe_reply *r)
{
	long *got = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
			 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	bool filter = *a[0] == 'f';
	struct user_regs_struct regs;
	int status, err;
	pid_t pid = got == MAP_FAILED ? -1 : fork();

	if (pid < 0)
		return errno;
	if (!pid) {
		raise(SIGSTOP);
		if (filter)
			trap_getppid();
		__asm__ volatile("syscall" : "=a"(*got) : "a"(SYS_getppid),
				 "D"(0), "S"(0), "d"(0) :
				 "rcx", "r11", "memory");
		_exit(0);
	}
	waitpid(pid, &status, WUNTRACED);
	err = probe_errno(SEIZE(pid, PTRACE_O_EXITKILL |
				PTRACE_O_TRACESECCOMP));
	if (!err)
		kill(pid, SIGCONT);
	if (!err)
		err = run_to_call(pid, filter ? PTRACE_CONT : PTRACE_SYSCALL,
				  &regs);
	regs.orig_rax = strtol(a[1], NULL, 0);
	if (a[2])
		regs.rax = strtol(a[2], NULL, 0);
	if (!err && ptrace(PTRACE_SETREGS, pid, 0L, &regs))
		err = errno;
	if (!err && ptrace(PTRACE_DETACH, pid, 0L, 0L))
		err = errno;
	if (err)
		kill(pid, SIGKILL);
	waitpid(pid, &status, __WALL);
	r->value = *got;
	munmap(got, 4096);
	return err ? err : r->value < 0 && r->value > -4096 ? -r->value : 0;
}

/* Read back the filter of a child, which is what CRIU does. */
static int op_getfilter(char **a, struct probe_reply *r)
{
	int err = stop(pid_of(a[0]));

	(void)r;
	if (err)
		return err;
	err = probe_errno(ptrace(PTRACE_SECCOMP_GET_FILTER, pid_of(a[0]), 0L,
				 0L));
	ptrace(PTRACE_DETACH, pid_of(a[0]), 0L, 0L);
	return err;
}

/*
 * A child that is held still for as long as this runs: "l": in a stop of its
 * group, and listened to; "e": to end with its tracer, and stopped at its exit.
 */
static int op_hold(char **a, struct probe_reply *r)
{
	pid_t pid = fork();
	int status;

	if (!pid) {
		close(0);
		close(1);
		for (;;)
			pause();
	}
	if (pid < 0 || SEIZE(pid, *a[0] == 'e' ? PTRACE_O_TRACEEXIT |
			     PTRACE_O_EXITKILL : 0))
		return errno;
	r->value = pid;
	if (*a[0] == 'l')
		kill(pid, SIGSTOP);
	else
		ptrace(PTRACE_INTERRUPT, pid, 0L, 0L);
	if (waitpid(pid, &status, __WALL) != pid)
		return ECHILD;
	if (*a[0] == 'l') {
		/* first the signal, then the stop */
		ptrace(PTRACE_CONT, pid, 0L, (long)SIGSTOP);
		waitpid(pid, &status, __WALL);
		return probe_errno(ptrace(PTRACE_LISTEN, pid, 0L, 0L));
	}
	return 0;
}

/* From now on a child holds this process, and never looks. */
static int op_held(char **a, struct probe_reply *r)
{
	int told[2], err = EIO;
	pid_t pid;

	(void)a;
	if (pipe2(told, O_CLOEXEC))
		return errno;
	prctl(PR_SET_PTRACER, -1UL, 0, 0, 0);
	pid = fork();
	if (!pid) {
		close(0);
		close(1);
		err = probe_errno(SEIZE(getppid(), 0));
		if (write(told[1], &err, sizeof(err)) < 0)
			_exit(1);
		for (;;)
			pause();
	}
	if (read(told[0], &err, sizeof(err)) != sizeof(err))
		err = EIO;
	close(told[0]);
	close(told[1]);
	r->value = pid;
	return err;
}

/*
 * N [HOW]: each of N to trace the next, and the last the first, up to their
 * ends. "o": without the last; "r": all at once. The value: how many did it.
 */
static int op_circle(char **a, struct probe_reply *r)
{
	struct { pid_t pid[8]; bool go[8]; } *all =
		mmap(NULL, 4096, PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	char how = a[1] ? *a[1] : 0;
	int n = atoi(a[0]), i, told[2], one, err = 0;

	if (all == MAP_FAILED || n > 8 || pipe2(told, O_CLOEXEC))
		return EINVAL;
	for (i = 0; i < n; i++) {
		if (fork())
			continue;
		/* no signal and no stop: its tracer would have to see to it */
		prctl(PR_SET_PTRACER, -1UL, 0, 0, 0);
		all->pid[i] = getpid();
		while (!__atomic_load_n(&all->go[i], __ATOMIC_SEQ_CST))
			sched_yield();
		one = probe_errno(SEIZE(all->pid[(i + 1) % n],
					PTRACE_O_TRACEEXIT));
		if (write(told[1], &one, sizeof(one)) < 0)
			_exit(1);
		for (;;)
			pause();
	}
	for (i = 0; i < n; i++)
		while (!__atomic_load_n(&all->pid[i], __ATOMIC_SEQ_CST))
			sched_yield();
	for (i = 0; how == 'r' && i < n; i++)
		__atomic_store_n(&all->go[i], true, __ATOMIC_SEQ_CST);
	for (i = 0; i < n - (how == 'o'); i++) {
		__atomic_store_n(&all->go[i], true, __ATOMIC_SEQ_CST);
		if (read(told[0], &one, sizeof(one)) != sizeof(one))
			one = EIO;
		r->value += !one;
		err = one ? one : err;
	}
	for (i = 0; i < n; i++)
		kill(all->pid[i], SIGKILL);
	for (i = 0; i < n; i++)
		waitpid(all->pid[i], NULL, 0);
	close(told[0]);
	close(told[1]);
	munmap(all, 4096);
	return err;
}

const struct probe_op probe_ptrace_ops[] = {
	{ "ptracer", 1, op_ptracer },	{ "traceme", 0, op_traceme },
	{ "seize", 2, op_seize },	{ "memory", 1, op_memory },
	{ "inject", 2, op_inject },	{ "change", 2, op_change },
	{ "getfilter", 1, op_getfilter },
	{ "hold", 1, op_hold },		{ "held", 0, op_held },
	{ "circle", 1, op_circle },	{ NULL, 0, NULL },
};
