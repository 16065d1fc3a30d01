/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * /run/lh/sessions/ID: one file a session, locked by its supervisor and its
 * keeper. While either lives the lock holds; a file without a lock is what two
 * deaths left behind, and the next start clears up after it.
 */
#ifndef LH_REGISTRY_H
#define LH_REGISTRY_H

#include "../policy-compiler/err.h"
#include "identity.h"

#define REGISTRY_ID_LEN 12

struct registry {
	char id[REGISTRY_ID_LEN + 1];
	int fd;			/* holds the lock; shared with the keeper */
};

/* Take a new id and its lock. */
int registry_enter(const struct identity *id, const char *name,
		   struct registry *r, struct err *e);
/* Last of all, when nothing of the session is left. */
void registry_leave(struct registry *r);
/*
 * Clear up after sessions whose supervisor and keeper are gone: processes,
 * cgroups, temp directories. Returns how many.
 */
int registry_sweep(const struct identity *id, const char *cgroup_root);

#endif
