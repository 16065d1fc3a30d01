/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A session's cgroup, lh/SESSION below the cgroup v2 mount: made and removed
 * through libcgroup, killed through its own kill file. Nothing else is ever in
 * it, and it is removed only when it is empty.
 */
#ifndef LH_CGROUP_H
#define LH_CGROUP_H

#include <stdbool.h>
#include <stdint.h>

#include "../policy-compiler/err.h"

#define CGROUP_PARENT "lh"

struct cgroup_limits {
	uint64_t memory;	/* bytes; UINT64_MAX: none */
	uint64_t pids;
};

struct cgroup_group {
	char name[64];		/* lh/SESSION; "": none was made */
	char root[256];		/* of the cgroup v2 mount */
	char path[320];		/* its directory */
	int dir, kill, events, procs;	/* -1 until made */
	bool memory, pids;	/* the controller is there */
};

struct cgroup_usage {
	uint64_t user_us, system_us;
	uint64_t memory_peak, pids_peak;	/* 0: not known */
	uint64_t oom_kills, pids_refused;	/* by the limits */
};

#define CGROUP_NONE { .dir = -1, .kill = -1, .events = -1, .procs = -1 }

/*
 * Let libcgroup read the mounts, in a thread of its own while other work goes
 * on: 1 to 5 ms on a hybrid host. Nothing may fork until cgroup_ready().
 */
void cgroup_prepare(void);
int cgroup_ready(struct err *e);

/* Directory of the cgroup v2 mount; the caller frees it. NULL: none. */
char *cgroup_root(struct err *e);
/* Session id if the calling process is in a session's cgroup, else "". */
void cgroup_own_session(char id[64]);
/* Is @controller one of cgroup v2's here? */
bool cgroup_has(const char *root, const char *controller);

/* Make it, with @limits where the controller is there, and open its files. */
int cgroup_make(const char *root, const char *session,
		const struct cgroup_limits *limits, struct cgroup_group *g,
		struct err *e);
/* Open one that exists, for the sweep. */
int cgroup_open(const char *root, const char *session, struct cgroup_group *g);
void cgroup_close(struct cgroup_group *g);
int cgroup_kill(const struct cgroup_group *g);
/* 1: processes are in it, 0: none, or negative errno (gone: 0). */
int cgroup_populated(const struct cgroup_group *g);
/* Kill until empty, at most @ms milliseconds. 0, -ETIMEDOUT, -errno. */
int cgroup_empty(const struct cgroup_group *g, int ms);
/* Signal every process in it, each by pidfd. Returns how many. */
int cgroup_signal(const struct cgroup_group *g, int sig);
void cgroup_usage(const struct cgroup_group *g, struct cgroup_usage *u);
int cgroup_remove(struct cgroup_group *g, struct err *e);

#endif
