/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The keeper: a small process beside the supervisor, outside the session. It
 * ends the session when the supervisor is gone, and when the wall time is over
 * even if the supervisor is stopped; and it answers for seccomp. It trusts
 * nothing the session can reach.
 */
#ifndef LH_KEEPER_H
#define LH_KEEPER_H

#include <stdint.h>
#include <sys/types.h>

#include "../policy-compiler/err.h"
#include "cgroup.h"
#include "engine.h"
#include "identity.h"
#include "listener.h"
#include "registry.h"
#include "terminal.h"

/* One byte each way over the socket pair. */
#define KEEPER_START 'S'	/* to it: the command runs, start the clock */
#define KEEPER_IDLE 'I'		/* to it: idle for too long, end it likewise */
#define KEEPER_DONE 'D'		/* to it: nothing is left, go */
#define KEEPER_OVER 'T'		/* from it: time is over, SIGTERM sent */
#define KEEPER_NEWS 'R'		/* from it: look into the book, soon */
#define KEEPER_FULL 'F'		/* from it: now */

struct keeper {
	pid_t pid;
	int pidfd;		/* readable: it is dead */
	int socket;
	int child;		/* for listener_make(), until the fork; or -1 */
};

struct keeper_job {
	struct cgroup_group *group;
	struct registry *registry;
	const struct identity *id;
	const char *session;
	const char *cache;	/* path of the tool cache, or NULL */
	struct engine_made *made;	/* NULL: no session in the engine */
	struct terminal *terminal;	/* NULL: no modes to bring back */
	bool temp;		/* there is a temp directory */
	uint64_t wall_time, grace;	/* nanoseconds; UINT64_MAX: none */
	struct listener listener;	/* without its descriptor */
};

/* Before the command is forked; what @job points to must be complete. */
int keeper_start(const struct keeper_job *job, struct keeper *k,
		 struct err *e);
int keeper_tell(const struct keeper *k, char word);
/* The next word from it, 0: none now, -EPIPE: it is gone. */
int keeper_hear(const struct keeper *k);
/*
 * On SIGCHLD: who stopped it stopped the answers too, and nobody has a reason
 * to, so it goes on at once.
 */
void keeper_wake(const struct keeper *k);
/* Tell it that all is done and wait for its end. */
void keeper_dismiss(struct keeper *k);

#endif
