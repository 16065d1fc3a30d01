// SPDX-License-Identifier: GPL-2.0-only
/*
 * Intersection: what is left is granted by both. Of roots, each side's stay
 * where the other side grants as much at that place, so a root inside the
 * other's root stays; read-only roots and denies of both stay.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "index.h"
#include "net.h"
#include "preset.h"
#include "variables.h"

/* A policy to be asked, with what its presets let read, all the way down. */
struct side {
	const struct policy *p;
	struct root_index index;
	struct arena mem;
	const char *preset[256];
	size_t presets;
};

struct grant {
	bool read, write, socket;
	enum policy_list list;	/* of the root that grants writing */
};

static bool writable(enum policy_list list)
{
	return list == LIST_WORKSPACE || list == LIST_WRITE;
}

static int side_begin(struct side *s, const struct policy *p,
		      const struct context *c)
{
	const uint32_t want = LH_ROOT_READ | LH_ROOT_EXEC;
	struct preset_root pr;
	const char *at = NULL;
	int r;

	*s = (struct side){ .p = p };
	while ((r = preset_next(p, c, &s->mem, &at, &pr)) > 0)
		if ((pr.flags & want) == want &&
		    !(pr.flags & IMAGE_ROOT_SELF) && s->presets < 256)
			s->preset[s->presets++] = pr.path;
	return r ? r : index_begin(&s->index, p);
}

static void side_end(struct side *s)
{
	index_end(&s->index);
	arena_free(&s->mem);
}

/* What the roots just at the first @len bytes of @path say; the deepest win. */
static void grant_here(const struct side *s, const char *path, size_t len,
		       bool *decided, struct grant *g)
{
	const struct policy_root *r;
	bool shut = false, open = false;
	size_t at = 0;

	while ((r = index_next(&s->index, path, len, &at))) {
		if (r->list == LIST_SOCKET)
			g->socket = true;
		if (r->list == LIST_SOCKET || r->list == LIST_DENY)
			continue;
		g->read = true;
		if (*decided || r->list == LIST_READ)
			continue;
		if (!writable(r->list))
			shut = true;
		else if (!open || r->list < g->list)
			g->list = r->list;
		open |= writable(r->list);
	}
	if (shut || open) {
		*decided = true;
		g->write = open && !shut;
	}
}

static struct grant grant_at(const struct side *s, const char *path)
{
	struct grant g = { 0 };
	bool decided = false;
	size_t len, i;

	for (len = strlen(path); len; len = index_parent(path, len))
		grant_here(s, path, len, &decided, &g);
	for (i = 0; !g.read && i < s->presets; i++)
		g.read = root_covers(s->preset[i], path);
	return g;
}

static bool present(const struct side *s, enum policy_list list,
		    const char *path)
{
	const struct policy_root *r;
	size_t at = 0;

	while ((r = index_next(&s->index, path, strlen(path), &at)))
		if (r->list == list)
			return true;
	return false;
}

/* The inner policy's root @r as far as @outer goes along. */
static int keep_inner(struct policy *out, const struct policy_root *r,
		      const struct side *inner, const struct side *outer,
		      enum policy_outer kind, struct diags *d)
{
	enum policy_list list = r->list;
	struct grant g = grant_at(outer, r->path);

	if (list == LIST_SOCKET && kind == OUTER_SESSION)
		return 0;
	if (list == LIST_SOCKET && !g.socket) {
		diag_warn(d, &r->at, "the ceiling %s does not grant sockets "
			  "below %s", outer->p->source, r->path);
		return 0;
	}
	if (list != LIST_DENY && list != LIST_SOCKET) {
		if (kind == OUTER_CEILING &&
		    (!g.read || (writable(list) && !g.write)))
			diag_warn(d, &r->at, "the ceiling %s does not grant "
				  "%s %s", outer->p->source,
				  g.read ? "writing to" : "reading",
				  r->path);
		if (!g.read)
			return 0;
		if (writable(list) && !g.write)
			list = LIST_READ;
	}
	if (list != r->list && present(inner, list, r->path))
		return 0;
	return policy_add_root(out, list, r->optional, r->path, r->rule,
			       &r->at, d);
}

/* The outer's root @r where it lies inside what @inner grants. */
static int keep_outer(struct policy *out, const struct policy_root *r,
		      const struct side *inner, const struct side *outer,
		      enum policy_outer kind, struct diags *d)
{
	const char *word = kind == OUTER_CEILING ? "ceiling" : "outer";
	enum policy_list list = r->list;
	struct grant g = grant_at(inner, r->path);

	if (list == LIST_SOCKET && kind == OUTER_CEILING && !g.socket)
		return 0;
	if (list != LIST_DENY && list != LIST_SOCKET) {
		if (!g.read)
			return 0;
		if (writable(list))
			list = g.write ? g.list : LIST_READ;
	}
	/* The inner one stays if the outer goes along, and so with its own. */
	if (present(inner, list, r->path) &&
	    !(list == LIST_SOCKET && kind == OUTER_SESSION))
		return 0;
	if (list != r->list && present(outer, list, r->path))
		return 0;
	/* Where nothing is, the inner policy asked for nothing. */
	return policy_add_root(out, list, list != LIST_SOCKET || r->optional ||
			       kind == OUTER_CEILING, r->path,
			       arena_print(&out->mem, "%s:%s", word, r->rule),
			       &r->at, d);
}

