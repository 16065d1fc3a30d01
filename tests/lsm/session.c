// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sessions for tests: start, ask, end. A question that gets no answer in time
 * is an answer (-1), so that no test can hang.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "session.h"


static const char *program(const char *name)
{
	static char path[2][512];
	static int turn;
	const char *dir = getenv("B");

	turn ^= 1;
	snprintf(path[turn], sizeof(path[0]), "%s/%s", dir ? dir : "build",
		 name);
	return path[turn];
}

const char *session_supervisor = "lh-supervise";
int session_answer_ms = 150000;
int session_stderr = -1;
int session_keep = -1;

/* A child with three or four descriptors of ours and no others. */
static pid_t spawn(const char *const *arg, int in, int out, int err,
		   const struct world *as)
{
	pid_t pid = fork();

	if (pid)
		return pid;
	if (dup2(in, 0) < 0 || dup2(out, 1) < 0 || dup2(err, 2) < 0)
		_exit(111);
	if (session_keep >= 0 && (dup2(session_keep, 3) < 0 ||
				  fcntl(3, F_SETFD, 0)))
		_exit(111);
	closefrom(session_keep < 0 ? 3 : 4);
	if (as && (initgroups(as->user, as->gid) || setgid(as->gid) ||
		   setuid(as->uid) || chdir(at(as, "ws"))))
		_exit(112);
	execv(arg[0], (char *const *)arg);
	_exit(113);
}

static int start(struct session *s, const char *const *arg, const char *err,
		 const struct world *as)
{
	int in[2], out[2];
	int log = open(err, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);

	/* Its user may open it again, as /dev/stderr. */
	if (log < 0 || fchown(log, s->w->uid, s->w->gid) ||
	    pipe2(in, O_CLOEXEC) || pipe2(out, O_CLOEXEC))
		return -errno;
	s->pid = spawn(arg, in[0], out[1],
		       session_stderr < 0 ? log : session_stderr, as);
	session_stderr = session_keep = -1;
	close(in[0]);
	close(out[1]);
	close(log);
	s->in = in[1];
	s->out = out[0];
	if (s->pid < 0 || ask(s, "pid"))
		return -ECHILD;
	s->probe = s->reply.value;
	return 0;
}

int session_start(struct session *s, const struct world *w, const char *name,
		  const char *const *flags)
{
	const char *arg[64];
	char policy[128], denials[128], result[128], cwd[128];
	char probe[512], supervisor[512];
	int n = 0;

	memset(s, 0, sizeof(*s));
	s->w = w;
	snprintf(s->name, sizeof(s->name), "%s", name);
	snprintf(supervisor, sizeof(supervisor), "%s",
		 program(session_supervisor));
	snprintf(probe, sizeof(probe), "%s", program("tests/lsm/probe"));
	snprintf(cwd, sizeof(cwd), "%s/ws", w->dir);
	snprintf(policy, sizeof(policy), "%s/log/policy.json", w->dir);
	snprintf(denials, sizeof(denials), "%s/log/%s.denials", w->dir, name);
	snprintf(result, sizeof(result), "%s/log/%s.result", w->dir, name);
	for (const char *const *f = (const char *const[]){
		     supervisor, "--policy", policy, "-C", cwd, "--user",
		     w->user, "--denials", denials, "--result", result, NULL };
	     *f; f++)
		arg[n++] = *f;
	for (; flags && *flags && n < 58; flags++)
		arg[n++] = *flags;
	arg[n++] = "--";
	arg[n++] = probe;
	arg[n++] = "serve";
	arg[n] = NULL;
	return start(s, arg, at(w, "log/%s.stderr", name), NULL);
}

int twin_start(struct session *s, const struct world *w)
{
	char probe[512];

	memset(s, 0, sizeof(*s));
	s->w = w;
	snprintf(s->name, sizeof(s->name), "twin");
	snprintf(probe, sizeof(probe), "%s", program("tests/lsm/probe"));
	return start(s, (const char *const[]){ probe, "serve", NULL },
		     at(w, "log/twin.stderr"), w);
}

/* Read one reply: 0, or -1 if it does not come in time or not whole. */
static int answer(struct session *s)
{
	size_t got = 0;

	while (got < sizeof(s->reply)) {
		struct pollfd p = { .fd = s->out, .events = POLLIN };
		ssize_t n;

		if (poll(&p, 1, session_answer_ms) <= 0)
			return -1;
		n = read(s->out, (char *)&s->reply + got,
			 sizeof(s->reply) - got);
		if (n <= 0)
			return -1;
		got += n;
	}
	return 0;
}

int session_ask(struct session *s, const char *const *arg)
{
	char buf[PROBE_FRAME + 4];
	uint32_t len = 0;

	for (; *arg; arg++) {
		size_t n = strlen(*arg) + 1;

		if (len + n > PROBE_FRAME)
			return -1;
		memcpy(buf + 4 + len, *arg, n);
		len += n;
	}
	memcpy(buf, &len, 4);
	signal(SIGPIPE, SIG_IGN);
	if (write(s->in, buf, 4 + len) != (ssize_t)(4 + len) || answer(s))
		return -1;
	return s->reply.err;
}

pid_t session_keeper(const struct session *s)
{
	char path[64];
	pid_t pid = -1;
	FILE *f;

	/* Forked before the command, and not reaped before the end. */
	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", s->pid,
		 s->pid);
	f = fopen(path, "re");
	if (!f)
		return -1;
	if (fscanf(f, "%d", &pid) != 1)
		pid = -1;
	fclose(f);
	return pid;
}

int session_end(struct session *s)
{
	int status = -1;

	if (s->in > 0)
		close(s->in);
	if (s->out > 0)
		close(s->out);
	s->in = s->out = 0;
	if (s->pid > 0 && !gone(s->pid, session_answer_ms))
		kill(s->pid, SIGKILL);
	if (s->pid > 0 && waitpid(s->pid, &status, 0) != s->pid)
		status = -1;
	s->pid = 0;
	return status;
}

bool gone(pid_t pid, int ms)
{
	int fd = syscall(SYS_pidfd_open, pid, 0);
	struct pollfd p = { .fd = fd, .events = POLLIN };
	int n;

	if (fd < 0)
		return errno == ESRCH;
	n = poll(&p, 1, ms);
	close(fd);
	return n == 1;
}

int supervise(const struct world *w, char *err, size_t size,
	      const char *const *arg)
{
	const char *argv[64];
	int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
	int fd[2], n = 0, status;
	size_t used = 0;
	ssize_t got;
	pid_t pid;

	(void)w;
	argv[n++] = program(session_supervisor);
	for (; *arg && n < 63; arg++)
		argv[n++] = *arg;
	argv[n] = NULL;
	if (null < 0 || pipe2(fd, O_CLOEXEC))
		return -1;
	pid = spawn(argv, null, fd[1], fd[1], NULL);
	close(fd[1]);
	close(null);
	while ((got = read(fd[0], err + used, size - 1 - used)) > 0 ||
	       (got < 0 && errno == EINTR))
		used += got > 0 ? got : 0;
	err[used] = 0;
	close(fd[0]);
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return -1;
	return status;
}
