/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A session's cgroup, lh/SESSION below the cgroup v2 mount: made and removed
 * through libcgroup, killed through its own kill file. Nothing else is ever in
 * it, and it is removed only when it is empty. Where a limit needs a controller
 * of v1, there is a group of that name in its hierarchy too, which limits, and
 * does no more.
 */
#ifndef LH_CGROUP_H
#define LH_CGROUP_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "../policy-compiler/err.h"

#define CGROUP_PARENT "lh"

#define CGROUP_NO_LIMIT UINT64_MAX

/* What a limit may need. */
enum cgroup_control {
	CGROUP_MEMORY, CGROUP_PIDS, CGROUP_CPU, CGROUP_IO, CGROUP_CONTROLS,
};

enum cgroup_home { CGROUP_NOWHERE, CGROUP_V1, CGROUP_V2 };

/* Where a controller is. */
struct cgroup_place {
	enum cgroup_home home;
	bool busy;		/* v2 has it, and cannot give it to groups */
	char dir[256];		/* the top of its hierarchy, or "" */
};

struct cgroup_host {
	struct cgroup_place at[CGROUP_CONTROLS];
};

/* CGROUP_NO_LIMIT: none */
struct cgroup_limits {
	uint64_t memory, swap;	/* bytes */
	uint64_t pids;
	uint64_t cpu;		/* percent of one processor */
	uint64_t io;		/* bytes a second, of each disk, each way */
};

struct cgroup_group {
	char name[64];		/* lh/SESSION; "": none was made */
	char root[256];		/* of the cgroup v2 mount */
	char path[320];		/* its directory */
	int dir, kill, events, procs;	/* -1 until made */
	struct cgroup_place at[CGROUP_CONTROLS];	/* that it uses */
	bool swap;		/* limits of swap can be set */
};

struct cgroup_usage {
	uint64_t user_us, system_us;
	uint64_t memory_peak, pids_peak;	/* 0: not known */
	uint64_t oom_kills, pids_refused;	/* by the limits */
	uint64_t throttled_us;	/* held back by the cpu limit */
};

#define CGROUP_NONE { .dir = -1, .kill = -1, .events = -1, .procs = -1 }

/* Once libcgroup has read the mounts: 1 to 5 ms on a hybrid host. */
int cgroup_ready(struct err *e);

/* Directory of the cgroup v2 mount; the caller frees it. NULL: none. */
char *cgroup_root(struct err *e);
/* Session id if the calling process is in a session's cgroup, else "". */
void cgroup_own_session(char id[64]);

/* --- cgroup-host.c */

/* Is @controller one of cgroup v2's here? */
bool cgroup_has(const char *root, const char *controller);
/* Any of them that groups can have; false: there is none. */
bool cgroup_any(const char *root, char *name, size_t size);
void cgroup_look(const char *root, struct cgroup_host *h);
/* "io", which v1 calls "blkio". */
const char *cgroup_control_name(enum cgroup_control c, enum cgroup_home home);
/* Does the group @below of it have @file? */
bool cgroup_place_has(const struct cgroup_place *at, const char *below,
		      const char *file);
#define CGROUP_DISK 32
/* "MAJOR:MINOR" of the disks of this machine; how many. */
size_t cgroup_disks(char (*disk)[CGROUP_DISK], size_t max);

/* --- cgroup-make.c */

/*
 * Make it, with @limits where there is a controller, and open its files. In
 * v1's hierarchies there is a second one; cgroup_attach() puts a process there.
 */
int cgroup_make(const char *root, const char *session,
		const struct cgroup_limits *limits, struct cgroup_group *g,
		struct err *e);
/* Open one that exists, for the sweep. */
int cgroup_open(const char *root, const char *session, struct cgroup_group *g);
int cgroup_attach(const struct cgroup_group *g, pid_t pid, struct err *e);
int cgroup_remove(struct cgroup_group *g, struct err *e);

/* --- cgroup.c */

void cgroup_close(struct cgroup_group *g);
int cgroup_kill(const struct cgroup_group *g);
/* 1: processes are in it, 0: none, or negative errno (gone: 0). */
int cgroup_populated(const struct cgroup_group *g);
/* Kill until empty, at most @ms milliseconds. 0, -ETIMEDOUT, -errno. */
int cgroup_empty(const struct cgroup_group *g, int ms);
/* Signal every process in it, each by pidfd. Returns how many. */
int cgroup_signal(const struct cgroup_group *g, int sig);
void cgroup_usage(const struct cgroup_group *g, struct cgroup_usage *u);

#endif
