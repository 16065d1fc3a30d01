/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The command's first process: forked into the session's cgroup, held at a
 * gate until it is labelled, then stripped of everything that is not the
 * user's and executed.
 */
#ifndef LH_LAUNCH_H
#define LH_LAUNCH_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "../policy-compiler/err.h"
#include "../policy-compiler/image.h"
#include "identity.h"

/* Exit statuses that are ours, as in env(1) and timeout(1). */
#define EXIT_TIMED_OUT 124
#define EXIT_OURS 125
#define EXIT_NOT_EXECUTABLE 126
#define EXIT_NOT_FOUND 127

struct launch {
	/* What to run, and as whom; borrowed. */
	const struct identity *id;
	const struct image *im;
	bool free;		/* no confinement: as the user alone */
	const char *path;	/* absolute */
	char *const *argv, *const *envp;
	int cwd;		/* O_PATH directory */
	int cgroup;		/* directory of the session's cgroup */
	const int *stdio;	/* three, to be its 0 to 2; -1: the caller's */
	int terminal;		/* of its own; -1: none */
	const int *keep;	/* descriptors to leave open */
	unsigned int keep_count;
	const sigset_t *mask;	/* the caller's */
	uint64_t open_files;	/* the caller's soft limit, or 0: unchanged */
	int listener;		/* where to send it: keeper.h */
	/* The process; -1 until forked. */
	pid_t pid;
	int pidfd;
	bool no_filter;		/* the kernel took no system call filter */
	bool unheard;		/* it took one, but nobody can listen */
	int gate;		/* ours; readable: it failed, or EOF: it runs */
};

/*
 * Find @name as the user would from @cwd (whose path is @cwd_path) with @path
 * for PATH. *out is absolute; the caller frees it. 0, or the exit status for
 * what went wrong, with *e.
 */
int launch_find(const struct identity *id, const char *name, int cwd,
		const char *cwd_path, const char *path, char **out,
		struct err *e);

int launch_fork(struct launch *l, struct err *e);
int launch_release(struct launch *l);
/*
 * When .gate is readable: 0, the command runs, or, if .gate is still open, is
 * on its way; else the exit status for what stopped it, with *e.
 */
int launch_outcome(struct launch *l, struct err *e);

#endif
