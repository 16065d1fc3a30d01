// SPDX-License-Identifier: GPL-2.0-only
/*
 * The keeper. Everything it will need is open before it is forked, but for the
 * listener, which the command's process sends; it waits for the supervisor's
 * end, a word from it, the clock, and refused system calls. The clock is
 * CLOCK_BOOTTIME, which neither SIGSTOP nor suspend holds back.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cleanup.h"
#include "keeper.h"
#include "leftover.h"
#include "step.h"
#include "temp.h"

#define EMPTY_MS 60000		/* a killed task may hang in the kernel */

enum { SUPERVISOR, WORDS, CLOCK, CHILD, LISTENER, INPUTS };

struct watch {
	const struct keeper_job *job;
	int supervisor, words, clock;
	int child;		/* the listener comes here, once; then -1 */
	struct listener listener;
	bool started, warned;
};

/* Only what it needs stays open; the rest could keep pipes from ending. */
static void close_others(struct watch *w)
{
	struct cgroup_group *g = w->job->group;
	struct engine_made *m = w->job->made;
	struct terminal *t = w->job->terminal;
	int none[4];
	int *keep[] = {
		&w->supervisor, &w->words, &w->child, &g->dir, &g->kill,
		&g->events, &g->procs, &w->job->registry->fd,
		m ? &m->made : &none[0], m ? &m->ipc : &none[1],
		m ? &m->find : &none[2], t ? &t->outer : &none[3],
	};
	const int count = sizeof(keep) / sizeof(*keep);
	int high[sizeof(keep) / sizeof(*keep)];
	int i;

	none[0] = none[1] = none[2] = none[3] = w->words;
	/* Out of the way first, then down in order. */
	for (i = 0; i < count; i++)
		high[i] = fcntl(*keep[i], F_DUPFD_CLOEXEC, 3 + count);
	for (i = 0; i < count; i++) {
		if (high[i] < 0 || dup3(high[i], 3 + i, O_CLOEXEC) < 0)
			_exit(1);	/* the supervisor ends the session */
		*keep[i] = 3 + i;
	}
	syscall(SYS_close_range, 3 + count, ~0u, 0);
	w->job->registry->facts = -1;	/* the supervisor's to renew */
	i = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (i >= 0) {
		dup2(i, 0);
		dup2(i, 1);
		dup2(i, 2);
	}
	if (i > 2)
		close(i);
}

static void be_quiet(void)
{
	sigset_t all;

	/* No signal of a terminal or a user is for it; SIGKILL stays. */
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	setsid();
	prctl(PR_SET_NAME, "lh-keeper");
	prctl(PR_SET_DUMPABLE, 0);
	if (chdir("/"))
		return;
}

static int set_clock(int fd, uint64_t ns)
{
	struct itimerspec t = {
		.it_value = { .tv_sec = ns / 1000000000,
			      .tv_nsec = ns % 1000000000 },
	};

	if (!ns)
		t.it_value.tv_nsec = 1;
	return timerfd_settime(fd, 0, &t, NULL) ? -errno : 0;
}

/* The supervisor is gone: end the session and leave nothing of it. */
static void end_session(const struct keeper_job *job)
{
	step("orphaned");
	if (job->terminal)
		terminal_leave(job->terminal);
	cgroup_empty(job->group, EMPTY_MS);
	step("killed");
	if (job->made)
		leftover_remove(job->made);
	cgroup_remove(job->group, NULL);
	step("removed");
	if (job->temp)
		temp_remove(job->id, &job->id->user, job->session);
	if (job->cache)
		temp_cache_prune(job->id, job->cache);
	registry_leave(job->registry);
	_exit(0);
}

static void ask_to_end(struct watch *w)
{
	const struct keeper_job *job = w->job;
	char word = KEEPER_OVER;

	w->warned = true;
	send(w->words, &word, 1, MSG_NOSIGNAL | MSG_DONTWAIT);
	cgroup_signal(job->group, SIGTERM);
	cgroup_signal(job->group, SIGCONT);	/* a stopped one hears it too */
	syscall(SYS_pidfd_send_signal, w->supervisor, SIGCONT, NULL, 0);
	if (set_clock(w->clock, job->grace == UINT64_MAX ? 0 : job->grace))
		cgroup_kill(job->group);
}

static void time_is_over(struct watch *w)
{
	uint64_t times;

	if (read(w->clock, &times, sizeof(times)) < 0)
		return;
	if (!w->warned) {
		ask_to_end(w);
		return;
	}
	cgroup_kill(w->job->group);
	set_clock(w->clock, 200000000);	/* again: forks race */
}