static int intersect_roots(struct policy *p, const struct policy *outer,
			   enum policy_outer kind, const struct context *c,
			   struct diags *d)
{
	struct policy old = *p;
	struct side a, b;
	size_t i;
	int r, r2;

	r = side_begin(&a, &old, c);
	r2 = side_begin(&b, outer, c);
	p->roots = NULL;
	p->root_count = 0;
	r = r ? r : r2;
	for (i = 0; !r && i < old.root_count; i++)
		r = keep_inner(p, &old.roots[i], &a, &b, kind, d);
	for (i = 0; !r && i < outer->root_count; i++)
		r = keep_outer(p, &outer->roots[i], &a, &b, kind, d);
	side_end(&a);
	side_end(&b);
	free(old.roots);
	return r;
}

static bool env_passes(const struct policy *p, const char *name)
{
	size_t i;

	for (i = 0; i < p->env_count; i++)
		if (!p->env[i].value && !strcmp(p->env[i].name, name))
			return true;
	return !variable_is_secret(name) &&
		(p->env_mode == ENV_INHERITED ||
		 (p->env_mode == ENV_ISOLATED && variable_is_essential(name)));
}

static bool env_has(const struct policy *p, const char *name)
{
	size_t i;

	for (i = 0; i < p->env_count; i++)
		if (!strcmp(p->env[i].name, name))
			return true;
	return false;
}

/* An outer policy that is silent about the environment leaves it alone. */
static int intersect_env(struct policy *p, const struct policy *outer,
			 struct diags *d)
{
	const struct policy_env *e;
	size_t i, n = 0;
	int r = 0;

	if (!outer->env_given)
		return 0;
	/* What only the outer one names, and the inner one's mode passes. */
	for (i = 0; !r && i < outer->env_count; i++) {
		e = &outer->env[i];
		if (!e->value && !env_has(p, e->name) &&
		    env_passes(p, e->name))
			r = policy_set_env(p, e->name, NULL, &e->at, d);
	}
	for (i = 0; i < p->env_count; i++)
		if (p->env[i].value || env_passes(outer, p->env[i].name))
			p->env[n++] = p->env[i];
	p->env_count = n;
	if (outer->env_mode > p->env_mode)
		p->env_mode = outer->env_mode;
	return r;
}

