// SPDX-License-Identifier: GPL-2.0-only
/*
 * Intersection with a ceiling: what is left is granted by both. Of roots, each
 * side's stay where the other side grants as much at that place, so a root
 * inside the other's root stays; read-only roots and denies of both stay.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "preset.h"

struct grant {
	bool read, write;
	enum policy_list list;	/* of the root that grants writing */
};

static bool writable(enum policy_list list)
{
	return list == LIST_WORKSPACE || list == LIST_WRITE;
}

/* Presets grant reading to what they let read and run, all the way down. */
static int preset_reads(const struct policy *p, const struct context *c,
			const char *path, bool *yes)
{
	const uint32_t want = LH_ROOT_READ | LH_ROOT_EXEC;
	struct arena mem = { 0 };
	struct preset_root pr;
	const char *at = NULL;
	int r;

	while ((r = preset_next(p, c, &mem, &at, &pr)) > 0)
		if ((pr.flags & want) == want &&
		    !(pr.flags & IMAGE_ROOT_SELF) &&
		    root_covers(pr.path, path))
			*yes = true;
	arena_free(&mem);
	return r;
}

/* What @p grants at @path: the deepest root decides about writing. */
static int grant_at(const struct policy *p, const struct context *c,
		    const char *path, struct grant *g)
{
	const struct policy_root *r;
	size_t i, len, deepest = 0;

	*g = (struct grant){ 0 };
	for (i = 0; i < p->root_count; i++) {
		r = &p->roots[i];
		if (r->list == LIST_DENY || !root_covers(r->path, path))
			continue;
		g->read = true;
		if (r->list == LIST_READ)
			continue;
		len = strlen(r->path);
		if (len < deepest || (len == deepest && g->write &&
				      writable(r->list)))
			continue;
		if (len > deepest || !writable(r->list)) {
			g->write = writable(r->list);
			g->list = r->list;
		}
		deepest = len;
	}
	return g->read ? 0 : preset_reads(p, c, path, &g->read);
}

static bool present(const struct policy *p, enum policy_list list,
		    const char *path)
{
	size_t i;

	for (i = 0; i < p->root_count; i++)
		if (p->roots[i].list == list &&
		    !strcmp(p->roots[i].path, path))
			return true;
	return false;
}

/* The inner policy's root @r as far as @outer goes along. */
static int keep_inner(struct policy *out, const struct policy_root *r,
		      const struct policy *outer, const struct context *c,
		      struct diags *d)
{
	enum policy_list list = r->list;
	struct grant g;
	int rc;

	if (list != LIST_DENY) {
		rc = grant_at(outer, c, r->path, &g);
		if (rc)
			return rc;
		if (!g.read || (writable(list) && !g.write))
			diag_warn(d, &r->at, "the ceiling %s does not grant "
				  "%s %s", outer->source,
				  g.read ? "writing to" : "reading",
				  r->path);
		if (!g.read)
			return 0;
		if (writable(list) && !g.write)
			list = LIST_READ;
	}
	if (list != r->list && present(out, list, r->path))
		return 0;
	return policy_add_root(out, list, r->optional, r->path, r->rule,
			       &r->at, d);
}

/* The ceiling's root @r where it lies inside what @inner grants. */
static int keep_outer(struct policy *out, const struct policy_root *r,
		      const struct policy *inner, const struct context *c,
		      struct diags *d)
{
	enum policy_list list = r->list;
	struct grant g;
	int rc;

	if (list != LIST_DENY) {
		rc = grant_at(inner, c, r->path, &g);
		if (rc)
			return rc;
		if (!g.read)
			return 0;
		if (writable(list))
			list = g.write ? g.list : LIST_READ;
	}
	if (present(out, list, r->path))
		return 0;
	/* Where nothing is, the inner policy asked for nothing. */
	return policy_add_root(out, list, true, r->path,
			       arena_print(&out->mem, "ceiling:%s", r->rule),
			       &r->at, d);
}

static int intersect_roots(struct policy *p, const struct policy *outer,
			   const struct context *c, struct diags *d)
{
	struct policy inner = *p;
	size_t i;
	int r = 0;

	p->roots = NULL;
	p->root_count = 0;
	for (i = 0; !r && i < inner.root_count; i++)
		r = keep_inner(p, &inner.roots[i], outer, c, d);
	for (i = 0; !r && i < outer->root_count; i++)
		r = keep_outer(p, &outer->roots[i], &inner, c, d);
	free(inner.roots);
	return r;
}

static bool env_passes(const struct policy *p, const char *name)
{
	size_t i;

	if (p->env_mode == ENV_INHERITED)
		return true;
	for (i = 0; i < p->env_count; i++)
		if (!p->env[i].value && !strcmp(p->env[i].name, name))
			return true;
	return false;
}

/* A ceiling that is silent about the environment leaves it alone. */
static void intersect_env(struct policy *p, const struct policy *outer)
{
	size_t i, n = 0;

	if (!outer->env_given)
		return;
	for (i = 0; i < p->env_count; i++)
		if (p->env[i].value || env_passes(outer, p->env[i].name))
			p->env[n++] = p->env[i];
	p->env_count = n;
	if (outer->env_mode > p->env_mode)
		p->env_mode = outer->env_mode;
}

static uint64_t smaller(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

int policy_intersect(struct policy *p, const struct policy *outer,
		     const struct context *c, struct diags *d)
{
	struct place at = { .file = outer->source };
	int r = intersect_roots(p, outer, c, d);

	if (r == -ENOMEM)
		diag_error(d, &at, "out of memory");
	if (r)
		return r;
	if (outer->profile > p->profile)
		p->profile = outer->profile;
	if (outer->level < p->level) {
		at.pointer = "/side_effect_level";
		diag_warn(d, &at, "lowers the level from %s to %s",
			  level_names[p->level], level_names[outer->level]);
		p->level = outer->level;
	}
	p->caps &= outer->caps;
	p->presets &= outer->presets;
	intersect_env(p, outer);
	p->limits.wall_time = smaller(p->limits.wall_time,
				      outer->limits.wall_time);
	p->limits.grace = smaller(p->limits.grace, outer->limits.grace);
	p->limits.memory = smaller(p->limits.memory, outer->limits.memory);
	p->limits.pids = smaller(p->limits.pids, outer->limits.pids);
	return 0;
}
