// SPDX-License-Identifier: GPL-2.0-only
/*
 * Warnings. All roots stand in one table sorted by path, in which the
 * directories above a root are looked up, so that many roots stay cheap.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "data.h"
#include "follow.h"
#include "index.h"
#include "net.h"
#include "warn.h"

struct seen {
	const char *path, *rule;
	enum policy_list list;
	size_t order;		/* as written; credentials come last */
};

struct warn {
	const struct policy *p;
	const struct compile_options *o;
	struct diags *d;
	struct arena mem;
	struct seen *seen;
	size_t count;
};

static void add(struct warn *w, const char *path, const char *rule,
		enum policy_list list)
{
	struct seen *s;

	if (!path || !rule)
		return;
	if (!(w->count & (w->count - 1))) {
		s = reallocarray(w->seen, w->count ? 2 * w->count : 1,
				 sizeof(*s));
		if (!s)
			return;
		w->seen = s;
	}
	w->seen[w->count] = (struct seen){ path, rule, list, w->count };
	w->count++;
}

/* Unless the operator lifts it for this run. */
static void add_credential(struct warn *w, const char *path, const char *rule)
{
	size_t i;

	for (i = 0; path && i < w->p->lift_count; i++)
		if (!strcmp(w->p->lifts[i].path, path))
			return;
	add(w, path, rule, LIST_DENY);
}

/* Those that lie at a fixed place, for each home. */
static void add_credentials(struct warn *w)
{
	const struct context *c = w->o->context;
	const char *at = NULL, *rule;
	struct data_entry e;
	char *path;
	size_t i;

	while (data_next(DATA_CREDENTIALS, &at, &e)) {
		if (*e.path.s == '/') {
			path = arena_copy(&w->mem, e.path.s, e.path.len);
			rule = arena_print(&w->mem, "builtin:credentials/%s",
					   path ? path : "");
			add_credential(w, path, rule);
		}
		if (*e.path.s != '~')
			continue;
		rule = arena_print(&w->mem, "builtin:credentials%.*s",
				   e.path.len - 1, e.path.s + 1);
		for (i = 0; i < c->home_count; i++) {
			path = arena_print(&w->mem, "%s%.*s", c->homes[i],
					   e.path.len - 1, e.path.s + 1);
			if (path)
				root_normalise(path);
			add_credential(w, path, rule);
		}
	}
}

static int by_path(const void *a, const void *b)
{
	const struct seen *x = a, *y = b;
	int r = strcmp(x->path, y->path);

	return r ? r : x->order < y->order ? -1 : x->order > y->order;
}

/* The first that stands exactly at the @len bytes of @path, or NULL. */
static const struct seen *at_path(const struct warn *w, const char *path,
				  size_t len)
{
	size_t i = 0, end = w->count, mid;
	int r;

	while (i < end) {
		mid = (i + end) / 2;
		r = strncmp(w->seen[mid].path, path, len);
		if (!r && w->seen[mid].path[len])
			r = 1;
		if (r < 0)
			i = mid + 1;
		else
			end = mid;
	}
	if (i == w->count || strncmp(w->seen[i].path, path, len) ||
	    w->seen[i].path[len])
		return NULL;
	return &w->seen[i];
}

static bool writable(enum policy_list list)
{
	return list == LIST_WORKSPACE || list == LIST_WRITE;
}

/* Whether all that @inner says is said by @outer at or above it. */
static bool grants_too(enum policy_list outer, enum policy_list inner)
{
	if (writable(inner))
		return writable(outer);
	if (inner == LIST_READ)
		return writable(outer) || outer == LIST_READ;
	return outer == inner;
}

/*
 * Denied at or above @r: a deny holds whatever grants below it. NULL: it is
 * not. Of a workspace, policy_check() says it at the deny.
 */
static const struct seen *denied(const struct warn *w,
				 const struct policy_root *r)
{
	size_t len = strlen(r->path);
	const struct seen *s;

	for (; len; len = index_parent(r->path, len))
		for (s = at_path(w, r->path, len);
		     s && s < w->seen + w->count &&
		     !strncmp(s->path, r->path, len) && !s->path[len]; s++)
			if (s->list == LIST_DENY)
				return s;
	return NULL;
}