static uint64_t smaller(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static void intersect_limits(struct policy_limits *l,
			     const struct policy_limits *o)
{
	l->wall_time = smaller(l->wall_time, o->wall_time);
	l->grace = smaller(l->grace, o->grace);
	l->idle_time = smaller(l->idle_time, o->idle_time);
	l->memory = smaller(l->memory, o->memory);
	l->swap = smaller(l->swap, o->swap);
	l->file_size = smaller(l->file_size, o->file_size);
	l->capture_bytes = smaller(l->capture_bytes, o->capture_bytes);
	l->io = smaller(l->io, o->io);
	l->pids = smaller(l->pids, o->pids);
	l->open_files = smaller(l->open_files, o->open_files);
	l->cpu = smaller(l->cpu, o->cpu);
}

/* Names that are protected by either; spared only by both. */
static int intersect_protects(struct policy *p, const struct policy *outer,
			      struct diags *d)
{
	const struct policy_protect *n;
	size_t i, k, kept = 0;
	int r = 0;

	for (i = 0; i < p->protect_count; i++)
		if (!p->protects[i].exclude ||
		    policy_excludes(outer, p->protects[i].name))
			p->protects[kept++] = p->protects[i];
	p->protect_count = kept;
	for (i = 0; !r && i < outer->protect_count; i++) {
		n = &outer->protects[i];
		for (k = 0; k < kept && !n->exclude; k++)
			if (!p->protects[k].exclude &&
			    !strcmp(p->protects[k].name, n->name))
				break;
		if (!n->exclude && k == kept)
			r = policy_add_protect(p, false, n->name, n->rule,
					       &n->at, d);
	}
	return r;
}

/* The ranges of @list in @old as far as @outer has their ports too. */
static int intersect_ports(struct policy *p, const struct policy *old,
			   const struct policy *outer,
			   enum policy_port_list list, struct diags *d)
{
	bool marks[PORTS_COUNT];
	const struct policy_ports *o;
	struct policy_ports range;
	char text[16];
	uint32_t port;
	size_t i;

	ports_mark(outer, list, marks);
	for (i = 0; i < old->port_count; i++) {
		o = &old->ports[i];
		if (o->list != list)
			continue;
		for (port = o->lo; port <= o->hi; port++) {
			if (!marks[port])
				continue;
			range.lo = port;
			while (port < o->hi && marks[port + 1])
				port++;
			range.hi = port;
			ports_text(&range, text);
			if (policy_add_ports(p, list, text, &o->at, d))
				return -EINVAL;
		}
	}
	return d->errors ? -EINVAL : 0;
}

static int intersect_grants(struct policy *p, const struct policy *outer,
			    enum policy_outer kind, struct diags *d)
{
	struct policy old = *p;
	const struct policy *from = kind == OUTER_SESSION ? outer : &old;
	int r;

	p->ports = NULL;
	p->port_count = 0;
	p->grants = outer->grants & (kind == OUTER_SESSION ? ~0u : p->grants);
	if (kind == OUTER_SESSION || outer->bind_any < p->bind_any)
		p->bind_any = outer->bind_any;
	r = intersect_ports(p, from, outer, PORTS_LOOPBACK, d);
	if (!r)
		r = intersect_ports(p, from, outer, PORTS_PUBLISH, d);
	free(old.ports);
	return r;
}

/*
 * Comparisons of rules that one intersection may take, about a second of work:
 * rules that overlap without end are no policy that anybody can read.
 */
#define RULES_WORK 200000000ULL

/* Add @n unless a rule of @p says as much already. */
static int add_rule(struct policy *p, const struct policy_net *n,
		    uint64_t *work, struct diags *d)
{
	size_t i;

	*work += p->net_count;
	if (*work > RULES_WORK) {
		diag_error(d, &n->at, "rules of egress overlap in too many "
			   "ways; write fewer and larger ones");
		return -E2BIG;
	}

	for (i = 0; i < p->net_count; i++)
		if (p->net[i].deny == n->deny &&
		    (n->deny ? net_same(&p->net[i], n) :
		     net_allows(&p->net[i], n)))
			return 0;
	return policy_add_net_rule(p, n, d);
}

/* Does a rule of @p allow all of @n? */
static bool allows(const struct policy *p, const struct policy_net *n)
{
	size_t i;

	if (p->egress_default == EGRESS_ALLOW && !net_special_bits(n))
		return true;
	for (i = 0; i < p->net_count; i++)
		if (!p->net[i].deny && net_allows(&p->net[i], n))
			return true;
	return false;
}

/* Of @from's rules: denies, and allows that @other goes along with. */
static int keep_rules(struct policy *p, const struct policy *from,
		      const struct policy *other, uint64_t *work,
		      struct diags *d)
{
	size_t i;
	int r = 0;

	for (i = 0; !r && i < from->net_count; i++)
		if (from->net[i].deny || allows(other, &from->net[i]))
			r = work ? add_rule(p, &from->net[i], work, d) :
				policy_add_net_rule(p, &from->net[i], d);
	return r;
}

static int intersect_egress(struct policy *p, const struct policy *outer,
			    struct diags *d)
{
	struct policy old = *p;
	struct policy_net n;
	uint64_t work = 0;
	size_t i, k;
	int r;

	p->net = NULL;
	p->net_count = 0;
	p->egress_given |= outer->egress_given;
	if (outer->egress_default < p->egress_default)
		p->egress_default = outer->egress_default;
	r = keep_rules(p, &old, outer, NULL, d);
	if (!r)
		r = keep_rules(p, outer, &old, &work, d);
	/* Two that overlap, and neither has the other inside. */
	for (i = 0; !r && i < old.net_count; i++)
		for (k = 0; !r && k < outer->net_count; k++)
			if (!old.net[i].deny && !outer->net[k].deny &&
			    net_meet(&old.net[i], &outer->net[k], &n) &&
			    net_allows(&old.net[i], &n) &&
			    net_allows(&outer->net[k], &n))
				r = add_rule(p, &n, &work, d);
	free(old.net);
	return r;
}

int policy_intersect(struct policy *p, const struct policy *outer,
		     enum policy_outer kind, const struct context *c,
		     struct diags *d)
{
	struct place at = { .file = outer->source };
	int r = intersect_roots(p, outer, kind, c, d);

	if (!r)
		r = intersect_protects(p, outer, d);
	if (!r)
		r = intersect_grants(p, outer, kind, d);
	if (!r)
		r = intersect_egress(p, outer, d);
	if (!r)
		r = intersect_env(p, outer, d);
	if (r == -ENOMEM)
		diag_error(d, &at, "out of memory");
	if (r)
		return r;
	if (outer->profile > p->profile)
		p->profile = outer->profile;
	if (outer->level < p->level) {
		at.pointer = "/side_effect_level";
		if (kind == OUTER_CEILING)
			diag_warn(d, &at, "lowers the level from %s to %s",
				  level_names[p->level],
				  level_names[outer->level]);
		p->level = outer->level;
	}
	p->caps &= outer->caps;
	p->presets &= outer->presets;
	intersect_limits(&p->limits, &outer->limits);
	if (outer->mode < p->mode)
		p->mode = outer->mode;
	if (outer->on_loss > p->on_loss)
		p->on_loss = outer->on_loss;
	return 0;
}
