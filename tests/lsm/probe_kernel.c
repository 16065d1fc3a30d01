// SPDX-License-Identifier: GPL-2.0-only
/*
 * Calls that reach the kernel itself, sockets, and what a task says of itself.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "probe.h"

static int op_socket(char **a, struct probe_reply *r)
{
	int fd = socket(atoi(a[0]), strtol(a[1], NULL, 0),
			a[2] ? atoi(a[2]) : 0);

	(void)r;
	if (fd < 0)
		return errno;
	close(fd);
	return 0;
}

static int op_socketpair(char **a, struct probe_reply *r)
{
	int pair[2];

	(void)a;
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair))
		return errno;
	if (write(pair[0], "hi", 2) != 2 || read(pair[1], r->text, 2) != 2)
		return EIO;
	close(pair[0]);
	close(pair[1]);
	return 0;
}

/* Bind a socket file, listen, connect to it, as gpg-agent and its client. */
static int op_unixfile(char **a, struct probe_reply *r)
{
	struct sockaddr_un sa = { .sun_family = AF_UNIX };
	int s = socket(AF_UNIX, SOCK_STREAM, 0);
	int c = socket(AF_UNIX, SOCK_STREAM, 0);
	int err = 0;

	(void)r;
	strncpy(sa.sun_path, a[0], sizeof(sa.sun_path) - 1);
	if (s < 0 || c < 0 || bind(s, (struct sockaddr *)&sa, sizeof(sa)) ||
	    listen(s, 1) || connect(c, (struct sockaddr *)&sa, sizeof(sa)))
		err = errno;
	close(s);
	close(c);
	return err;
}

static int op_bpf(char **a, struct probe_reply *r)
{
	union bpf_attr attr = { 0 };
	long fd;

	(void)r;
	if (atoi(a[0]) == BPF_MAP_CREATE) {
		attr.map_type = BPF_MAP_TYPE_ARRAY;
		attr.key_size = attr.value_size = 4;
		attr.max_entries = 1;
	}
	fd = syscall(SYS_bpf, atoi(a[0]), &attr, sizeof(attr));
	if (fd < 0)
		return errno;
	if (fd > 2)
		close(fd);
	return 0;
}

static long bpf(int cmd, union bpf_attr *attr)
{
	return syscall(SYS_bpf, cmd, attr, sizeof(*attr));
}

static int bpf_info(int fd, void *info, uint32_t size)
{
	union bpf_attr attr = { .info = { .bpf_fd = fd, .info_len = size,
					  .info = (uintptr_t)info } };

	return bpf(BPF_OBJ_GET_INFO_BY_FD, &attr);
}

/* What the verifier walked for a program, which is pinned, or its link is. */
static int verified(const char *pin, unsigned int *insns)
{
	union bpf_attr attr = { .pathname = (uintptr_t)pin };
	int fd = bpf(BPF_OBJ_GET, &attr);
	struct bpf_prog_info prog = { 0 };
	struct bpf_link_info link = { 0 };
	char name[64], what[64] = "";
	int err = fd < 0 ? errno : 0;

	snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
	if (!err && readlink(name, what, sizeof(what) - 1) < 0)
		err = errno;
	if (!err && strstr(what, "link")) {	/* bpf_link or bpf-link */
		err = probe_errno(bpf_info(fd, &link, sizeof(link)));
		close(fd);
		memset(&attr, 0, sizeof(attr));
		attr.prog_id = link.prog_id;
		fd = bpf(BPF_PROG_GET_FD_BY_ID, &attr);
	} else if (!err && !strstr(what, "bpf-prog")) {
		err = EBADF;	/* a map */
	}
	if (!err)
		err = probe_errno(bpf_info(fd, &prog, sizeof(prog)));
	close(fd);
	*insns = prog.verified_insns;
	return err;
}

/* A line for each pin that is a program; not for `probe serve`. */
static int op_insns(char **a, struct probe_reply *r)
{
	unsigned int insns;

	(void)r;
	for (; *a; a++) {
		const char *name = strrchr(*a, '/') + 1;

		if (!strncmp(name, "link_", 5))
			name += 5;
		if (!verified(*a, &insns))
			printf("%s %u\n", name, insns);
	}
	return 0;
}

static int op_perf(char **a, struct probe_reply *r)
{
	struct perf_event_attr attr = { .type = PERF_TYPE_SOFTWARE,
					.size = sizeof(attr),
					.config = PERF_COUNT_SW_DUMMY,
					.exclude_kernel = 1 };
	long fd = syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0);

	(void)a;
	(void)r;
	if (fd < 0)
		return errno;
	close(fd);
	return 0;
}

/* In a child: what it does to the caller would spoil later questions. */
static int op_unshare(char **a, struct probe_reply *r)
{
	pid_t pid = fork();
	int status;

	(void)r;
	if (!pid)
		_exit(probe_errno(unshare(strtoul(a[0], NULL, 0))));
	waitpid(pid, &status, 0);
	return WEXITSTATUS(status);
}

/* FLAGS [OP ARG...]: a child so, which does that; 0, or the errno of either */
static int op_clone3(char **a, struct probe_reply *r)
{
	/* flags, three addresses, the signal at its end; the rest is 0 */
	uint64_t c[8] = { strtoul(a[0], NULL, 0), 0, 0, 0, SIGCHLD };
	pid_t pid = syscall(SYS_clone3, c, sizeof(c));
	int status;

	if (!pid)
		_exit(a[1] ? probe_run(a + 1, r) : 0);
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return errno;
	return WEXITSTATUS(status);
}