static void take_word(struct watch *w)
{
	char word;
	ssize_t n = recv(w->words, &word, 1, MSG_DONTWAIT);

	if (!n || (n < 0 && errno != EAGAIN && errno != EINTR))
		end_session(w->job);
	if (n != 1)
		return;
	if (word == KEEPER_DONE) {
		step("dismissed");
		_exit(0);
	}
	if (word == KEEPER_START && !w->started) {
		w->started = true;
		step("started");
		if (w->job->wall_time != UINT64_MAX &&
		    set_clock(w->clock, w->job->wall_time))
			end_session(w->job);
	}
	if (word == KEEPER_IDLE && !w->warned)
		ask_to_end(w);
}

static void take_listener(struct watch *w)
{
	w->listener.fd = listener_receive(w->child);
	close_fd(&w->child);
	step("listens");
}

static void refuse(struct watch *w)
{
	static const char words[] = {
		[LISTENER_NEWS] = KEEPER_NEWS, [LISTENER_FULL] = KEEPER_FULL,
	};
	int news = listener_serve(&w->listener);

	step("refused");
	if (news != LISTENER_CALM)
		send(w->words, &words[news], 1, MSG_NOSIGNAL | MSG_DONTWAIT);
}

__attribute__((noreturn))
static void keep(struct watch *w)
{
	step_as("keeper");
	be_quiet();
	step("quiet");
	close_others(w);
	step("alone");
	w->clock = timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK);
	if (w->clock < 0)
		_exit(1);
	for (;;) {
		struct pollfd p[INPUTS] = {
			[SUPERVISOR] = { w->supervisor, POLLIN, 0 },
			[WORDS] = { w->words, POLLIN, 0 },
			[CLOCK] = { w->clock, POLLIN, 0 },
			[CHILD] = { w->child, POLLIN, 0 },
			[LISTENER] = { w->listener.fd, POLLIN, 0 },
		};

		if (poll(p, INPUTS, -1) < 0 && errno != EINTR)
			_exit(1);
		if (p[WORDS].revents)
			take_word(w);
		if (p[SUPERVISOR].revents)
			end_session(w->job);
		if (p[CLOCK].revents)
			time_is_over(w);
		if (p[CHILD].revents)
			take_listener(w);
		if (p[LISTENER].revents & POLLIN)
			refuse(w);
		else if (p[LISTENER].revents)
			close_fd(&w->listener.fd);	/* all are gone */
	}
}

int keeper_start(const struct keeper_job *job, struct keeper *k, struct err *e)
{
	_cleanup_close_ int self = syscall(SYS_pidfd_open, getpid(), 0);
	_cleanup_close_ int near = -1;
	_cleanup_close_ int far = -1;
	_cleanup_close_ int child = -1;
	_cleanup_close_ int listen = -1;
	int pair[2];

	if (self < 0)
		return err_sys(e, -errno, "keeper: pidfd_open");
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair))
		return err_sys(e, -errno, "keeper: socketpair");
	near = pair[0];
	far = pair[1];
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair))
		return err_sys(e, -errno, "keeper: socketpair");
	child = pair[0];
	listen = pair[1];
	k->pid = fork();
	if (k->pid < 0)
		return err_sys(e, -errno, "keeper: fork");
	if (!k->pid) {
		struct watch w = { .job = job, .supervisor = self,
				   .words = far, .child = listen,
				   .listener = job->listener };

		close_fd(&near);
		close_fd(&child);
		keep(&w);
	}
	k->pidfd = syscall(SYS_pidfd_open, k->pid, 0);
	if (k->pidfd < 0)
		return err_sys(e, -errno, "keeper: pidfd_open");
	k->socket = take_fd(&near);
	k->child = take_fd(&child);
	return 0;
}

int keeper_tell(const struct keeper *k, char word)
{
	return send(k->socket, &word, 1, MSG_NOSIGNAL) == 1 ? 0 : -errno;
}

int keeper_hear(const struct keeper *k)
{
	char word;
	ssize_t n = recv(k->socket, &word, 1, MSG_DONTWAIT);

	if (n == 1)
		return word;
	return n < 0 && (errno == EAGAIN || errno == EINTR) ? 0 : -EPIPE;
}

void keeper_wake(const struct keeper *k)
{
	siginfo_t si = {};

	if (k->pidfd < 0 ||
	    waitid(P_PIDFD, k->pidfd, &si, WSTOPPED | WNOHANG) || !si.si_pid)
		return;
	syscall(SYS_pidfd_send_signal, k->pidfd, SIGCONT, NULL, 0);
}

void keeper_dismiss(struct keeper *k)
{
	int status = 0;

	if (k->pid <= 0)
		return;
	keeper_tell(k, KEEPER_DONE);
	close_fd(&k->socket);
	close_fd(&k->child);
	/* One that is held does not hold us. */
	while (waitpid(k->pid, &status, WUNTRACED) < 0 ? errno == EINTR :
	       WIFSTOPPED(status))
		syscall(SYS_pidfd_send_signal, k->pidfd, SIGCONT, NULL, 0);
	close_fd(&k->pidfd);
	k->pid = 0;
}
