/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the presets of a policy grant in a context.
 */
#ifndef LH_PRESET_H
#define LH_PRESET_H

#include "policy.h"

struct preset_root {
	const char *path;	/* in the arena that was given */
	const char *rule;	/* "preset:NAME/PATH" */
	uint32_t flags;		/* LH_ROOT_*, IMAGE_ROOT_* */
};

/*
 * The next root of @p's presets. *cursor is NULL before the first. 1, 0 at the
 * end, or -ENOMEM.
 */
int preset_next(const struct policy *p, const struct context *c,
		struct arena *mem, const char **cursor,
		struct preset_root *out);

#endif
