/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * /run/lh/sessions/ID: one file a session, locked by its supervisor and its
 * keeper. While either lives the lock holds; a file without a lock is what two
 * deaths left behind, and the next start clears up after it. Nobody but root
 * may open it: whoever may, can lock it too, and be taken for one of the two.
 */
#ifndef LH_REGISTRY_H
#define LH_REGISTRY_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "../policy-compiler/err.h"
#include "cgroup.h"
#include "identity.h"

#define REGISTRY_DIR "/run/lh/sessions"
#define REGISTRY_ID_LEN 12

struct registry {
	char id[REGISTRY_ID_LEN + 1];
	int fd;			/* holds the lock; shared with the keeper */
	int facts;		/* facts.h: its file, -1: none; where its count
				 * stands, and what it says */
	off_t facts_at;
	uint64_t facts_said;
};

#define REGISTRY_NONE { .fd = -1, .facts = -1 }

/* Is @s a session's id? */
bool registry_is_id(const char *s);
/* The path of @session's file that ends in @suffix. */
void registry_path(const char *session, const char *suffix, char *path,
		   size_t size);
/* Take a new id and its lock. */
int registry_enter(const struct identity *id, const char *name,
		   struct registry *r, struct err *e);
/*
 * Hold its cgroup too, for who sees the cgroups and has another /run: a lock on
 * the directory, which nobody but root may open.
 */
int registry_hold(const struct cgroup_group *g, struct err *e);
/* Last of all, when nothing of the session is left. */
void registry_leave(struct registry *r);
/*
 * Clear up after sessions whose supervisor and keeper are gone: processes,
 * cgroups, temp directories. Returns how many.
 */
int registry_sweep(const struct identity *id, const char *cgroup_root);

#endif
