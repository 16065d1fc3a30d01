// SPDX-License-Identifier: GPL-2.0-only
/*
 * Grants whose path goes through a link that a session, or whoever wrote the
 * repository, may have put there: such a link must not give the next session
 * more than it has without. They are added last, and only where what they lead
 * to is granted already.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "table.h"

static bool is_below(const struct builder *b, uint32_t entry, uint32_t top)
{
	while (entry != top && entry != ENTRY_TOP)
		entry = b->es.entry[entry].parent;
	return entry == top;
}

bool planted_is(struct builder *b, const struct route *way)
{
	const char *workspace = image_string(b->im, b->im->workspace);
	struct route home;
	size_t i;

	if (entries_route(&b->es, ENTRY_TOP, workspace, 0, &home))
		home.error = -ENOENT;
	for (i = 0; i < way->links; i++)
		if (table_is_writable(b, way->link[i].entry) ||
		    (!home.error && home.entry != ENTRY_TOP &&
		     is_below(b, way->link[i].entry, home.entry)))
			return true;
	return false;
}

int planted_check(struct builder *b, const struct wish *w,
		  const struct route *way)
{
	const uint32_t grants = LH_ROOT_READ | LH_ROOT_EXEC | LH_ROOT_WRITE |
		LH_ROOT_DELETE | LH_ROOT_SOCKET;
	const char *rule = table_rule_text(b, w->rule);
	char *place;
	int r;

	if (way->error || !(w->flags & grants & ~table_rights(b, way->entry)))
		return 0;
	/* A preset is optional by nature. */
	if (!strncmp(rule, "preset:", 7))
		return 1;
	place = entries_path(&b->es, way->entry);
	r = err_set(b->e, -ELOOP,
		    "%s: a link that a session may have made leads to %s, which nothing else grants (%s): name that place itself, or take the link away",
		    w->path, place ? place : "another place", rule);
	free(place);
	return r;
}
