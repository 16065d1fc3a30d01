// SPDX-License-Identifier: GPL-2.0-only
/*
 * Calls that seccomp refuses, by the thousand, and filters of one's own.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "probe.h"

#define THREADS_MAX 64

struct storm {
	long times, vary;
	long refused;
};

/* Of the same arguments each time, or of others. */
static void *storm_blow(void *arg)
{
	struct storm *s = arg;
	long i;

	for (i = 0; i < s->times; i++)
		if (syscall(SYS_ptrace, 99, s->vary ? i : 0, 0, 0) == -1 &&
		    errno == EPERM)
			s->refused++;
	return NULL;
}

/* THREADS TIMES [v]: ptrace in a loop; value: how many were refused. */
static int op_storm(char **a, struct probe_reply *r)
{
	int n = atoi(a[0]), i, started;
	pthread_t thread[THREADS_MAX];
	struct storm s[THREADS_MAX];

	if (n > THREADS_MAX)
		return EINVAL;
	for (i = 0; i < n; i++) {
		s[i] = (struct storm){ .times = atol(a[1]), .vary = !!a[2] };
		if (pthread_create(&thread[i], NULL, storm_blow, &s[i]))
			break;
	}
	started = i;
	for (i = 0; i < started; i++) {
		pthread_join(thread[i], NULL);
		r->value += s[i].refused;
	}
	return started < n ? EAGAIN : 0;
}

/*
 * ACTION FLAGS: in a child, a filter that says ACTION to each ptrace, then
 * ptrace: that errno, or that of the filter; value: 1, the filter was taken.
 */
static int op_filter(char **a, struct probe_reply *r)
{
	struct sock_filter f[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			 offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_ptrace, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, strtoul(a[0], NULL, 0)),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog p = { .len = 4, .filter = f };
	pid_t pid = fork();
	int status;

	if (!pid) {
		prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
		if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
			    strtoul(a[1], NULL, 0), &p) < 0)
			_exit(errno);
		_exit(128 | (syscall(SYS_ptrace, 99, 0, 0, 0) < 0 ? errno : 0));
	}
	if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
		return EIO;
	r->value = WEXITSTATUS(status) >> 7;
	return WEXITSTATUS(status) & 127;
}

const struct probe_op probe_seccomp_ops[] = {
	{ "storm", 2, op_storm },	{ "filter", 2, op_filter },
	{ NULL, 0, NULL },
};
