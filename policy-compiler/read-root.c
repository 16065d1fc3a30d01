// SPDX-License-Identifier: GPL-2.0-only
/*
 * Roots of all kinds, and names below them.
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>

#include "take.h"

static void take_root(struct reader *r, const struct json *s, void *arg)
{
	enum policy_list list = *(enum policy_list *)arg;
	struct place at = json_place(r->doc, s, false);
	bool optional = *s->text == '?';
	const char *path = field_path(r, s, s->text + optional);

	if (path)
		policy_add_root(r->p, list, optional, path, at.pointer, &at,
				r->d);
}

#define TAKE(name, kind)						\
	void take_##name(struct reader *r, const struct json *v)	\
	{								\
		enum policy_list list = kind;				\
									\
		r->p->listed[list] = true;				\
		field_strings(r, v, take_root, &list);			\
	}

TAKE(workspace_roots, LIST_WORKSPACE)
TAKE(read_only_roots, LIST_READ_ONLY)
TAKE(read_roots, LIST_READ)
TAKE(write_roots, LIST_WRITE)
TAKE(deny_roots, LIST_DENY)
TAKE(socket_roots, LIST_SOCKET)

/* --- mounts: what another host mounts must lie here where it is seen */

void take_tracked(struct reader *r, const struct json *v)
{
	if (v->truth)
		field_error(r, v, "not enforceable by this build, which "
			    "tracks no changes; leave it out");
}

static bool same_place(const char *path, const char *backing)
{
	char *a, *b;
	bool same = !strcmp(path, backing);

	if (same)
		return true;
	a = realpath(path, NULL);
	b = realpath(backing, NULL);
	same = a && b && !strcmp(a, b);
	free(a);
	free(b);
	return same;
}

static const struct json *mount_member(struct reader *r, const struct json *v,
				       const char *key)
{
	const struct json *m;

	for (m = v->first; m; m = m->next)
		if (!strcmp(m->key, key))
			return m->type == JSON_STRING ? m : NULL;
	field_error(r, v, "a mount has no %s", key);
	return NULL;
}

static void take_mount(struct reader *r, const struct json *v)
{
	static const char *const words[] = { "rw", "ro", NULL };
	const struct json *path, *backing, *access;
	const char *at_path, *at_backing;
	struct place at;
	int i;

	fields_take(r, v, FIELDS_MOUNT);
	path = mount_member(r, v, "path");
	backing = mount_member(r, v, "backing");
	access = mount_member(r, v, "access");
	if (!path || !backing || !access)
		return;
	i = field_word(r, access, words, sizeof(char *));
	at_path = field_path(r, path, path->text);
	at_backing = field_path(r, backing, backing->text);
	if (i < 0 || !at_path || !at_backing)
		return;
	if (!same_place(at_path, at_backing)) {
		field_error(r, path, "is not %s: there is no mount namespace, "
			    "so a path must be where its backing is",
			    at_backing);
		return;
	}
	at = json_place(r->doc, path, false);
	r->p->listed[LIST_WORKSPACE] = true;
	policy_add_root(r->p, i ? LIST_READ_ONLY : LIST_WORKSPACE, false,
			at_path, at.pointer, &at, r->d);
}

void take_mounts(struct reader *r, const struct json *v)
{
	const struct json *m;

	for (m = v->first; m; m = m->next)
		if (m->type == JSON_OBJECT)
			take_mount(r, m);
		else
			field_error(r, m, "must be an object, not %s",
				    json_type_name(m->type));
}

/* --- protected names */

static void take_name_of(struct reader *r, const struct json *s, void *arg)
{
	bool exclude = *(bool *)arg;
	struct place at = json_place(r->doc, s, false);

	policy_add_protect(r->p, exclude, s->text, at.pointer, &at, r->d);
}

void take_protect_add(struct reader *r, const struct json *v)
{
	bool exclude = false;

	field_strings(r, v, take_name_of, &exclude);
}

void take_protect_exclude(struct reader *r, const struct json *v)
{
	bool exclude = true;

	field_strings(r, v, take_name_of, &exclude);
}