/*
 * Another root that makes number @i of the policy needless, with nothing
 * between the two that takes anything away; of equals, the first written.
 */
static const struct seen *covered(const struct warn *w, size_t i)
{
	const struct policy_root *r = &w->p->roots[i];
	size_t full = strlen(r->path), len = full;
	const struct seen *s, *found = NULL;
	bool blocked = false;

	for (; len && !blocked; len = index_parent(r->path, len)) {
		for (s = at_path(w, r->path, len);
		     s && s < w->seen + w->count &&
		     !strncmp(s->path, r->path, len) && !s->path[len]; s++) {
			blocked |= s->list != r->list &&
				   (s->list == LIST_READ_ONLY ||
				    s->list == LIST_DENY);
			if (!found && s->order != i &&
			    (len < full || s->order < i ||
			     !grants_too(r->list, s->list)) &&
			    grants_too(s->list, r->list))
				found = s;
		}
		if (found)
			break;
	}
	return blocked ? NULL : found;
}

/* Written roots of which the level and the capabilities leave nothing. */
static void warn_idle(const struct warn *w)
{
	uint32_t caps = policy_caps(w->p);
	const struct policy_root *r;
	size_t i;

	for (i = 0; i < w->p->root_count && !(caps & CAP_READS); i++) {
		r = &w->p->roots[i];
		if (!r->at.line || (r->list != LIST_READ &&
				    (r->list != LIST_WORKSPACE ||
				     (caps & CAP_WRITES))))
			continue;
		diag_warn(w->d, &r->at, "has no effect: the level %s and the "
			  "capabilities leave no reading",
			  level_names[w->p->level]);
		return;
	}
}

/* Where @r's path leads, as another root; false: to itself. */
static bool leads_away(struct warn *w, const struct policy_root *r,
		       struct policy_root *there)
{
	*there = *r;
	there->path = w->o->check ? follow_path(&w->mem, r->path) : NULL;
	return there->path && strcmp(there->path, r->path);
}

static void warn_effect(struct warn *w)
{
	const struct policy_root *r;
	struct policy_root there;
	const struct seen *s;
	size_t i;
	bool away;

	for (i = 0; i < w->p->root_count; i++) {
		r = &w->p->roots[i];
		if (r->list == LIST_DENY)
			continue;
		away = leads_away(w, r, &there);
		s = denied(w, r);
		if (!s && away)
			s = denied(w, &there);
		if (s && (r->list != LIST_WORKSPACE ||
			  !strncmp(s->rule, "builtin:", 8))) {
			diag_warn(w->d, &r->at, "has no effect: %s denies %s",
				  s->rule, s->path);
			continue;
		}
		/* A link says nothing by where it stands; nor a default. */
		s = s || !w->o->check || away ||
		    (!r->at.line && r->at.file == w->p->source) ? NULL :
			covered(w, i);
		if (s && !strcmp(s->path, r->path))
			diag_warn(w->d, &r->at, "has no effect: %s says the "
				  "same", s->rule);
		else if (s)
			diag_warn(w->d, &r->at, "has no effect: it lies in "
				  "%s, which %s grants", s->path, s->rule);
	}
}

static bool absent(const char *path)
{
	struct stat st;

	return lstat(path, &st) && (errno == ENOENT || errno == ENOTDIR);
}

/* A read-only root inside a writable one holds by its name. */
static bool inside_writable(const struct warn *w, const struct policy_root *r)
{
	size_t len = strlen(r->path);
	const struct seen *s;

	for (; len; len = index_parent(r->path, len))
		for (s = at_path(w, r->path, len);
		     s && s < w->seen + w->count &&
		     !strncmp(s->path, r->path, len) && !s->path[len]; s++)
			if (writable(s->list))
				return true;
	return false;
}

/* The working directory is the caller's matter, not the policy's. */
static void warn_absent(const struct warn *w)
{
	const char *workspace = w->o->context->workspace;
	const struct policy_root *r;
	size_t i;

	for (i = 0; i < w->p->root_count; i++) {
		r = &w->p->roots[i];
		if (r->optional || r->list == LIST_DENY || !absent(r->path) ||
		    !strcmp(r->path, workspace) ||
		    (r->list == LIST_READ_ONLY && inside_writable(w, r)))
			continue;
		diag_warn(w->d, &r->at, "%s does not exist, and a run is "
			  "refused without it; put \"?\" before it if it may "
			  "be absent", r->path);
	}
}

