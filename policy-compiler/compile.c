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
#include "env-file.h"
#include "follow.h"
#include "warn.h"

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

static void add_env_file(struct policy *p, const char *path,
			 const struct context *c, struct diags *d)
{
	struct place at = { .file = "--env-file", .pointer = path };
	const char *why;
	char *full = root_expand(&p->mem, c, c->workspace, path, &why);

	if (full)
		policy_add_env_file(p, full, &at, d);
	else
		diag_error(d, &at, "%s", why);
}

static void add_net(struct policy *p, const struct compile_options *o,
		    struct diags *d)
{
	struct place at = { .file = "--egress-allow" };
	const char *why;
	size_t i;

	p->grants |= o->grants;
	if (o->grants)
		p->said[SAID_LOOPBACK] = (struct place){
			.file = "--allow-process-loopback" };
	if ((o->network || o->egress_allow_count) &&
	    p->level < LEVEL_NETWORK) {
		p->level = LEVEL_NETWORK;
		p->said[SAID_LEVEL] = (struct place){
			.file = o->network ? "--allow-net" : at.file };
	}
	for (i = 0; i < o->egress_allow_count; i++) {
		at.pointer = o->egress_allow[i];
		why = policy_add_net(p, false, at.pointer,
				     arena_print(&p->mem, "flag:%s %s",
						 at.file, at.pointer), &at, d);
		if (why)
			diag_error(d, &at, "%s", why);
	}
	p->egress_given |= o->egress_allow_count;
}

static void add_ports(struct policy *p, enum policy_port_list list,
		      const char *flag, const char *const *ports, size_t n,
		      struct diags *d)
{
	struct place at = { .file = flag };
	const char *why;
	size_t i;

	for (i = 0; i < n; i++) {
		at.pointer = ports[i];
		why = policy_add_ports(p, list, ports[i], &at, d);
		if (why)
			diag_error(d, &at, "%s", why);
	}
}

static void add_lifts(struct policy *p, const struct compile_options *o,
		      struct diags *d)
{
	struct place at = { .file = "--allow-credential" };
	const struct context *c = o->context;
	const char *why;
	size_t i;

	p->lifts = arena_alloc(&p->mem, o->lift_count * sizeof(*p->lifts) + 1);
	for (i = 0; p->lifts && i < o->lift_count; i++) {
		at.pointer = o->lift[i];
		p->lifts[i] = (struct policy_lift){ .at = at };
		p->lifts[i].path = root_expand(&p->mem, c, c->workspace,
					       o->lift[i], &why);
		if (!p->lifts[i].path) {
			diag_error(d, &at, "%s", why);
			return;
		}
		p->lift_count++;
	}
}

static void add_flags(struct policy *p, const struct compile_options *o,
		      struct diags *d)
{
	size_t i;

	for (i = 0; i < o->root_count; i++)
		add_root(p, &o->roots[i], o->context, d);
	for (i = 0; i < o->env_count; i++)
		add_env(p, o->env[i], d);
	for (i = 0; i < o->env_file_count; i++)
		add_env_file(p, o->env_files[i], o->context, d);
	add_net(p, o, d);
	add_ports(p, PORTS_LOOPBACK, "--loopback-port", o->loopback_ports,
		  o->loopback_port_count, d);
	add_ports(p, PORTS_PUBLISH, "--publish-port", o->publish_ports,
		  o->publish_port_count, d);
	add_lifts(p, o, d);
	if (o->wall_time)
		p->limits.wall_time = o->wall_time;
	if (o->idle_time) {
		p->limits.idle_time = o->idle_time;
		p->said[SAID_IDLE_TIME] = (struct place){
			.file = "--idle-timeout" };
	}
	if (o->memory)
		p->limits.memory = o->memory;
	if (o->pids)
		p->limits.pids = o->pids;
	if (o->cpu)
		p->limits.cpu = o->cpu;
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
	size_t i;

	if (r || !o->ceiling)
		return r;
	/* A site that permits runs without a sandbox permits this too. */
	for (i = 0; i < p->lift_count; i++)
		if (outer->policy.profile != PROFILE_UNRESTRICTED)
			diag_error(d, &p->lifts[i].at, "the ceiling %s holds "
				   "the credential list for every run",
				   o->ceiling_file);
	/* By where roots lead: a session can make a link inside the ceiling. */
	r = policy_follow(p, d);
	if (!r)
		r = policy_follow(&outer->policy, d);
	if (r)
		return r;
	return policy_intersect(p, &outer->policy, OUTER_CEILING, o->context,
				d);
}

/* What a unit holds is borrowed from both documents. */
struct compiled {
	struct unit inner, outer;
	struct arena name;	/* of the file */
	struct arena values;	/* of variables, from an image */
};

