// SPDX-License-Identifier: GPL-2.0-only
/*
 * The model's own rules: its defaults, what may be added to it, and what must
 * hold between its fields before anything is made of it.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "index.h"

uint32_t policy_caps(const struct policy *p)
{
	switch (p->level) {
	case LEVEL_NONE:
		return 0;
	case LEVEL_READ_ONLY:
		return p->caps & CAP_READS;
	case LEVEL_WORKSPACE_WRITE:
		return p->caps & (CAP_READS | CAP_WRITES);
	default:
		return p->caps;
	}
}

/* Also through links: /home may lead elsewhere than the caller believes. */
static bool covers_really(const char *root, const char *path)
{
	bool yes = root_covers(root, path);
	char *a, *b;

	if (yes)
		return true;
	a = realpath(root, NULL);
	b = realpath(path, NULL);
	yes = a && b && root_covers(a, b);
	free(a);
	free(b);
	return yes;
}

/* Mostly it is where the caller happens to be, not what the policy names. */
static void check_workspace(const struct policy_root *r,
			    const struct context *c, struct diags *d)
{
	bool here = !strcmp(r->path, c->workspace);
	const char *what = here ? "working directory" : "workspace";
	const char *remedy = here ? "go to the project or name it with -C DIR" :
		"name a directory of the project";
	size_t i;

	if (!strcmp(r->path, "/")) {
		diag_error(d, &r->at, "the %s is /; %s", what, remedy);
		return;
	}
	for (i = 0; i < c->home_count; i++) {
		if (!covers_really(r->path, c->homes[i]))
			continue;
		if (!strcmp(r->path, c->homes[i]))
			diag_error(d, &r->at, "the %s %s is a home directory; "
				   "%s", what, r->path, remedy);
		else
			diag_error(d, &r->at, "the %s %s holds the home "
				   "directory %s; %s", what, r->path,
				   c->homes[i], remedy);
		return;
	}
}

/* A read-only root where a writable one stands would be neither. */
static void check_conflict(const struct root_index *x,
			   const struct policy_root *r, struct diags *d)
{
	const struct policy_root *o;
	size_t at = 0;

	while ((o = index_next(x, r->path, strlen(r->path), &at)))
		if (o->list == LIST_WORKSPACE || o->list == LIST_WRITE) {
			diag_error(d, &r->at, "%s is writable too, by %s; "
				   "take one of them out", r->path, o->rule);
			return;
		}
}

/* Of each deny at or above the workspace @r: it leaves nothing of it. */
static void note_denied(const struct root_index *x,
			const struct policy_root *r, const char **over)
{
	const struct policy_root *o;
	size_t len, at;

	for (len = strlen(r->path); len > 1; len = index_parent(r->path, len))
		for (at = 0; (o = index_next(x, r->path, len, &at));)
			if (o->list == LIST_DENY)
				over[o - x->p->roots] = r->path;
}

static void check_deny(const struct policy_root *r, const char *over,
		       struct diags *d)
{
	if (!strcmp(r->path, "/"))
		diag_error(d, &r->at, "denies /, so nothing could run");
	else if (over)
		diag_warn(d, &r->at, "denies all of the workspace %s", over);
}

/* A ceiling grants nothing by itself, so its roots may be / and homes. */
static void check_root(const struct root_index *x, const struct context *c,
		       const struct policy_root *r, const char *over,
		       bool ceiling, struct diags *d)
{
	if (r->list == LIST_READ_ONLY)
		check_conflict(x, r, d);
	else if (r->list == LIST_WORKSPACE && !ceiling)
		check_workspace(r, c, d);
	else if (r->list == LIST_WRITE && !ceiling && !strcmp(r->path, "/"))
		diag_error(d, &r->at, "/ cannot be writable; name the "
			   "directories");
	else if (r->list == LIST_DENY)
		check_deny(r, over, d);
}

