// SPDX-License-Identifier: GPL-2.0-only
/*
 * The session's loop, from the command's release to the last process's end.
 * It reads records, passes signals on, and notices three ends: the command's,
 * the keeper's, the wall time's. After it nothing of the session runs.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <bpf/libbpf.h>

#include "cleanup.h"
#include "confine.h"
#include "facts.h"
#include "reached.h"
#include "run.h"
#include "say.h"
#include "step.h"

#define DRAIN_MAX 1024		/* records between two looks at the rest */
#define FOLD_MS 100		/* equal system calls refused in it: one line */
#define HAND_MS 5000		/* a reader that takes nothing more */
#define END_MS 30000		/* for killed processes to be gone */

enum {
	SIGNALS, COMMAND, GATE, RING, KEEPER, WORDS, FLOW,
	INPUTS = FLOW + FLOW_STREAMS,
};

struct loop {
	struct run *r;
	struct ring_buffer *ring;
	unsigned int drained;
	bool news;		/* in the book, since */
	struct timespec told;
	bool exited;
	bool held;		/* over, and a tracer has not looked yet */
	struct timespec begun;	/* CLOCK_BOOTTIME */
	struct timespec moved;	/* CLOCK_MONOTONIC: output did, or began to */
	bool idle;		/* for too long; the keeper is told */
	bool own_terminal;	/* the session has */
	bool stopped, stop_asked;	/* the command is; somebody wants it */
	int ended_by;		/* a signal to us that asks for our end */
};

static int take_record(void *arg, void *data, size_t size)
{
	struct loop *l = arg;

	denials_add(&l->r->denials, data, size, 1);
	/* A flood must not keep us from the rest: stop, look, come back. */
	return ++l->drained < DRAIN_MAX ? 0 : -EAGAIN;
}

static void take_book(struct loop *l)
{
	struct book *b = l->r->book;
	struct book_entry entry;
	size_t at = 0, size;

	l->news = false;
	/* First: what is written from here on is told anew. */
	__atomic_store_n(&b->told, 0, __ATOMIC_SEQ_CST);
	while (book_take(b, &at, &entry, &size))
		denials_add(&l->r->denials, &entry.d, size, entry.count);
}

/*
 * Both at once: their numbers are of one sequence. true: there may be more.
 */
static bool drain(struct loop *l)
{
	l->drained = 0;
	if (l->ring)
		ring_buffer__consume(l->ring);
	if (l->r->book)
		take_book(l);
	denials_flush(&l->r->denials);
	return l->drained >= DRAIN_MAX;
}

/* As many as the kernel counts, or as came by another way. */
static uint64_t denials_so_far(const struct run *r)
{
	__u64 seq = 0, lost = 0;

	if (r->engine)
		engine_counters(r->engine, &r->es, &seq, &lost);
	else if (r->book)
		seq = r->book->seq;
	return seq > r->denials.received ? seq : r->denials.received;
}

static void fail(struct run *r, const char *why)
{
	if (!r->result.error[0])
		snprintf(r->result.error, sizeof(r->result.error), "%s", why);
}

/* Our own rule is gone: no policy, no session. */
static void end_now(struct loop *l, const char *why)
{
	struct run *r = l->r;

	r->result.status = RESULT_KILLED;
	fail(r, why);
	if (r->engine)
		engine_kill(r->engine, &r->es);
	cgroup_kill(&r->group);
}

static void command_exited(struct loop *l)
{
	struct result *res = &l->r->result;
	struct rusage ru = {};
	siginfo_t si = {};

	if (syscall(SYS_waitid, P_PIDFD, l->r->launch.pidfd, &si,
		    WEXITED | WNOHANG, &ru))
		return;
	if (!si.si_pid) {
		/* Its tracer is of the rest; when that ends, SIGCHLD comes. */
		l->held = true;
		cgroup_kill(&l->r->group);
		return;
	}
	l->exited = true;
	l->r->launch.pid = 0;
	close_fd(&l->r->launch.pidfd);
	res->max_rss = ru.ru_maxrss * 1024ULL;
	if (si.si_code == CLD_EXITED)
		res->exit_code = si.si_status;
	else
		res->signal = si.si_status;
	if (res->status == RESULT_KILLED)
		return;
	res->status = res->idle ? RESULT_IDLE :
		      res->timed_out ? RESULT_TIMED_OUT :
		      res->signal ? RESULT_SIGNALED : RESULT_EXITED;
}