/* The inner document is parsed. */
static int finish(struct compiled *k, const char *file, const char *base,
		  const struct compile_options *o, struct diags *d)
{
	struct policy *p = &k->inner.policy;
	int r = unit_read(&k->inner, file, base, o->context, d);

	/* Flags are looked at even so, to have all errors in one go. */
	add_flags(p, o, d);
	if (!r || r == -EINVAL)
		r = env_files_read(p, o->read_file, o->read_arg, d);
	if (!r || r == -EINVAL)
		r = policy_check(p, o->context, false, d);
	if (!r && !d->errors)
		policy_warn(p, o, base ? NULL : file, d);
	if (!r)
		r = d->errors ? -EINVAL : narrow(p, &k->outer, o, d);
	if (!r || r == -EINVAL)
		policy_enforceable(p, o->lenient, d);
	return !r && d->errors ? -EINVAL : r;
}

/* *file becomes a copy that lives as long as *k. */
static int begin(const char **file, struct compiled **k, struct diags *d)
{
	struct place at = { .file = *file };

	*k = calloc(1, sizeof(**k));
	if (*k)
		*file = arena_print(&(*k)->name, "%s", *file);
	if (*k && *file)
		return 0;
	compiled_free(*k);
	*k = NULL;
	diag_error(d, &at, "out of memory");
	return -ENOMEM;
}

/* The inner document was parsed with the result @r. */
static int end(int r, const char *file, const char *base,
	       const struct compile_options *o, struct compiled **k,
	       struct diags *d)
{
	if (!r)
		r = finish(*k, file, base, o, d);
	if (r) {
		compiled_free(*k);
		*k = NULL;
	}
	return r;
}

int compile_model_text(const char *text, size_t len, const char *file,
		       const char *base, const struct compile_options *o,
		       struct compiled **k, struct diags *d)
{
	int r = begin(&file, k, d);

	if (r)
		return r;
	r = json_parse(text, len, file, &(*k)->inner.doc, d);
	return end(r, file, base, o, k, d);
}

int compile_model_fd(int fd, const char *file, const char *base,
		     const struct compile_options *o, struct compiled **k,
		     struct diags *d)
{
	int r = begin(&file, k, d);

	if (r)
		return r;
	r = json_read(fd, file, &(*k)->inner.doc, d);
	return end(r, file, base, o, k, d);
}

int compile_model_image(const struct image *im, const char *file,
			const struct compile_options *o, struct compiled **k,
			struct diags *d)
{
	const struct image_env *env = image_envs(im);
	struct compile_options with = *o;
	struct arena mem = { 0 };
	const char **vars;
	size_t i, n = 0;
	int r;

	*k = NULL;
	vars = arena_alloc(&mem, (im->env.count + o->env_count + 1) *
			   sizeof(*vars));
	for (i = 0; vars && i < im->env.count; i++)
		if (env[i].set)
			vars[n++] = arena_print(&mem, "%s=%s",
						image_string(im, env[i].name),
						image_string(im,
							     env[i].value));
	if (!vars || (n && !vars[n - 1])) {
		diag_error(d, &(struct place){ .file = file },
			   "out of memory");
		arena_free(&mem);
		return -ENOMEM;
	}
	for (i = 0; i < o->env_count; i++)
		vars[n + i] = o->env[i];
	with.env = vars;
	with.env_count = n + o->env_count;
	r = compile_model_text((const char *)im + im->policy.offset,
			       im->policy.count, file, "/", &with, k, d);
	/* The model borrows the values. */
	if (*k)
		(*k)->values = mem;
	else
		arena_free(&mem);
	return r;
}

struct policy *compiled_policy(struct compiled *k)
{
	return &k->inner.policy;
}

int compiled_lower(struct compiled *k, const struct compile_options *o,
		   struct image **out, struct diags *d)
{
	return policy_lower(&k->inner.policy, o->context, out, d);
}

void compiled_free(struct compiled *k)
{
	if (!k)
		return;
	unit_free(&k->inner);
	unit_free(&k->outer);
	arena_free(&k->name);
	arena_free(&k->values);
	free(k);
}

int compile_text(const char *text, size_t len, const char *file,
		 const char *base, const struct compile_options *o,
		 struct image **out, struct diags *d)
{
	struct compiled *k;
	int r = compile_model_text(text, len, file, base, o, &k, d);

	if (!r)
		r = compiled_lower(k, o, out, d);
	compiled_free(k);
	return r;
}

int compile_fd(int fd, const char *file, const char *base,
	       const struct compile_options *o, struct image **out,
	       struct diags *d)
{
	struct compiled *k;
	int r = compile_model_fd(fd, file, base, o, &k, d);

	if (!r)
		r = compiled_lower(k, o, out, d);
	compiled_free(k);
	return r;
}