static int op_setns(char **a, struct probe_reply *r)
{
	int fd = open(a[0], O_RDONLY | O_CLOEXEC);
	int err;

	(void)r;
	if (fd < 0)
		return errno;
	err = probe_errno(setns(fd, 0));
	close(fd);
	return err;
}

/* Any call by number: `syscall NR A B C`. */
static int op_syscall(char **a, struct probe_reply *r)
{
	long v[6] = { 0 };
	long ret;

	for (int i = 0; i < 6 && a[1 + i]; i++)
		v[i] = strtol(a[1 + i], NULL, 0);
	ret = syscall(strtol(a[0], NULL, 0), v[0], v[1], v[2], v[3], v[4],
		      v[5]);
	r->value = ret;
	return probe_errno(ret);
}

/*
 * The 32-bit gate: getpid is number 20 there. The kernel may kill for it, so
 * a child asks, and EL2HLT stands for its death.
 */
static int op_int80(char **a, struct probe_reply *r)
{
	pid_t pid = fork();
	int status;

	(void)a;
	(void)r;
	if (!pid) {
		long ret = 20;

		__asm__ volatile("int $0x80" : "+a"(ret) : : "memory", "r8",
				 "r9", "r10", "r11");
		_exit(ret < 0 ? -ret : 0);
	}
	waitpid(pid, &status, 0);
	return WIFSIGNALED(status) ? EL2HLT : WEXITSTATUS(status);
}

static int op_ioctl(char **a, struct probe_reply *r)
{
	int fd = open(a[0], O_RDWR | O_NOCTTY | O_CLOEXEC);
	char c = 'x';
	int err;

	(void)r;
	if (fd < 0)
		return errno;
	err = probe_errno(syscall(SYS_ioctl, fd, strtoul(a[1], NULL, 0), &c));
	close(fd);
	return err;
}

static int op_comm(char **a, struct probe_reply *r)
{
	(void)r;
	return probe_errno(prctl(PR_SET_NAME, a[0], 0, 0, 0));
}

/* A line of /proc/self/status by its key. */
static int op_status(char **a, struct probe_reply *r)
{
	char line[256];
	FILE *f = fopen("/proc/self/status", "re");
	size_t n = strlen(a[0]);

	if (!f)
		return errno;
	while (fgets(line, sizeof(line), f))
		if (!strncmp(line, a[0], n) && line[n] == ':') {
			line[strcspn(line, "\n")] = 0;
			snprintf(r->text, sizeof(r->text), "%s",
				 line + n + 1 + strspn(line + n + 1, " \t"));
		}
	fclose(f);
	return r->text[0] ? 0 : ENOENT;
}

static int op_getenv(char **a, struct probe_reply *r)
{
	const char *v = getenv(a[0]);

	snprintf(r->text, sizeof(r->text), "%s", v ? v : "");
	return v ? 0 : ENOENT;
}

/* Descriptors above 2 that are open, as a count; 0 is what a session has. */
static int op_fds(char **a, struct probe_reply *r)
{
	(void)a;
	for (int fd = 3; fd < 1024; fd++)
		if (fcntl(fd, F_GETFD) >= 0)
			r->value++;
	return 0;
}

static int op_getcwd(char **a, struct probe_reply *r)
{
	(void)a;
	return getcwd(r->text, sizeof(r->text)) ? 0 : errno;
}

/* N refusals in a row of one file: the flood. */
static int op_flood(char **a, struct probe_reply *r)
{
	long n = strtol(a[1], NULL, 10);

	for (long i = 0; i < n; i++) {
		int fd = open(a[0], O_RDONLY | O_CLOEXEC);

		if (fd >= 0)
			return 0;
		r->value++;
	}
	return errno;
}

/* PATH COMMAND [NUMBER]: a pointer to the number, which most do not read. */
static int op_fcntl(char **a, struct probe_reply *r)
{
	uint64_t number = a[2] ? strtoul(a[2], NULL, 0) : 0;
	int fd = open(a[0], O_RDONLY | O_CLOEXEC);
	int err;

	(void)r;
	if (fd < 0)
		return errno;
	err = probe_errno(syscall(SYS_fcntl, fd, strtoul(a[1], NULL, 0),
				  &number));
	close(fd);
	return err;
}

const struct probe_op probe_kernel_ops[] = {
	{ "socket", 2, op_socket },	{ "socketpair", 0, op_socketpair },
	{ "unixfile", 1, op_unixfile },	{ "bpf", 1, op_bpf },
	{ "perf", 0, op_perf },		{ "unshare", 1, op_unshare },
	{ "setns", 1, op_setns },	{ "syscall", 1, op_syscall },
	{ "int80", 0, op_int80 },	{ "ioctl", 2, op_ioctl },
	{ "fcntl", 2, op_fcntl },
	{ "comm", 1, op_comm },		{ "status", 1, op_status },
	{ "getenv", 1, op_getenv },	{ "fds", 0, op_fds },
	{ "getcwd", 0, op_getcwd },	{ "flood", 2, op_flood },
	{ "insns", 1, op_insns },	{ "clone3", 1, op_clone3 },
	{ NULL, 0, NULL },
};
