// SPDX-License-Identifier: GPL-2.0-only
/*
 * Grants of sockets. Who listens at one makes its file, and maybe the directory
 * of it, anew each time that he starts: such a grant holds by name too.
 */
#include <errno.h>
#include <sys/stat.h>

#include "table.h"

int socket_name(struct builder *b, const struct wish *w, uint32_t dir,
		const char *rest)
{
	int r = names_add(b, dir, rest, LH_NAME_SOCKET, w->rule);

	return r == -ENAMETOOLONG ? table_too_deep(b, w) : r;
}

int socket_there(struct builder *b, const struct wish *w, uint32_t entry)
{
	const struct entry *p = &b->es.entry[entry];
	int r = table_root(b, entry, w->flags, w->rule);

	/* A file may go: its name is held. */
	if (!r && S_ISDIR(p->mode))
		r = table_hold(b, entry, w->rule);
	if (!r && entry != ENTRY_TOP)
		r = socket_name(b, w, p->parent, p->name);
	return r;
}
