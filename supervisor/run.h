/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One run: everything that main, start and session share. Whatever was made is
 * undone by run_undo(), in the opposite order, however far the start came.
 */
#ifndef LH_RUN_H
#define LH_RUN_H

#include <signal.h>

#include "cgroup.h"
#include "denials.h"
#include "engine.h"
#include "environment.h"
#include "flow.h"
#include "hostexec.h"
#include "identity.h"
#include "keeper.h"
#include "launch.h"
#include "load.h"
#include "named.h"
#include "options.h"
#include "registry.h"
#include "result.h"

struct run {
	struct options o;
	sigset_t mask;		/* the caller's */
	int signals;		/* signalfd of what we handle; -1 */

	struct identity id;
	int cwd;
	char *cwd_path;
	struct load load;
	struct environment env;
	char *command;		/* absolute path of the command */

	char *cgroup_root;
	struct engine *engine;
	struct registry registry;
	struct cgroup_group group;
	char *temp, *cache;
	struct table table;
	bool resolved;
	struct engine_session es;
	struct engine_made made;
	bool admitted;
	struct hostexec *host_exec;	/* NULL: no writable root */
	struct book *book;	/* of what seccomp refused */
	struct keeper keeper;
	struct flow flow;
	struct launch launch;
	struct denials denials;
	int kernel_log;		/* -1: not looked at */

	struct result result;
	struct named_whole result_file;
	int status_fd;
	bool result_refused;	/* --result itself was what was wrong */
};

#define RUN_NONE {							\
	.signals = -1, .cwd = -1, .registry = REGISTRY_NONE,		\
	.group = CGROUP_NONE, .denials.fd = -1,				\
	.launch = { .pidfd = -1, .gate = -1, .listener = -1 },		\
	.flow = FLOW_NONE,						\
	.keeper = { .pidfd = -1, .socket = -1, .child = -1 },		\
	.kernel_log = -1,						\
	.result_file = NAMED_WHOLE_NONE, .status_fd = -1,		\
}

/* Each returns 0 or the exit status, with *e or diagnostics set. */

/* Read and check everything that was named; changes nothing. start.c */
int run_prepare(struct run *r, struct err *e);
/* Make what a session needs, up to the command at its gate. start.c */
int run_start(struct run *r, struct err *e);
/* Open what --denials and --result name, of a resolved policy. outputs.c */
int run_outputs(struct run *r, struct err *e);
/* Put the result where it was asked for; an error was said. outputs.c */
int run_tell(struct run *r);
/* Take up what the command is to write, where we have to see it. */
int run_flow(struct run *r, struct err *e);
/* Follow the session to its end and fill r->result. session.c */
int run_follow(struct run *r, struct err *e);
/* Leave nothing behind. undo.c */
void run_undo(struct run *r);
/* Print what would be enforced. plan.c */
int run_plan(struct run *r, struct err *e);

#endif
