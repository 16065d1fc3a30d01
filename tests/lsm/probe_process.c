// SPDX-License-Identifier: GPL-2.0-only
/*
 * Calls that reach other processes, and the ways to become another task first:
 * `child OP…`, `thread OP…`, `daemon OP…` make the call from a new task.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "probe.h"

struct shared {
	struct probe_reply r;
	char **arg;
	int err;
};

static struct shared *shared_new(char **a)
{
	struct shared *s = mmap(NULL, sizeof(*s), PROT_READ | PROT_WRITE,
				MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (s == MAP_FAILED)
		return NULL;
	s->arg = a;
	s->err = ECHILD;
	return s;
}

static int shared_end(struct shared *s, struct probe_reply *r)
{
	int err = s->err;

	*r = s->r;
	munmap(s, sizeof(*s));
	return err;
}

static int op_child(char **a, struct probe_reply *r)
{
	struct shared *s = shared_new(a);
	pid_t pid = s ? fork() : -1;

	if (pid < 0)
		return errno;
	if (!pid) {
		s->err = probe_run(a, &s->r);
		_exit(0);
	}
	waitpid(pid, NULL, 0);
	return shared_end(s, r);
}

/* Twice forked and in a session of its own, as a daemon does it. */
static int op_daemon(char **a, struct probe_reply *r)
{
	struct shared *s = shared_new(a);
	int done[2];
	pid_t pid;
	char c;

	if (!s || pipe2(done, O_CLOEXEC))
		return errno;
	pid = fork();
	if (!pid) {
		setsid();
		if (!fork()) {
			s->err = probe_run(a, &s->r);
			_exit(0);
		}
		_exit(0);
	}
	close(done[1]);
	waitpid(pid, NULL, 0);
	if (read(done[0], &c, 1))
		return EIO;
	close(done[0]);
	return shared_end(s, r);
}

static void *thread_main(void *arg)
{
	struct shared *s = arg;

	s->err = probe_run(s->arg, &s->r);
	return NULL;
}

static int op_thread(char **a, struct probe_reply *r)
{
	struct shared *s = shared_new(a);
	pthread_t t;
	int err = s ? pthread_create(&t, NULL, thread_main, s) : errno;

	if (err)
		return err;
	pthread_join(t, NULL);
	return shared_end(s, r);
}

