// SPDX-License-Identifier: GPL-2.0-only
/*
 * The order of things: read, add, check, narrow, lower. A policy with any error
 * goes no further than the step that found it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "compile.h"

/* A policy and the document whose texts it borrows. */
struct unit {
	struct json_doc doc;
	struct policy policy;
};

static void unit_free(struct unit *u)
{
	policy_free(&u->policy);
	json_free(&u->doc);
}

bool policy_is_name(const char *arg)
{
	return *arg && !strpbrk(arg, "/.");
}

/* Directory of @file, absolute and normal, in the policy's arena. */
static const char *base_of(struct policy *p, const char *file)
{
	const char *slash = strrchr(file, '/');
	int len = slash ? slash - file : 0;
	char cwd[LH_PATH_MAX] = "", *path;

	if (*file != '/' && !getcwd(cwd, sizeof(cwd)))
		return NULL;
	path = arena_print(&p->mem, "%s/%.*s", cwd, len, file);
	if (path)
		root_normalise(path);
	return path;
}

static void no_base(const char *file, struct diags *d)
{
	struct place at = { .file = file };

	diag_error(d, &at, "its directory cannot be found: %s",
		   strerror(errno));
}

/* The document is there: make the model of it. */
static int unit_read(struct unit *u, const char *file, const char *base,
		     const struct context *c, struct diags *d)
{
	policy_init(&u->policy, file);
	if (!base)
		base = base_of(&u->policy, file);
	if (!base) {
		no_base(file, d);
		return -ENOENT;
	}
	return policy_read(&u->doc, c, base, &u->policy, d);
}

static void add_root(struct policy *p, const struct compile_root *r,
		     const struct context *c, struct diags *d)
{
	struct place at = { .file = r->flag };
	bool optional = *r->path == '?';
	const char *why;
	char *path;

	path = root_expand(&p->mem, c, c->workspace, r->path + optional,
			   &why);
	at.pointer = r->path;
	if (!path)
		diag_error(d, &at, "%s", why);
	else
		policy_add_root(p, r->list, optional, path,
				arena_print(&p->mem, "flag:%s %s", r->flag,
					    path), &at, d);
}

static void add_env(struct policy *p, const char *text, struct diags *d)
{
	struct place at = { .file = "--env" };
	const char *eq = strchr(text, '=');
	size_t len = eq ? (size_t)(eq - text) : strlen(text);
	char *name = arena_copy(&p->mem, text, len);

	if (!name)
		diag_error(d, &at, "out of memory");
	else
		policy_set_env(p, name, eq ? eq + 1 : NULL, &at, d);
}

static void add_flags(struct policy *p, const struct compile_options *o,
		      struct diags *d)
{
	size_t i;

	for (i = 0; i < o->root_count; i++)
		add_root(p, &o->roots[i], o->context, d);
	for (i = 0; i < o->env_count; i++)
		add_env(p, o->env[i], d);
	if (o->wall_time)
		p->limits.wall_time = o->wall_time;
	if (o->memory)
		p->limits.memory = o->memory;
	if (o->pids)
		p->limits.pids = o->pids;
}

static int read_ceiling(struct unit *outer, const struct compile_options *o,
			struct diags *d)
{
	int r = json_parse(o->ceiling, o->ceiling_len, o->ceiling_file,
			   &outer->doc, d);

	if (!r)
		r = unit_read(outer, o->ceiling_file, NULL, o->context, d);
	return r ? r : policy_check(&outer->policy, o->context, true, d);
}

int compile_ceiling_profile(const struct compile_options *o,
			    enum image_profile *profile, struct diags *d)
{
	struct unit outer = { 0 };
	int r;

	*profile = PROFILE_UNRESTRICTED;
	if (!o->ceiling)
		return 0;
	r = read_ceiling(&outer, o, d);
	*profile = outer.policy.profile;
	unit_free(&outer);
	return r;
}

static int narrow(struct policy *p, struct unit *outer,
		  const struct compile_options *o, struct diags *d)
{
	int r = o->ceiling ? read_ceiling(outer, o, d) : 0;

	if (r || !o->ceiling)
		return r;
	return policy_intersect(p, &outer->policy, o->context, d);
}

/* The inner document is parsed; @outer is the caller's to free. */
static int compile(struct unit *u, struct unit *outer, const char *file,
		   const char *base, const struct compile_options *o,
		   struct image **out, struct diags *d)
{
	int r = unit_read(u, file, base, o->context, d);

	/* Flags are looked at even so, to have all errors in one go. */
	add_flags(&u->policy, o, d);
	if (!r || r == -EINVAL)
		r = policy_check(&u->policy, o->context, false, d);
	if (!r)
		r = d->errors ? -EINVAL : narrow(&u->policy, outer, o, d);
	return r ? r : policy_lower(&u->policy, o->context, out, d);
}

int compile_text(const char *text, size_t len, const char *file,
		 const char *base, const struct compile_options *o,
		 struct image **out, struct diags *d)
{
	struct unit u = { 0 }, outer = { 0 };
	int r;

	r = json_parse(text, len, file, &u.doc, d);
	if (!r)
		r = compile(&u, &outer, file, base, o, out, d);
	unit_free(&u);
	unit_free(&outer);
	return r;
}

int compile_fd(int fd, const char *file, const char *base,
	       const struct compile_options *o, struct image **out,
	       struct diags *d)
{
	struct unit u = { 0 }, outer = { 0 };
	int r;

	r = json_read(fd, file, &u.doc, d);
	if (!r)
		r = compile(&u, &outer, file, base, o, out, d);
	unit_free(&u);
	unit_free(&outer);
	return r;
}
