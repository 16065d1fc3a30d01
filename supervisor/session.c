// SPDX-License-Identifier: GPL-2.0-only
/*
 * The session's loop, from the command's release to the last process's end.
 * It reads records, passes signals on, and notices three ends: the command's,
 * the keeper's, the wall time's. After it nothing of the session runs.
 */
#define _GNU_SOURCE
#include <errno.h>
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
#include "run.h"
#include "say.h"

#define DRAIN_MAX 1024		/* records between two looks at the rest */
#define FOLD_MS 100		/* equal system calls refused in it: one line */
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
	struct timespec begun;	/* CLOCK_BOOTTIME */
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
		    WEXITED | WNOHANG, &ru) || !si.si_pid)
		return;
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
	res->status = res->timed_out ? RESULT_TIMED_OUT :
		      res->signal ? RESULT_SIGNALED : RESULT_EXITED;
}

/*
 * The terminal signals its whole foreground group, the command too: only what
 * was sent to us alone is passed on. A stop stops us as well, so that the
 * shell sees its job stop; the keeper's clock goes on.
 */
static void take_signals(struct loop *l)
{
	struct signalfd_siginfo s;

	while (read(l->r->signals, &s, sizeof(s)) == sizeof(s)) {
		bool stop = s.ssi_signo == SIGTSTP || s.ssi_signo == SIGTTIN;

		if (s.ssi_signo == SIGCHLD) {
			keeper_wake(&l->r->keeper);
			continue;
		}
		if (s.ssi_code <= 0 && s.ssi_signo != SIGTTIN &&
		    l->r->launch.pidfd >= 0)
			syscall(SYS_pidfd_send_signal, l->r->launch.pidfd,
				s.ssi_signo, NULL, 0);
		if (stop) {
			drain(l);
			kill(getpid(), SIGSTOP);
		}
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

static int64_t since_ms(const struct timespec *t)
{
	struct timespec now;

	clock_gettime(CLOCK_BOOTTIME, &now);
	return (now.tv_sec - t->tv_sec) * 1000LL +
	       (now.tv_nsec - t->tv_nsec) / 1000000;
}

static void take_word(struct loop *l)
{
	struct run *r = l->r;
	int word = keeper_hear(&r->keeper);

	if (word == KEEPER_OVER) {
		r->result.timed_out = true;
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
	int64_t waited = l->news ? since_ms(&l->told) : 0;

	return !l->news ? -1 : waited < FOLD_MS ? FOLD_MS - waited : 0;
}

static int turn(struct loop *l, struct err *e)
{
	struct run *r = l->r;
	struct pollfd p[INPUTS] = {
		[SIGNALS] = { .fd = r->signals, .events = POLLIN },
		[COMMAND] = { .fd = r->launch.pidfd, .events = POLLIN },
		[GATE] = { .fd = r->launch.gate, .events = POLLIN },
		[RING] = { .fd = l->ring ? ring_buffer__epoll_fd(l->ring) : -1,
			   .events = POLLIN },
		[KEEPER] = { .fd = r->keeper.pidfd, .events = POLLIN },
		[WORDS] = { .fd = r->keeper.socket, .events = POLLIN },
	};
	int status = 0;

	flow_wait(&r->flow, p + FLOW);
	if (poll(p, INPUTS, patience(l)) < 0)
		return 0;	/* interrupted */
	flow_go(&r->flow, p + FLOW);
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
	if (p[COMMAND].revents) {
		/* It may have told two things before it ended. */
		while (!status && r->launch.gate >= 0)
			status = take_outcome(l, e);
		if (!status)
			command_exited(l);
	}
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
	       since_ms(&from) < END_MS) {
		cgroup_empty(&r->group, 20);
		drain(l);
	}
	flow_finish(&r->flow);
	while (drain(l))
		;
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
	res->denials_total = denials_so_far(r);
	res->denials_lost = res->denials_total - r->denials.received;
}

static int exit_status(const struct result *res)
{
	switch (res->status) {
	case RESULT_EXITED: return res->exit_code;
	case RESULT_SIGNALED: return 128 + res->signal;
	case RESULT_TIMED_OUT: return EXIT_TIMED_OUT;
	default: return EXIT_OURS;
	}
}

int run_follow(struct run *r, struct err *e)
{
	struct loop l = { .r = r };
	int status = 0;

	clock_gettime(CLOCK_BOOTTIME, &l.begun);
	if (r->engine)
		l.ring = ring_buffer__new(r->es.ring_fd, take_record, &l, NULL);
	if (r->engine && !l.ring) {
		err_sys(e, -errno, "the session's ring of denials");
		return EXIT_OURS;
	}
	while (!l.exited && !status)
		status = turn(&l, e);
	end_rest(&l);
	count(&l);
	hostexec_end(r->host_exec, &r->id);
	r->result.host_exec = r->host_exec;
	ring_buffer__free(l.ring);
	return status ? status : exit_status(&r->result);
}