/* clone3 straight into the cgroup whose directory is the first argument. */
static int op_into(char **a, struct probe_reply *r)
{
	struct shared *s = shared_new(a + 1);
	int dir = open(a[0], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct clone_args c = { .flags = CLONE_INTO_CGROUP,
				.exit_signal = SIGCHLD, .cgroup = dir };
	long pid;

	if (dir < 0 || !s)
		return errno;
	pid = syscall(SYS_clone3, &c, sizeof(c));
	if (pid < 0)
		return errno;
	if (!pid) {
		s->err = probe_run(a + 1, &s->r);
		_exit(0);
	}
	waitpid(pid, NULL, 0);
	close(dir);
	return shared_end(s, r);
}

static int op_pid(char **a, struct probe_reply *r)
{
	(void)a;
	r->value = getpid();
	return 0;
}

/* Start a task that lives on: "sleep", "spin" or "ignore" (blocks signals). */
static int op_spawn(char **a, struct probe_reply *r)
{
	pid_t pid = fork();

	if (pid < 0)
		return errno;
	if (!pid) {
		sigset_t all;

		setsid();
		close(0);	/* no answer must look as if it might come */
		close(1);
		if (*a[0] == 'i') {
			sigfillset(&all);
			sigprocmask(SIG_SETMASK, &all, NULL);
		}
		for (;;)
			if (*a[0] != 's' || a[0][1] != 'p')
				pause();
	}
	r->value = pid;
	return 0;
}

static pid_t pid_of(const char *s)
{
	return strtol(s, NULL, 10);
}

static int op_kill(char **a, struct probe_reply *r)
{
	(void)r;
	return probe_errno(kill(pid_of(a[0]), atoi(a[1])));
}

static int op_tgkill(char **a, struct probe_reply *r)
{
	(void)r;
	return probe_errno(syscall(SYS_tgkill, pid_of(a[0]), pid_of(a[0]),
				   atoi(a[1])));
}

static int op_sigqueue(char **a, struct probe_reply *r)
{
	(void)r;
	return probe_errno(sigqueue(pid_of(a[0]), atoi(a[1]),
				    (union sigval){ 0 }));
}

static int op_pidfd_kill(char **a, struct probe_reply *r)
{
	int fd = syscall(SYS_pidfd_open, pid_of(a[0]), 0);
	int err;

	(void)r;
	if (fd < 0)
		return errno;
	err = probe_errno(syscall(SYS_pidfd_send_signal, fd, atoi(a[1]),
				  NULL, 0));
	close(fd);
	return err;
}

/* The owner's signal of a descriptor: SIGIO to a process of one's choice. */
static int op_sigio(char **a, struct probe_reply *r)
{
	int p[2], err;

	(void)r;
	if (pipe2(p, O_CLOEXEC | O_NONBLOCK))
		return errno;
	err = probe_errno(fcntl(p[0], F_SETOWN, pid_of(a[0])));
	if (!err)
		err = probe_errno(fcntl(p[0], F_SETSIG, atoi(a[1])));
	if (!err)
		err = probe_errno(fcntl(p[0], F_SETFL, O_ASYNC | O_NONBLOCK));
	if (!err)
		err = probe_errno(write(p[1], "x", 1));
	close(p[0]);
	close(p[1]);
	return err;
}

/* PID: as nginx asks; value: the owner, and 1 more if it is signalled. */
static int op_owner(char **a, struct probe_reply *r)
{
	int p[2], on = 1, err;

	if (socketpair(AF_UNIX, SOCK_STREAM, 0, p))
		return errno;
	err = probe_errno(ioctl(p[0], FIOASYNC, &on));
	if (!err)
		err = probe_errno(fcntl(p[0], F_SETOWN, pid_of(a[0])));
	if (!err)
		err = probe_errno(write(p[1], "x", 1) - 1);
	r->value = fcntl(p[0], F_GETOWN) +
		   !!(fcntl(p[0], F_GETFL) & O_ASYNC);
	close(p[0]);
	close(p[1]);
	return err;
}

static int op_ptrace(char **a, struct probe_reply *r)
{
	pid_t pid = pid_of(a[0]);
	int how = a[1] && *a[1] == 's' ? PTRACE_SEIZE : PTRACE_ATTACH;
	int err = probe_errno(ptrace(how, pid, NULL, NULL));

	(void)r;
	if (err)
		return err;
	/* Only what is stopped is let go. */
	if (how == PTRACE_SEIZE)
		ptrace(PTRACE_INTERRUPT, pid, NULL, NULL);
	waitpid(pid, NULL, __WALL);
	ptrace(PTRACE_DETACH, pid, NULL, NULL);
	return 0;
}

static int op_vmread(char **a, struct probe_reply *r)
{
	struct iovec in = { r->text, 8 };
	struct iovec out = { (void *)strtoul(a[1], NULL, 0), 8 };

	return probe_errno(process_vm_readv(pid_of(a[0]), &in, 1, &out, 1, 0));
}

static int op_vmwrite(char **a, struct probe_reply *r)
{
	char byte[8] = "EVILEVI";
	struct iovec in = { byte, 8 };
	struct iovec out = { (void *)strtoul(a[1], NULL, 0), 8 };

	(void)r;
	return probe_errno(process_vm_writev(pid_of(a[0]), &in, 1, &out, 1,
					     0));
}

static int op_getfd(char **a, struct probe_reply *r)
{
	int fd = syscall(SYS_pidfd_open, pid_of(a[0]), 0);
	long got;
	int err;

	(void)r;
	if (fd < 0)
		return errno;
	got = syscall(SYS_pidfd_getfd, fd, atoi(a[1]), 0);
	err = probe_errno(got);
	close(fd);
	if (!err)
		close(got);
	return err;
}

static int op_kcmp(char **a, struct probe_reply *r)
{
	long same = syscall(SYS_kcmp, getpid(), pid_of(a[0]), 2 /* FILES */,
			    0, 0);

	(void)r;
	return probe_errno(same);
}

static int op_prlimit(char **a, struct probe_reply *r)
{
	struct rlimit old;

	(void)r;
	return probe_errno(prlimit(pid_of(a[0]), RLIMIT_NOFILE, NULL, &old));
}

static void *limits_of_group(void *err)
{
	struct rlimit old;

	*(int *)err = probe_errno(prlimit(getpid(), RLIMIT_NOFILE, NULL, &old));
	return NULL;
}

/* Of the own process, from a thread; then of the parent, from a child. */
static int op_prlimit_line(char **a, struct probe_reply *r)
{
	pid_t self = getpid(), child;
	struct rlimit l;
	pthread_t thread;
	int status, err;

	(void)a;
	(void)r;
	if (pthread_create(&thread, NULL, limits_of_group, &err) ||
	    pthread_join(thread, NULL))
		return EAGAIN;
	if (err)
		return err;
	child = fork();
	if (!child)
		_exit(prlimit(self, RLIMIT_NOFILE, NULL, &l) ||
		      prlimit(self, RLIMIT_NOFILE, &l, NULL) ? errno : 0);
	return waitpid(child, &status, 0) == child ? WEXITSTATUS(status) : EIO;
}

static int op_affinity(char **a, struct probe_reply *r)
{
	cpu_set_t set;
	pid_t pid = pid_of(a[0]);

	(void)r;
	if (sched_getaffinity(0, sizeof(set), &set))
		return errno;
	return probe_errno(sched_setaffinity(pid, sizeof(set), &set));
}

static int op_nice(char **a, struct probe_reply *r)
{
	(void)r;
	return probe_errno(setpriority(PRIO_PROCESS, pid_of(a[0]), 19));
}

/* /proc/PID/NAME: read a byte, or list it when it is a directory. */
static int op_procfile(char **a, struct probe_reply *r)
{
	char path[256];
	int fd, err;

	snprintf(path, sizeof(path), "/proc/%s/%s", a[0], a[1]);
	if (!strcmp(a[1], "cwd") || !strcmp(a[1], "root") ||
	    !strcmp(a[1], "exe"))
		return probe_errno(readlink(path, r->text, 200));
	fd = open(path, a[2] && *a[2] == 'w' ? O_WRONLY : O_RDONLY);
	if (fd < 0)
		return errno;
	err = 0;
	if (!a[2] || *a[2] != 'w') {
		err = probe_errno(read(fd, r->text, sizeof(r->text) - 1));
		if (err == EISDIR)
			err = probe_errno(syscall(SYS_getdents64, fd, r->text,
						  sizeof(r->text)));
		if (err == EIO)		/* mem: nothing mapped at 0 */
			err = 0;
	}
	close(fd);
	return err;
}

const struct probe_op probe_process_ops[] = {
	{ "child", 1, op_child },	{ "thread", 1, op_thread },
	{ "daemon", 1, op_daemon },	{ "into", 2, op_into },
	{ "pid", 0, op_pid },		{ "spawn", 1, op_spawn },
	{ "kill", 2, op_kill },		{ "tgkill", 2, op_tgkill },
	{ "sigqueue", 2, op_sigqueue },	{ "pidfd_kill", 2, op_pidfd_kill },
	{ "sigio", 2, op_sigio },	{ "ptrace", 1, op_ptrace },
	{ "vmread", 2, op_vmread },	{ "vmwrite", 2, op_vmwrite },
	{ "getfd", 2, op_getfd },	{ "kcmp", 1, op_kcmp },
	{ "prlimit", 1, op_prlimit },	{ "affinity", 1, op_affinity },
	{ "prlimit_line", 0, op_prlimit_line },	{ "owner", 1, op_owner },
	{ "nice", 1, op_nice },		{ "procfile", 2, op_procfile },
	{ NULL, 0, NULL },
};
