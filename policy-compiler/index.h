/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The roots of a policy by path, so that thousands of them are compared in time
 * linear in their number.
 */
#ifndef LH_INDEX_H
#define LH_INDEX_H

#include "policy.h"
#include "slots.h"

#define INDEX_SAME_MAX 64u	/* roots of one path that anybody can want */

struct root_index {
	const struct policy *p;
	const struct policy_root *crowd;	/* one too many of a path */
	struct slots slots;	/* the first root of each path */
	uint32_t *next;		/* another one of the same path; a ring */
};

/* 0 or -ENOMEM. The policy's roots must not change while it is in use. */
int index_begin(struct root_index *x, const struct policy *p);
void index_end(struct root_index *x);
/*
 * The next root whose path is the first @len bytes of @path, or NULL, in no
 * order. *at is 0 at first.
 */
const struct policy_root *index_next(const struct root_index *x,
				     const char *path, size_t len, size_t *at);
/*
 * Length of the parent of the first @len bytes of @path, or 0 after "/": from a
 * path up to the top.
 */
size_t index_parent(const char *path, size_t len);

#endif