/* The strongest that is said about @path itself. */
static bool may_write(const struct warn *w, const char *path,
		      const struct policy_root **root)
{
	const struct policy_root *r;
	size_t i;

	*root = NULL;
	for (i = 0; i < w->p->root_count; i++) {
		r = &w->p->roots[i];
		if (!root_covers(r->path, path))
			continue;
		if (r->list == LIST_DENY || r->list == LIST_READ_ONLY)
			return false;
		if (writable(r->list) && !*root)
			*root = r;
	}
	return *root;
}

static void warn_own_file(const struct warn *w, const char *file)
{
	const struct policy_root *root;
	char *real = realpath(file, NULL);

	if (real && (policy_caps(w->p) & CAP_WRITES) &&
	    may_write(w, real, &root))
		diag_warn(w->d, &root->at, "holds the policy itself, %s: no "
			  "session under it may write it, but another may; "
			  "keep it outside", real);
	free(real);
}

/* Where all of some network may be, which no rule for that network means. */
static bool may_be_all(const struct policy_net *a)
{
	return !a->v6 && a->prefix == 32 && (a->addr[3] & 3) == 3;
}

static void warn_allow(const struct warn *w, const struct policy_net *a)
{
	const struct policy_net *o, *same = NULL;
	size_t i;

	for (i = 0; i < w->p->net_count; i++) {
		o = &w->p->net[i];
		if (o == a || !net_covers(o, a))
			continue;
		if (o->deny) {
			diag_warn(w->d, &a->at, "has no effect: %s denies all "
				  "of it", o->rule);
			return;
		}
		if (!same && net_allows(o, a) &&
		    (o->prefix == a->prefix || !may_be_all(a)) &&
		    (o < a || !net_covers(a, o)))
			same = o;
	}
	if (same)
		diag_warn(w->d, &a->at, "has no effect: %s allows all of it",
			  same->rule);
	else if (w->p->egress_default == EGRESS_ALLOW &&
		 !net_special_bits(a) && !may_be_all(a))
		diag_warn(w->d, &a->at, "has no effect: the default is to "
			  "allow");
}

static void warn_net(const struct warn *w)
{
	size_t i;

	for (i = 0; i < w->p->net_count; i++)
		if (!w->p->net[i].deny)
			warn_allow(w, &w->p->net[i]);
}

/* Without a loopback of its own a session has no port to open. */
static void warn_ports(const struct warn *w)
{
	const uint32_t loopback = GRANT_LOOPBACK_TCP | GRANT_LOOPBACK_UDP;
	size_t i;

	if (w->p->grants & loopback)
		return;
	for (i = 0; i < w->p->port_count; i++)
		if (w->p->ports[i].list == PORTS_PUBLISH)
			diag_warn(w->d, &w->p->ports[i].at, "has no effect "
				  "without allow_loopback: no port is bound");
	if (w->p->bind_any != BIND_ANY_REFUSE)
		diag_warn(w->d, &w->p->said[SAID_BIND_ANY], "has no effect "
			  "without allow_loopback: no port is bound");
}

void policy_warn(const struct policy *p, const struct compile_options *o,
		 const char *policy_file, struct diags *d)
{
	struct warn w = { .p = p, .o = o, .d = d };
	size_t i;

	for (i = 0; i < p->root_count; i++)
		add(&w, p->roots[i].path, p->roots[i].rule, p->roots[i].list);
	if (w.count == p->root_count) {
		add_credentials(&w);
		qsort(w.seen, w.count, sizeof(*w.seen), by_path);
		warn_effect(&w);
		if (o->check) {
			warn_idle(&w);
			warn_absent(&w);
		}
	}
	if (o->check && policy_file)
		warn_own_file(&w, policy_file);
	warn_net(&w);
	warn_ports(&w);
	free(w.seen);
	arena_free(&w.mem);
}
