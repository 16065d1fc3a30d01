/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Who runs a policy, and where: what ~, ${HOME}, ${USER} and ${WORKSPACE}
 * mean, and whose homes hold credentials. It is taken from the caller's
 * machine, never from the command's environment.
 */
#ifndef LH_CONTEXT_H
#define LH_CONTEXT_H

#include <stddef.h>
#include <sys/types.h>

#include "arena.h"
#include "err.h"

struct context_who {
	const char *workspace;	/* NULL: the current directory */
	const char *user;	/* NULL: the name of @uid */
	const char *home;	/* NULL: the home of @user */
	uid_t uid;		/* the command will run as */
	uid_t invoker;		/* who asked for it */
	char *const *env;	/* the invoker's; borrowed; NULL: none */
};

struct context {
	struct arena mem;
	const char *workspace;	/* absolute, normal */
	const char *user;
	const char *home;	/* the first of homes */
	const char *homes[3];	/* the user's, root's, the invoker's */
	size_t home_count;
	char *const *env;
};

/* *who filled for the calling process: SUDO_UID is honoured for root only. */
void context_caller(struct context_who *who, char *const *env);
/* 0 or negative errno with *e. On success the caller owns *c. */
int context_init(struct context *c, const struct context_who *who,
		 struct err *e);
void context_free(struct context *c);
/* The invoker's variable, or NULL. */
const char *context_env(const struct context *c, const char *name);
/* Home of user @name in @mem, or NULL. */
const char *context_home_of(struct arena *mem, const char *name);

#endif