static int check_roots(const struct policy *p, const struct context *c,
		       bool ceiling, struct diags *d)
{
	const char **over = calloc(p->root_count + 1, sizeof(*over));
	struct root_index x;
	size_t i;

	if (!over || index_begin(&x, p)) {
		free(over);
		diag_error(d, &(struct place){ .file = p->source },
			   "out of memory");
		return -ENOMEM;
	}
	if (x.crowd) {
		diag_error(d, &x.crowd->at, "%s is named more than %u times",
			   x.crowd->path, INDEX_SAME_MAX);
		index_end(&x);
		free(over);
		return -EINVAL;
	}
	for (i = 0; i < p->root_count; i++)
		if (p->roots[i].list == LIST_WORKSPACE)
			note_denied(&x, &p->roots[i], over);
	for (i = 0; i < p->root_count; i++)
		check_root(&x, c, &p->roots[i], over[i], ceiling, d);
	index_end(&x);
	free(over);
	return 0;
}

static void check_env(const struct policy *p, struct diags *d)
{
	size_t i;

	for (i = 0; i < p->env_count; i++)
		if (p->env[i].withheld)
			diag_error(d, &p->env[i].at, "the value was withheld "
				   "by `show`; write it again, or give it "
				   "with --env %s=VALUE", p->env[i].name);
}

static void check_egress(const struct policy *p, struct diags *d)
{
	if ((p->net_count || p->egress_default != EGRESS_DENY) &&
	    p->level < LEVEL_NETWORK)
		diag_error(d, p->net_count ? &p->net[0].at :
			   &p->said[SAID_EGRESS], "egress has no effect under "
			   "the level %s; write \"side_effect_level\": "
			   "\"network\"", level_names[p->level]);
}

static void check_effect(const struct policy *p, struct diags *d)
{
	struct place at = { .file = p->source };
	uint32_t caps = policy_caps(p);
	size_t i;

	if (p->profile < PROFILE_WORKTREE)
		diag_warn(d, p->said[SAID_PROFILE].file ?
			  &p->said[SAID_PROFILE] : &at, "no confinement: no "
			  "rule of this policy is enforced, only its limits "
			  "and its environment");
	/* A rule that is wrong was meant to grant one. */
	if (p->level == LEVEL_NETWORK && !p->net_count && !d->errors &&
	    p->egress_default == EGRESS_DENY) {
		if (p->said[SAID_LEVEL].file)
			at = p->said[SAID_LEVEL];
		diag_warn(d, &at, "the level network grants no destination by "
			  "itself: without a rule of egress.allow every "
			  "connection is still refused");
	}
	for (i = 0; i < p->root_count; i++)
		if (p->roots[i].list == LIST_WRITE && !(caps & CAP_WRITES)) {
			diag_warn(d, &p->roots[i].at, "not writable: the "
				  "level %s and the capabilities leave no "
				  "writing", level_names[p->level]);
			break;
		}
}

/* Without a list of workspaces the working directory is the one. */
static int default_workspace(struct policy *p, const struct context *c,
			     struct diags *d)
{
	static const char rule[] = "/workspace_roots/0";
	struct place at = { .file = p->source, .pointer = rule };

	if (p->listed[LIST_WORKSPACE])
		return 0;
	p->listed[LIST_WORKSPACE] = true;
	return policy_add_root(p, LIST_WORKSPACE, false, c->workspace, rule,
			       &at, d);
}

/*
 * In the order of the lists, whatever the order of the fields was: what `show`
 * prints gives the same image again.
 */
static int order_roots(struct policy *p, struct diags *d)
{
	size_t n = p->root_count, i, out = 0;
	struct policy_root *old = reallocarray(NULL, n + 1, sizeof(*old));
	unsigned int list;

	if (!old) {
		diag_error(d, &(struct place){ .file = p->source },
			   "out of memory");
		return -ENOMEM;
	}
	for (i = 0; i < n; i++)
		old[i] = p->roots[i];
	for (list = 0; list < LIST_COUNT; list++)
		for (i = 0; i < n; i++)
			if (old[i].list == list)
				p->roots[out++] = old[i];
	free(old);
	return 0;
}

int policy_check(struct policy *p, const struct context *c, bool ceiling,
		 struct diags *d)
{
	int r = default_workspace(p, c, d);

	if (!r)
		r = order_roots(p, d);
	if (r)
		return r;
	r = check_roots(p, c, ceiling, d);
	if (r)
		return r;
	if (!ceiling) {
		check_egress(p, d);
		check_env(p, d);
		check_effect(p, d);
	}
	return d->errors ? -EINVAL : 0;
}
