/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef LH_RANDOM_CALLS_H
#define LH_RANDOM_CALLS_H

#include "game.h"

/* One question that a call makes a hook ask. */
struct ask {
	struct spot *p, *other;
	unsigned int need;
	const char *operation;	/* as the record has it */
	const char *reason;	/* refused for what it is, wherever */
	bool gains;		/* only as far as .other grants the needs */
	bool unnamed, other_unnamed;	/* has no name but a number */
};

struct call {
	char letter, a[TEXT], b[TEXT], c[8];
	struct spot place[3];
	int pre;		/* errno before anything is asked */
	int middle;		/* after the questions, before others come */
	int post;		/* errno, or 0, of what is let through */
	struct ask ask[4];
	int asks, slot;
	const char *explain;	/* what lh-policy calls it, or NULL */
};

void call_plan(struct game *g, struct call *c);

#endif
