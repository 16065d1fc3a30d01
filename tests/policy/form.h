/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the kernel relies on in a table, whatever the policy.
 */
#ifndef LH_TEST_POLICY_FORM_H
#define LH_TEST_POLICY_FORM_H

#include <fcntl.h>

#include "../../policy-compiler/resolve.h"

/* 0, or the line below that does not hold. */
static inline int table_form(const struct table *t)
{
	const struct lh_item *a = t->items;
	uint32_t flags;
	size_t i, k;

	for (i = 0; i < t->count; i++) {
		for (k = 0; k < i; k++) {
			if (a[i].kind != a[k].kind || a[i].fd != a[k].fd)
				continue;
			/* one root item an inode, one name a key */
			if (a[i].kind == LH_ITEM_ROOT ||
			    (a[i].parent == a[k].parent &&
			     a[i].hash == a[k].hash))
				return __LINE__;
		}
		if (a[i].kind == LH_ITEM_ROOT) {
			if (fcntl(a[i].fd, F_GETFD) != FD_CLOEXEC ||
			    !(fcntl(a[i].fd, F_GETFL) & O_PATH))
				return __LINE__;
			if (!(a[i].root.flags & LH_ROOT_ANCHOR) !=
			    !a[i].root.name_lens)
				return __LINE__;
			if (!a[i].root.flags && !a[i].root.self)
				return __LINE__;
			continue;
		}
		flags = a[i].name.flags | a[i].name.folded;
		if (!flags || (flags & ~LH_NAME_MASK))
			return __LINE__;
		if (!(flags & LH_NAME_PARTIAL) != !a[i].name.node ||
		    !a[i].name.node != !a[i].name.name_lens)
			return __LINE__;
		if (a[i].name.node && !(a[i].name.node & 1))
			return __LINE__;
		if ((a[i].fd < 0) != (a[i].parent != 0))
			return __LINE__;
	}
	return 0;
}

#endif