/*
 * As the command does: the shell sees its job stop, and its CONT lets both go
 * on. The keeper's clock goes on, and wakes us when the time is over.
 */
static void stop_too(struct loop *l)
{
	drain(l);
	flow_leave(&l->r->flow);
	kill(getpid(), SIGSTOP);
	flow_enter(&l->r->flow);
	clock_gettime(CLOCK_MONOTONIC, &l->moved);
	l->stopped = l->stop_asked = false;
}

static bool in_foreground(void)
{
	int fd;

	for (fd = 0; fd < 3; fd++)
		if (tcgetpgrp(fd) == getpgrp())
			return true;
	return false;
}

/* A stop is followed where a shell waits for it, and nowhere else. */
static void look_if_stopped(struct loop *l)
{
	siginfo_t si = {};

	if (l->r->launch.pidfd >= 0 &&
	    !waitid(P_PIDFD, l->r->launch.pidfd, &si,
		    WSTOPPED | WCONTINUED | WNOHANG) && si.si_pid)
		l->stopped = si.si_code != CLD_CONTINUED;
	if (l->own_terminal ? l->stop_asked :
	    l->stopped && (l->stop_asked || in_foreground()))
		stop_too(l);
}

static void take_signal(struct loop *l, const struct signalfd_siginfo *s)
{
	int n = s->ssi_signo;
	bool sent = s->ssi_code <= 0 || l->own_terminal;

	switch (n) {
	case SIGINT: case SIGTERM: case SIGHUP: case SIGQUIT:
		l->ended_by = n;
		break;
	case SIGCONT:
		l->stop_asked = false;
		clock_gettime(CLOCK_MONOTONIC, &l->moved);
		flow_enter(&l->r->flow);
		break;
	case SIGTSTP:
		l->stop_asked = true;
		break;
	case SIGTTIN: case SIGTTOU:
		l->stop_asked = true;
		return;
	case SIGWINCH:
		terminal_resize(&l->r->flow.terminal);
		sent = s->ssi_code <= 0;
		break;
	}
	if (sent && l->r->launch.pidfd >= 0)
		syscall(SYS_pidfd_send_signal, l->r->launch.pidfd, n, NULL, 0);
}

/*
 * The terminal signals its whole foreground group, the command too: only what
 * was sent to us alone is passed on. One with a terminal of its own is in no
 * group of ours.
 */
static void take_signals(struct loop *l)
{
	struct signalfd_siginfo s;

	while (read(l->r->signals, &s, sizeof(s)) == sizeof(s)) {
		if (s.ssi_signo == SIGCHLD)
			keeper_wake(&l->r->keeper);
		else
			take_signal(l, &s);
	}
	look_if_stopped(l);
}

/* A refusal without a record, where the policy wants none. */
static bool lost_one(const struct run *r, char *why, size_t size)
{
	__u64 seq, lost = r->book ? r->book->lost : 0;

	if (!(r->load.im->flags & IMAGE_KILL_ON_LOSS))
		return false;
	if (r->engine)
		engine_counters(r->engine, &r->es, &seq, &lost);
	if (r->denials.unwritten)
		snprintf(why, size, "a denial record could not be kept (%s)",
			 strerror(-r->denials.error));
	else if (lost)
		snprintf(why, size, "denial records were lost in a flood");
	return r->denials.unwritten || lost;
}

static void look_if_lost(struct loop *l)
{
	char why[160];

	if (l->r->result.status != RESULT_KILLED &&
	    lost_one(l->r, why, sizeof(why))) {
		strcat(why, ", and on_loss is \"kill\"");
		end_now(l, why);
	}
}

