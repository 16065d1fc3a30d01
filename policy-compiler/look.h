/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A path as the kernel would meet it: followed as open(2) does, then level by
 * level up to the top, with the table's objects among the levels.
 */
#ifndef LH_LOOK_H
#define LH_LOOK_H

#include "entry.h"
#include "trail.h"

struct look {
	struct route way;
	struct trail_step *steps;	/* names live in the entries */
	size_t missing;		/* of the first steps do not exist */
	size_t count;
	unsigned long magic;	/* file system of the deepest that exists */
	mode_t mode;		/* of the object; 0: absent */
	bool foreign;		/* through a link that procfs makes up */
};

/* What the kernel says of it. */
struct look_verdict {
	struct lh_verdict verdict;
	bool met;		/* a rule decided, and stands at step */
	size_t step;
	bool special;		/* decided by what it is, not by the table */
};

/*
 * Follow @path, absolute, with ROUTE_* @flags; *l lives in @es and @mem. 0 or
 * negative errno.
 */
int look_at(struct entries *es, const struct table *t, const char *path,
	    unsigned int flags, struct arena *mem, struct look *l);
struct look_verdict look_judge(const struct image *im, const struct table *t,
			       const struct entries *es, const struct look *l,
			       uint32_t access);
/* Path of the step number @from, in @mem. NULL: no memory. */
const char *look_path(const struct look *l, size_t from, struct arena *mem);
/* Below a place where what the session itself made is its own. */
bool look_is_shared(const struct table *t, const struct look *l);
/* Name of the entry below the top of the object's file system, or NULL. */
const char *look_below_mount(const struct entries *es, const struct look *l);

#endif
