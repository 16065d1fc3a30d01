// SPDX-License-Identifier: GPL-2.0-only
/*
 * Presets: lines of data/presets under the names that a policy has.
 */
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "data.h"
#include "preset.h"

/* The preset that the entry belongs to, if the policy has it. */
static const char *entry_preset(const struct policy *p,
				const struct data_entry *e)
{
	size_t i;

	for (i = 0; presets[i].word; i++)
		if ((p->presets & presets[i].bit) &&
		    data_has(e, presets[i].word))
			return presets[i].word;
	return NULL;
}

/* Does the level leave anything of the entry? */
static bool entry_applies(const struct policy *p, const struct data_entry *e)
{
	if (data_has(e, "network") && p->level < LEVEL_NETWORK)
		return false;
	/* Making an object is writing, wherever it lies. */
	return !data_has(e, "own") || p->level >= LEVEL_WORKSPACE_WRITE;
}

static uint32_t entry_flags(const struct data_entry *e)
{
	uint32_t flags = IMAGE_ROOT_OPTIONAL;

	if (data_has(e, "own"))
		flags |= LH_ROOT_OWN;
	if (data_has(e, "read"))
		flags |= LH_ROOT_READ;
	if (data_has(e, "write"))
		flags |= LH_ROOT_WRITE;
	if (data_has(e, "exec"))
		flags |= LH_ROOT_EXEC;
	if (data_has(e, "self"))
		flags |= IMAGE_ROOT_SELF;
	return flags;
}

int preset_next(const struct policy *p, const struct context *c,
		struct arena *mem, const char **cursor,
		struct preset_root *out)
{
	struct data_entry e;
	const char *name;
	char *path;

	while (data_next(DATA_PRESETS, cursor, &e)) {
		name = entry_preset(p, &e);
		if (!name || !entry_applies(p, &e))
			continue;
		if (*e.path.s == '~')
			path = arena_print(mem, "%s%.*s", c->home,
					   e.path.len - 1, e.path.s + 1);
		else
			path = arena_copy(mem, e.path.s, e.path.len);
		if (!path)
			return -ENOMEM;
		root_normalise(path);
		out->path = path;
		out->rule = arena_print(mem, "preset:%s/%.*s", name,
					e.path.len, e.path.s);
		out->flags = entry_flags(&e);
		return out->rule ? 1 : -ENOMEM;
	}
	return 0;
}