/* It runs, or it never did. */
static int take_outcome(struct loop *l, struct err *e)
{
	int status = launch_outcome(&l->r->launch, e);

	if (status)
		l->r->result.status = RESULT_NOT_STARTED;
	l->r->result.unheard = l->r->launch.unheard;
	if (l->r->launch.no_filter)
		confine_refused(l->r, "linux_seccomp", false, e);
	return status;
}

static int64_t since_ms(clockid_t clock, const struct timespec *t)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (now.tv_sec - t->tv_sec) * 1000LL +
	       (now.tv_nsec - t->tv_nsec) / 1000000;
}

static void take_word(struct loop *l)
{
	struct run *r = l->r;
	int word = keeper_hear(&r->keeper);

	if (word == KEEPER_OVER) {
		r->result.timed_out = true;
		r->result.idle = l->idle;
	} else if (word == KEEPER_NEWS && !l->news) {
		l->news = true;
		clock_gettime(CLOCK_BOOTTIME, &l->told);
	} else if (word == KEEPER_FULL) {
		drain(l);
	} else if (word < 0 && !l->exited) {
		close_fd(&r->keeper.socket);
		end_now(l, "the keeper is gone; the session was killed");
	}
}

/* How long the news may wait for more of its kind; -1: there are none. */
static int patience(const struct loop *l)
{
	int64_t waited = l->news ? since_ms(CLOCK_BOOTTIME, &l->told) : 0;

	return !l->news ? -1 : waited < FOLD_MS ? FOLD_MS - waited : 0;
}

/*
 * How long it may go on without output; -1: for ever. While output waits for
 * its reader it is the reader who is idle.
 */
static int quiet_left(const struct loop *l)
{
	uint64_t most = l->r->load.im->limits.idle_time;
	int64_t waited;

	if (most == IMAGE_NO_LIMIT || l->idle || flow_waits(&l->r->flow))
		return -1;
	waited = since_ms(CLOCK_MONOTONIC, &l->moved);
	most = (most + 999999) / 1000000;
	if (waited >= (int64_t)most)
		return 0;
	return most - waited < INT_MAX ? (int)(most - waited) : INT_MAX;
}

static void look_if_idle(struct loop *l)
{
	if (quiet_left(l))
		return;
	l->idle = true;
	keeper_tell(&l->r->keeper, KEEPER_IDLE);
}

static int shorter(int a, int b)
{
	return a < 0 || (b >= 0 && b < a) ? b : a;
}

static int turn(struct loop *l, struct err *e)
{
	struct run *r = l->r;
	struct pollfd p[INPUTS] = {
		[SIGNALS] = { .fd = r->signals, .events = POLLIN },
		[COMMAND] = { .fd = l->held ? -1 : r->launch.pidfd,
			      .events = POLLIN },
		[GATE] = { .fd = r->launch.gate, .events = POLLIN },
		[RING] = { .fd = l->ring ? ring_buffer__epoll_fd(l->ring) : -1,
			   .events = POLLIN },
		[KEEPER] = { .fd = r->keeper.pidfd, .events = POLLIN },
		[WORDS] = { .fd = r->keeper.socket, .events = POLLIN },
	};
	int status = 0;

	flow_wait(&r->flow, p + FLOW);
	if (poll(p, INPUTS, shorter(patience(l), quiet_left(l))) < 0)
		return 0;	/* interrupted */
	if (flow_go(&r->flow, p + FLOW))
		clock_gettime(CLOCK_MONOTONIC, &l->moved);
	if (p[GATE].revents)
		status = take_outcome(l, e);
	if (p[RING].revents || !patience(l))
		drain(l);
	if (p[WORDS].revents)
		take_word(l);
	if (p[KEEPER].revents) {
		close_fd(&r->keeper.pidfd);
		end_now(l, "the keeper is gone; the session was killed");
	}
	if (p[SIGNALS].revents)
		take_signals(l);
	if (p[COMMAND].revents || (l->held && p[SIGNALS].revents)) {
		/* It may have told two things before it ended. */
		while (!status && r->launch.gate >= 0)
			status = take_outcome(l, e);
		if (!status)
			command_exited(l);
	}
	look_if_idle(l);
	look_if_lost(l);
	facts_denials(&r->registry, denials_so_far(r));
	return status;
}

