// SPDX-License-Identifier: GPL-2.0-only
/*
 * The short form, a permission policy: four lists of what is permitted, and
 * nothing else is. It lowers to the long form: read to read_roots, write to
 * workspace_roots, exec to a capability, net to egress; the level is the least
 * that all of it needs.
 */
#define _GNU_SOURCE
#include <string.h>

#include "take.h"

/* What the form says, so that saying it twice would be a riddle. */
static const char *const ours[] = {
	"side_effect_level", "capabilities", "workspace_roots",
	"read_only_roots", "mounts", "egress", NULL,
};

static const char *const ours_sandbox[] = {
	"read_roots", "write_roots", "allow_loopback", "allow_tcp_loopback",
	NULL,
};

static void no_others(struct reader *r, const struct json *object,
		      const char *const *names)
{
	const struct json *m;
	size_t i;

	/* What has another type is an error already, without names. */
	if (object->type != JSON_OBJECT)
		return;
	for (m = object->first; m; m = m->next)
		for (i = 0; names[i]; i++)
			if (!strcmp(m->key, names[i]))
				field_error(r, m, "\"policy\" says this "
					    "already; use one form or the "
					    "other");
}

void permissions_begin(struct reader *r, const struct json *root,
		       const struct json *v)
{
	const struct json *m;

	(void)v;
	no_others(r, root, ours);
	for (m = root->first; m; m = m->next)
		if (!strcmp(m->key, "process_sandbox"))
			no_others(r, m, ours_sandbox);
	r->p->caps = 0;
	r->p->level = LEVEL_NONE;
	r->p->listed[LIST_WORKSPACE] = true;
}

static void at_least(struct reader *r, enum image_level level)
{
	if (r->p->level < level)
		r->p->level = level;
}

void take_permissions(struct reader *r, const struct json *v)
{
	fields_take(r, v, FIELDS_PERMISSIONS);
}

/* A capability without a level that leaves it would be none. */
void permissions_end(struct reader *r)
{
	if (r->p->caps & CAP_EXEC)
		at_least(r, LEVEL_PROCESS_EXEC);
}

/* "src/" and all below it: that is what a root is anyway. */
static const char *without_stars(struct reader *r, const char *text)
{
	size_t len = strlen(text);

	if (len > 3 && !strcmp(text + len - 3, "/**"))
		return arena_copy(&r->p->mem, text, len - 3);
	return text;
}

static void take_path(struct reader *r, const struct json *s,
		      enum policy_list list)
{
	struct place at = json_place(r->doc, s, false);
	bool optional = *s->text == '?';
	const char *text = without_stars(r, s->text + optional), *path;

	if (!text || strpbrk(text, "*[")) {
		field_error(r, s, "patterns are not expanded; name a "
			    "directory, which means all below it");
		return;
	}
	path = field_path(r, s, text);
	if (path)
		policy_add_root(r->p, list, optional, path, at.pointer, &at,
				r->d);
}

static void take_read(struct reader *r, const struct json *s, void *arg)
{
	struct place at = json_place(r->doc, s, false);

	(void)arg;
	r->p->caps |= CAP_READS;
	at_least(r, LEVEL_READ_ONLY);
	if (!strcmp(s->text, "*"))
		policy_add_root(r->p, LIST_READ, false, "/", at.pointer, &at,
				r->d);
	else
		take_path(r, s, LIST_READ);
}

void take_permit_read(struct reader *r, const struct json *v)
{
	field_strings(r, v, take_read, NULL);
}

static void take_write(struct reader *r, const struct json *s, void *arg)
{
	(void)arg;
	r->p->caps |= CAP_READS | CAP_WRITES;
	at_least(r, LEVEL_WORKSPACE_WRITE);
	if (!strcmp(s->text, "*"))
		field_error(r, s, "everything cannot be writable; name the "
			    "directories");
	else
		take_path(r, s, LIST_WORKSPACE);
}

void take_permit_write(struct reader *r, const struct json *v)
{
	field_strings(r, v, take_write, NULL);
}

static void take_exec(struct reader *r, const struct json *s, void *arg)
{
	(void)arg;
	if (strcmp(s->text, "*"))
		field_error(r, s, "single programs are not enforceable by "
			    "this build: write \"*\" for all that is readable, "
			    "or leave the list empty");
	r->p->caps |= CAP_EXEC;
}

void take_permit_exec(struct reader *r, const struct json *v)
{
	field_strings(r, v, take_exec, NULL);
}

static void take_net(struct reader *r, const struct json *s, void *arg)
{
	static const char *const all[] = { "0.0.0.0/0", "::/0" };
	struct place at = json_place(r->doc, s, false);
	const char *why = NULL;
	size_t i;

	(void)arg;
	if (!strcmp(s->text, "loopback")) {
		field_said(r, SAID_LOOPBACK, s);
		r->p->grants |= GRANT_LOOPBACK_TCP | GRANT_LOOPBACK_UDP;
		return;
	}
	at_least(r, LEVEL_NETWORK);
	if (!r->p->egress_given)
		field_said(r, SAID_EGRESS, s);
	r->p->egress_given = true;
	if (!strcmp(s->text, "*"))
		for (i = 0; i < 2; i++)
			policy_add_net(r->p, false, all[i], at.pointer, &at,
				       r->d);
	else
		why = policy_add_net(r->p, false, s->text, at.pointer, &at,
				     r->d);
	if (why)
		field_error(r, s, "%s", why);
}

void take_permit_net(struct reader *r, const struct json *v)
{
	field_strings(r, v, take_net, NULL);
}
