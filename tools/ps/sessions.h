/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The sessions that the caller may see: root all, a user those that run as that
 * user. What each says of itself, and what its cgroup says now.
 */
#ifndef LH_PS_SESSIONS_H
#define LH_PS_SESSIONS_H

#include "../../supervisor/facts.h"

#define UNKNOWN UINT64_MAX

enum session_state {
	SESSION_LIVE,
	SESSION_DEAD,		/* its supervisor is; the rest is cleared up */
	SESSION_UNKNOWN,	/* it runs in another pid namespace */
};

struct session {
	char id[REGISTRY_ID_LEN + 1];
	bool told;		/* it has facts; else it is just starting */
	struct facts f;
	enum session_state state;
	uint64_t age;		/* seconds, or UNKNOWN, like the rest */
	uint64_t processes, tasks, memory;
};

struct sessions {
	struct arena mem;
	struct session *list;	/* oldest first */
	size_t count;
};

/* 0, or negative errno with *e. No directory of sessions: none. */
int sessions_find(struct sessions *s, struct err *e);
void sessions_free(struct sessions *s);

#endif
