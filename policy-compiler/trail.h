/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The kernel's walk over a table, without a kernel: the same order, the same
 * decide.h. What it walks is handed to it, so tests can make any tree.
 */
#ifndef LH_TRAIL_H
#define LH_TRAIL_H

#include "../bpf/decide.h"
#include "entry.h"

#define TRAIL_NO_OBJECT SIZE_MAX

/* One level of the way up: a directory entry. */
struct trail_step {
	const char *name;	/* "" for the top */
	size_t object;		/* index in table.objects, or NO_OBJECT */
	enum entry_folds folds;	/* of the directory that it is in */
	/* The root of a mount: the next that is not aside is what it covers. */
	bool mounted;
	bool aside;		/* above the source of a bind mount */
};

struct trail_result {
	struct lh_verdict verdict;
	size_t step;		/* what the rule that decided stands at */
	bool met;		/* false: no rule decided */
};

/*
 * Judge @access to steps[0]; steps[@count - 1] is the top. Steps without an
 * object stand for what does not exist, or what no rule knows. @mine: this
 * session made steps[0], or would.
 */
struct trail_result trail_walk(const struct table *t,
			       const struct trail_step *steps, size_t count,
			       uint32_t access, bool mine);
/* The same, where only rules at the first @granting steps can grant. */
struct trail_result trail_walk_part(const struct table *t,
				    const struct trail_step *steps,
				    size_t count, size_t granting,
				    uint32_t access, bool mine);
/* LH_ROOT_* that stand at an object, or at none: 0. */
uint32_t trail_flags(const struct table *t, size_t object);

#endif