/* What the command left running ends with it. */
static void end_rest(struct loop *l)
{
	struct run *r = l->r;
	struct timespec from;

	clock_gettime(CLOCK_BOOTTIME, &from);
	while (cgroup_populated(&r->group) == 1 &&
	       since_ms(CLOCK_BOOTTIME, &from) < END_MS) {
		cgroup_empty(&r->group, 20);
		drain(l);
	}
	while (drain(l))
		;
	look_if_lost(l);
}

/*
 * What the caller has not read yet. A reader has as long as the session had,
 * or till somebody asks us to end; after that, as long as it goes on reading.
 */
static void hand_over(struct loop *l)
{
	struct run *r = l->r;
	bool over = r->result.timed_out;

	l->ended_by = 0;
	clock_gettime(CLOCK_MONOTONIC, &l->moved);
	while (!flow_finish(&r->flow)) {
		struct pollfd p[FLOW_STREAMS + 2];
		int word;

		if (over && since_ms(CLOCK_MONOTONIC, &l->moved) >= HAND_MS)
			return;
		flow_wait(&r->flow, p);
		p[FLOW_STREAMS] = (struct pollfd){ r->signals, POLLIN, 0 };
		p[FLOW_STREAMS + 1] = (struct pollfd){
			over ? -1 : r->keeper.socket, POLLIN, 0 };
		if (poll(p, FLOW_STREAMS + 2, over ? HAND_MS : -1) < 0)
			continue;
		if (flow_go(&r->flow, p))
			clock_gettime(CLOCK_MONOTONIC, &l->moved);
		if (p[FLOW_STREAMS].revents)
			take_signals(l);
		if (p[FLOW_STREAMS + 1].revents) {
			word = keeper_hear(&r->keeper);
			over = word < 0 || word == KEEPER_OVER;
		}
		if (l->ended_by)
			return;
	}
}

static void count(struct loop *l)
{
	struct run *r = l->r;
	struct result *res = &r->result;
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &res->ended);
	clock_gettime(CLOCK_BOOTTIME, &now);
	res->wall_ns = (now.tv_sec - l->begun.tv_sec) * 1000000000LL +
		       (now.tv_nsec - l->begun.tv_nsec);
	cgroup_usage(&r->group, &res->usage);
	reached_end(r);
	res->denials_total = denials_so_far(r);
	res->denials_lost = res->denials_total - r->denials.received;
}

static int exit_status(const struct result *res)
{
	switch (res->status) {
	case RESULT_EXITED: return res->exit_code;
	case RESULT_SIGNALED: return 128 + res->signal;
	case RESULT_TIMED_OUT: case RESULT_IDLE: return EXIT_TIMED_OUT;
	default: return EXIT_OURS;
	}
}

int run_follow(struct run *r, struct err *e)
{
	struct loop l = { .r = r, .own_terminal = r->flow.shown };
	int status = 0;

	clock_gettime(CLOCK_BOOTTIME, &l.begun);
	clock_gettime(CLOCK_MONOTONIC, &l.moved);
	flow_enter(&r->flow);
	if (r->engine)
		l.ring = ring_buffer__new(r->es.ring_fd, take_record, &l, NULL);
	if (r->engine && !l.ring) {
		err_sys(e, -errno, "the session's ring of denials");
		return EXIT_OURS;
	}
	step("follow");
	while (!l.exited && !status)
		status = turn(&l, e);
	step("exited");
	end_rest(&l);
	step("empty");
	count(&l);
	hand_over(&l);
	flow_leave(&r->flow);
	if (r->result.status != RESULT_EXITED)
		flow_put_right(&r->flow);
	step("handed-over");
	hostexec_end(r->host_exec, &r->id, !r->engine ? UINT64_MAX :
		     engine_touched(r->engine, &r->es));
	r->result.host_exec = r->host_exec;
	ring_buffer__free(l.ring);
	return status ? status : exit_status(&r->result);
}
