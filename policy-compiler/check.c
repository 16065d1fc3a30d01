// SPDX-License-Identifier: GPL-2.0-only
/*
 * The model's own rules: its defaults, what may be added to it, and what must
 * hold between its fields before anything is made of it.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "policy.h"

void policy_init(struct policy *p, const char *source)
{
	*p = (struct policy){
		.source = source,
		.name = "",
		.profile = PROFILE_OS_HARDENED,
		.level = LEVEL_PROCESS_EXEC,
		.caps = CAP_ALL,
		.presets = PRESET_ALL,
		.env_mode = ENV_ISOLATED,
		.limits = {
			.wall_time = IMAGE_NO_LIMIT,
			.grace = 5000000000ULL,
			.idle_time = IMAGE_NO_LIMIT,
			.memory = IMAGE_NO_LIMIT,
			.swap = IMAGE_NO_LIMIT,
			.file_size = IMAGE_NO_LIMIT,
			.capture_bytes = IMAGE_NO_LIMIT,
			.io = IMAGE_NO_LIMIT,
			.pids = 4096,
			.open_files = IMAGE_NO_LIMIT,
			.cpu = IMAGE_NO_LIMIT,
		},
	};
}

void policy_free(struct policy *p)
{
	free(p->roots);
	free(p->env);
	free(p->env_files);
	free(p->ports);
	free(p->net);
	free(p->protects);
	arena_free(&p->mem);
	*p = (struct policy){ 0 };
}

static int no_memory(const struct place *at, struct diags *d)
{
	diag_error(d, at, "out of memory");
	return -ENOMEM;
}

/* Said once, not for each that is too many. */
static int crowded(struct policy *p, const struct place *at, const char *what,
		   unsigned int max, struct diags *d)
{
	if (!p->crowded)
		diag_error(d, at, "more than %u %s", max, what);
	p->crowded = true;
	return -E2BIG;
}

int policy_add_root(struct policy *p, enum policy_list list, bool optional,
		    const char *path, const char *rule,
		    const struct place *at, struct diags *d)
{
	struct policy_root *roots = p->roots;
	size_t n = p->root_count;

	if (n >= POLICY_ROOTS_MAX)
		return crowded(p, at, "roots", POLICY_ROOTS_MAX, d);
	if (!(n & (n - 1))) {
		roots = reallocarray(roots, n ? 2 * n : 1, sizeof(*roots));
		if (!roots)
			return no_memory(at, d);
		p->roots = roots;
	}
	if (!path || !rule)
		return no_memory(at, d);
	roots[n] = (struct policy_root){ list, optional, path, rule, *at };
	p->root_count++;
	return 0;
}

bool env_name_ok(const char *name)
{
	static const char ok[] = "abcdefghijklmnopqrstuvwxyz"
		"ABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";
	size_t len = strlen(name);

	return len && len <= LH_NAME_MAX && strspn(name, ok) == len &&
	       !strchr("0123456789", *name);
}

int policy_set_env(struct policy *p, const char *name, const char *value,
		   const struct place *at, struct diags *d)
{
	struct policy_env *env = p->env;
	size_t n = p->env_count, i;

	if (!env_name_ok(name)) {
		diag_error(d, at, "\"%s\" is no name of a variable: letters, "
			   "digits and \"_\"", name);
		return -EINVAL;
	}
	for (i = 0; i < n; i++)
		if (!strcmp(env[i].name, name)) {
			env[i] = (struct policy_env){
				.name = name, .value = value, .at = *at,
			};
			return 0;
		}
	if (n >= POLICY_ENV_MAX)
		return crowded(p, at, "variables", POLICY_ENV_MAX, d);
	if (!(n & (n - 1))) {
		env = reallocarray(env, n ? 2 * n : 1, sizeof(*env));
		if (!env)
			return no_memory(at, d);
		p->env = env;
	}
	env[n] = (struct policy_env){ .name = name, .value = value,
					  .at = *at };
	p->env_count++;
	return 0;
}

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

static void check_workspace(const struct policy_root *r,
			    const struct context *c, struct diags *d)
{
	size_t i;

	if (!strcmp(r->path, "/")) {
		diag_error(d, &r->at, "the workspace is /; name a directory "
			   "of the project");
		return;
	}
	for (i = 0; i < c->home_count; i++) {
		if (!covers_really(r->path, c->homes[i]))
			continue;
		if (!strcmp(r->path, c->homes[i]))
			diag_error(d, &r->at, "the workspace %s is a home "
				   "directory; name a directory of the "
				   "project", r->path);
		else
			diag_error(d, &r->at, "the workspace %s holds the "
				   "home directory %s; name a directory of "
				   "the project", r->path, c->homes[i]);
		return;
	}
}

/* A read-only root where a writable one stands would be neither. */
static void check_conflict(const struct policy *p,
			   const struct policy_root *r, struct diags *d)
{
	const struct policy_root *o;
	size_t i;

	for (i = 0; i < p->root_count; i++) {
		o = &p->roots[i];
		if ((o->list == LIST_WORKSPACE || o->list == LIST_WRITE) &&
		    !strcmp(o->path, r->path)) {
			diag_error(d, &r->at, "%s is writable too, by %s; "
				   "take one of them out", r->path, o->rule);
			return;
		}
	}
}

static void check_deny(const struct policy *p, const struct policy_root *r,
		       struct diags *d)
{
	size_t i;

	if (!strcmp(r->path, "/")) {
		diag_error(d, &r->at, "denies /, so nothing could run");
		return;
	}
	for (i = 0; i < p->root_count; i++)
		if (p->roots[i].list == LIST_WORKSPACE &&
		    root_covers(r->path, p->roots[i].path)) {
			diag_warn(d, &r->at, "denies all of the workspace %s",
				  p->roots[i].path);
			return;
		}
}

/* A ceiling grants nothing by itself, so its roots may be / and homes. */
static void check_roots(const struct policy *p, const struct context *c,
			bool ceiling, struct diags *d)
{
	const struct policy_root *r;
	size_t i;

	for (i = 0; i < p->root_count; i++) {
		r = &p->roots[i];
		if (r->list == LIST_READ_ONLY)
			check_conflict(p, r, d);
		else if (r->list == LIST_WORKSPACE && !ceiling)
			check_workspace(r, c, d);
		else if (r->list == LIST_WRITE && !ceiling &&
			 !strcmp(r->path, "/"))
			diag_error(d, &r->at, "/ cannot be writable; name "
				   "the directories");
		else if (r->list == LIST_DENY)
			check_deny(p, r, d);
	}
}

static void check_env(const struct policy *p, struct diags *d)
{
	size_t i;

	for (i = 0; i < p->env_count; i++)
		if (p->env[i].withheld)
			diag_error(d, &p->env[i].at, "the value was withheld "
				   "by `show`; write it again");
}

static void check_effect(const struct policy *p, struct diags *d)
{
	struct place at = { .file = p->source };
	uint32_t caps = policy_caps(p);
	size_t i;

	if (p->level == LEVEL_NETWORK) {
		at.pointer = "/side_effect_level";
		diag_warn(d, &at, "network grants no destination by itself, "
			  "and this build has no egress rules: every "
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

int policy_check(struct policy *p, const struct context *c, bool ceiling,
		 struct diags *d)
{
	int r = default_workspace(p, c, d);

	if (r)
		return r;
	check_roots(p, c, ceiling, d);
	if (!ceiling) {
		check_env(p, d);
		check_effect(p, d);
	}
	return d->errors ? -EINVAL : 0;
}
