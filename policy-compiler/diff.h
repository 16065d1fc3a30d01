/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What one policy opens and closes against another. Files are compared by the
 * verdicts that decide.h gives over the roots of both images, as text: no file
 * is looked at, and links are not followed: follow.h does that first.
 */
#ifndef LH_DIFF_H
#define LH_DIFF_H

#include "policy.h"

enum diff_change {
	DIFF_OPENS,
	DIFF_CLOSES,
	DIFF_KEEPS,	/* inside of what opens or closes: as before */
};

struct diff_item {
	enum diff_change change;
	const char *what;	/* "read", "write", … or the name of a field */
	const char *object;	/* path, port, rule, value; or "" */
	bool itself;		/* the path alone, not what is below it */
	const char *rule;	/* that says so, in the policy that says it */
};

/* Borrowed for the call. Non-zero ends the comparison. */
typedef int diff_take(void *arg, const struct diff_item *item);

/* @p and @im: a policy and its image. What @take returned, or -ENOMEM. */
struct diff_side {
	const struct policy *p;
	const struct image *im;
};

int policy_diff(const struct diff_side *a, const struct diff_side *b,
		diff_take *take, void *arg);

#endif
