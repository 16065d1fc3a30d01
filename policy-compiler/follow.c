// SPDX-License-Identifier: GPL-2.0-only
/*
 * Links in roots.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "follow.h"

char *follow_path(struct arena *mem, const char *path)
{
	size_t len = strlen(path);
	char *head, *real, *out;

	do {
		head = arena_copy(mem, path, len);
		if (!head)
			return NULL;
		real = realpath(len ? head : "/", NULL);
		if (real || !len)
			break;
		while (len && path[--len] != '/')
			;
	} while (true);
	if (!real)
		return arena_copy(mem, path, strlen(path));
	out = arena_print(mem, "%s%s", strcmp(real, "/") ? real : "",
			  path[len] ? path + len : strcmp(real, "/") ? "" :
			  "/");
	free(real);
	return out;
}

static bool forbids(const struct policy_root *r)
{
	return r->list == LIST_DENY || r->list == LIST_READ_ONLY;
}

int policy_follow(struct policy *p, struct diags *d)
{
	struct policy_root *r;
	size_t count = p->root_count, i;
	char *path;
	int rc = 0;

	for (i = 0; i < count && !rc; i++) {
		r = &p->roots[i];
		path = follow_path(&p->mem, r->path);
		if (!path) {
			diag_error(d, &r->at, "out of memory");
			return -ENOMEM;
		}
		if (!strcmp(path, r->path))
			continue;
		if (forbids(r))
			rc = policy_add_root(p, r->list, r->optional, path,
					     r->rule, &r->at, d);
		else
			r->path = path;
	}
	p->followed = true;
	return rc;
}
