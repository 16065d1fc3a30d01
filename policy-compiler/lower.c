// SPDX-License-Identifier: GPL-2.0-only
/*
 * From the model to the image: what each list, preset, credential and
 * protected name becomes as flags of a root. The credential list always goes
 * in, whatever the policy says.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "build.h"
#include "data.h"
#include "filter.h"
#include "network.h"
#include "preset.h"

/* LH_ITEMS_MAX, IMAGE_RULES_MAX and IMAGE_BYTES_MAX */
#define TOO_LARGE "too large: with the credential list at most 16384 roots, " \
	"65535 rules, 131072 ports of overlapping rules of egress, and 8 MiB"

struct lower {
	const struct policy *p;
	const struct context *c;
	struct diags *d;
	struct build b;
	struct arena mem;
	uint32_t caps;		/* what the level leaves */
	uint32_t net_flags;
};

/* Texts in the arena; a failure is kept in the build. */
static const char *kept(struct lower *l, const char *s)
{
	if (!s && !l->b.error)
		l->b.error = -ENOMEM;
	return s ? s : "";
}

#define TEXT(l, ...) kept(l, arena_print(&(l)->mem, __VA_ARGS__))

static void lower_root(struct lower *l, const struct policy_root *r)
{
	uint32_t flags = l->caps & CAP_READS ? LH_ROOT_READ | LH_ROOT_EXEC : 0;
	enum image_root_kind kind = ROOT_PLAIN;

	switch (r->list) {
	case LIST_SOCKET:
		flags = LH_ROOT_SOCKET;
		break;
	case LIST_WORKSPACE:
	case LIST_WRITE:
		if (l->caps & CAP_WRITE_TEXT)
			flags |= LH_ROOT_WRITE;
		if (l->caps & CAP_DELETE)
			flags |= LH_ROOT_DELETE;
		kind = ROOT_WORKSPACE;
		break;
	case LIST_READ_ONLY:
		flags |= LH_ROOT_RDONLY;
		break;
	case LIST_READ:
		break;
	default:
		flags = LH_ROOT_DENY;
	}
	if (!flags)
		return;
	if (r->optional && flags != LH_ROOT_DENY)
		flags |= IMAGE_ROOT_OPTIONAL;
	if (l->p->followed && !(flags & (LH_ROOT_DENY | LH_ROOT_RDONLY)))
		flags |= IMAGE_ROOT_EXACT;
	build_root(&l->b, r->path, flags, kind, r->rule);
}

static void lower_presets(struct lower *l)
{
	struct preset_root r;
	const char *at = NULL;
	int rc;

	while ((rc = preset_next(l->p, l->c, &l->mem, &at, &r)) > 0)
		build_root(&l->b, r.path, r.flags, ROOT_PLAIN, r.rule);
	if (rc && !l->b.error)
		l->b.error = rc;
}

/* The operator may lift an entry for one run; a policy never. */
static bool is_lifted(struct lower *l, const char *path)
{
	struct policy_lift *lift = l->p->lifts;
	bool yes = false;
	size_t i;

	for (i = 0; i < l->p->lift_count; i++) {
		if (!strcmp(lift[i].path, path))
			lift[i].hit = yes = true;
		else if (!lift[i].inside && root_covers(path, lift[i].path))
			lift[i].inside = path;
	}
	return yes;
}

static void lower_credential(struct lower *l, const char *path,
			     const char *rule)
{
	if (!is_lifted(l, path))
		build_root(&l->b, path, LH_ROOT_DENY, ROOT_CREDENTIAL,
			   rule);
}

/* A lift that lifts nothing would be believed to. */
static void check_lifts(struct lower *l)
{
	const struct policy_lift *lift = l->p->lifts;
	size_t i;

	for (i = 0; i < l->p->lift_count; i++) {
		if (lift[i].inside)
			diag_error(l->d, &lift[i].at, "is inside %s, which "
				   "the credential list denies as a whole; "
				   "name that", lift[i].inside);
		else if (!lift[i].hit)
			diag_error(l->d, &lift[i].at, "is no entry of the "
				   "credential list, so there is nothing to "
				   "lift");
	}
}

/*
 * A place that the caller's variable names, relative to the working directory.
 * Empty, it moves nothing; /dev/null is how people say that there is none, and
 * every shell needs it.
 */
static void lower_moved(struct lower *l, const char *variable,
			const char *place, const char *rest, const char *rule)
{
	struct place at = { .file = variable };
	const char *why;
	char *path;

	if (!*place)
		return;
	path = (char *)TEXT(l, "%s%s/%s%s",
			    *place == '/' ? "" : l->c->workspace,
			    *place == '/' ? "" : "/", place, rest);
	if (!*path)
		return;
	root_normalise(path);
	why = root_wrong(path);
	if (!why && !strcmp(path, "/"))
		why = "names /, which cannot be denied; unset it";
	if (why)
		diag_error(l->d, &at, "%s", why);
	else if (strcmp(path, "/dev/null"))
		lower_credential(l, path, rule);
}

/* "$NAME/rest": one place, or with "list" the places between colons. */
static void lower_variable(struct lower *l, const struct data_entry *e)
{
	size_t n = 1;
	const char *name, *rest, *value, *rule;
	char *list, *next;

	while (n < (size_t)e->path.len && e->path.s[n] != '/')
		n++;
	name = TEXT(l, "%.*s", (int)n - 1, e->path.s + 1);
	rest = TEXT(l, "%.*s", e->path.len - (int)n, e->path.s + n);
	rule = TEXT(l, "builtin:credentials/%.*s", e->path.len, e->path.s);
	value = context_env(l->c, name);
	if (!value)
		return;
	list = (char *)TEXT(l, "%s", value);
	if (!data_has(e, "list")) {
		lower_moved(l, name, list, rest, rule);
		return;
	}
	while ((next = strsep(&list, ":")))
		lower_moved(l, name, next, rest, rule);
}

static void lower_credentials(struct lower *l)
{
	const char *at = NULL, *rule;
	struct data_entry e;
	char *path;
	size_t i;

	while (data_next(DATA_CREDENTIALS, &at, &e)) {
		if (*e.path.s == '$') {
			lower_variable(l, &e);
			continue;
		}
		if (*e.path.s == '/') {
			path = (char *)TEXT(l, "%.*s", e.path.len, e.path.s);
			rule = TEXT(l, "builtin:credentials/%s", path);
			lower_credential(l, path, rule);
			continue;
		}
		rule = TEXT(l, "builtin:credentials%.*s", e.path.len - 1,
			    e.path.s + 1);
		for (i = 0; i < l->c->home_count; i++) {
			path = (char *)TEXT(l, "%s%.*s", l->c->homes[i],
					    e.path.len - 1, e.path.s + 1);
			root_normalise(path);
			lower_credential(l, path, rule);
		}
	}
}

/* Where a directory of the PATH stands against the writable roots. */
enum path_place { PATH_OUTSIDE, PATH_INSIDE, PATH_IS_ROOT };

static enum path_place path_place(const struct policy *p, const char *dir)
{
	enum path_place place = PATH_OUTSIDE;
	const struct policy_root *r;
	size_t i;

	for (i = 0; i < p->root_count; i++) {
		r = &p->roots[i];
		if (r->list != LIST_WORKSPACE && r->list != LIST_WRITE)
			continue;
		if (root_covers(dir, r->path))
			return PATH_IS_ROOT;
		if (root_covers(r->path, dir))
			place = PATH_INSIDE;
	}
	return place;
}

/*
 * A writable root that is itself on the PATH, or has it above, cannot be
 * protected as a whole and still be writable: that is said, not done.
 */
static void lower_path(struct lower *l)
{
	const char *path = context_env(l->c, "PATH");
	struct place at = { .file = "PATH" };
	char *list, *dir, *copy;

	if (!path)
		return;
	list = (char *)TEXT(l, "%s", path);
	while ((dir = strsep(&list, ":"))) {
		copy = (char *)TEXT(l, "%s%s/%s",
				    *dir == '/' ? "" : l->c->workspace,
				    *dir == '/' ? "" : "/", dir);
		if (!*copy)
			return;
		root_normalise(copy);
		if (root_wrong(copy))
			continue;
		switch (path_place(l->p, copy)) {
		case PATH_INSIDE:
			build_root(&l->b, copy, LH_ROOT_PROTECT, ROOT_PLAIN,
				   "builtin:protect/$PATH");
			break;
		case PATH_IS_ROOT:
			diag_warn(l->d, &at, "has %s, where the session may "
				  "write programs that you later run", copy);
			break;
		default:
			break;
		}
	}
}

static enum image_protect_kind protect_kind(const struct data_entry *e)
{
	return data_has(e, "repository") ? PROTECT_REPOSITORY :
		data_has(e, "gitlink") ? PROTECT_GITLINK :
		data_has(e, "wild") ? PROTECT_WILD : PROTECT_HOME;
}

/* A root at or below a name of the home: the session writes what you run. */
static void warn_home(struct lower *l, const struct data_entry *e)
{
	struct place at = { .file = l->p->source };
	const char *path = TEXT(l, "%s/%.*s", l->c->home, e->path.len,
				e->path.s);

	if (data_has(e, "home") && path_place(l->p, path) == PATH_IS_ROOT)
		diag_warn(l->d, &at, "a writable root is %s, or lies in it: the "
			  "host runs what it says", path);
}

static void lower_protected(struct lower *l)
{
	const struct policy_protect *own;
	const char *at = NULL, *text;
	struct data_entry e;
	bool wild;
	size_t i;

	while (data_next(DATA_PROTECTED, &at, &e)) {
		text = kept(l, protect_text(&l->mem, &e));
		if (policy_excludes(l->p, text))
			continue;
		warn_home(l, &e);
		if (data_has(&e, "path"))
			lower_path(l);
		else
			build_protect(&l->b, TEXT(l, "%.*s", e.path.len,
						  e.path.s), protect_kind(&e),
				      TEXT(l, "builtin:protect/%s", text));
	}
	for (i = 0; i < l->p->protect_count; i++) {
		own = &l->p->protects[i];
		wild = !strncmp(own->name, "**/", 3);
		if (!own->exclude)
			build_protect(&l->b, own->name + (wild ? 3 : 0),
				      wild ? PROTECT_WILD : PROTECT_ROOT,
				      own->rule);
	}
}

/*
 * List by list, as policy_print() writes them: rules are numbered as they come,
 * and the order of a file's fields shall make no other image.
 */
static void lower_roots(struct lower *l)
{
	enum policy_list list;
	size_t i;

	for (list = 0; list < LIST_COUNT; list++)
		for (i = 0; i < l->p->root_count; i++)
			if (l->p->roots[i].list == list)
				lower_root(l, &l->p->roots[i]);
}

/* Likewise: first what passes, then what is set. */
static void lower_env(struct lower *l)
{
	const struct policy_env *v;
	size_t i;
	int set;

	for (set = 0; set < 2; set++)
		for (i = 0; i < l->p->env_count; i++) {
			v = &l->p->env[i];
			if (set == (v->value != NULL))
				build_env(&l->b, v->name, v->value);
		}
}

static void lower_all(struct lower *l)
{
	lower_roots(l);
	lower_presets(l);
	lower_credentials(l);
	check_lifts(l);
	if (l->caps & CAP_WRITES)
		lower_protected(l);
	lower_env(l);
	l->net_flags = network_lower(l->p, &l->b);
}

/* A file may have any name; the image only wants to tell it. */
static image_str lower_source(struct lower *l)
{
	size_t len = strlen(l->p->source);
	char *text = arena_alloc(&l->mem, 4 * len + 1);

	if (text)
		err_escape(text, 4 * len + 1, l->p->source, len);
	return build_string(&l->b, kept(l, text));
}

static struct image lower_head(struct lower *l)
{
	const struct policy *p = l->p;
	struct image h = {
		.name = build_string(&l->b, p->name),
		.source = lower_source(l),
		.workspace = build_string(&l->b, l->c->workspace),
		.home = build_string(&l->b, l->c->home),
		.profile = p->profile,
		.level = p->level,
		.env_mode = p->env_mode,
		.net_flags = l->net_flags,
		.limits = {
			.wall_time = p->limits.wall_time,
			.grace = p->limits.grace,
			.memory = p->limits.memory,
			.pids = p->limits.pids,
			.swap = p->limits.swap,
			.cpu = p->limits.cpu,
			.io = p->limits.io,
			.open_files = p->limits.open_files,
			.file_size = p->limits.file_size,
			.idle_time = p->limits.idle_time,
			.capture_bytes = p->limits.capture_bytes,
		},
	};

	if (!(l->caps & CAP_EXEC))
		h.flags |= IMAGE_NO_EXEC;
	if ((p->presets & PRESET_USER_TEMP) && (l->caps & CAP_WRITES))
		h.flags |= IMAGE_USER_TEMP;
	if (p->grants & GRANT_USER_NAMESPACES)
		h.flags |= IMAGE_USER_NAMESPACES;
	if (p->on_loss == LOSS_KILL)
		h.flags |= IMAGE_KILL_ON_LOSS;
	if (p->grants & GRANT_PTRACE)
		h.flags |= IMAGE_PTRACE;
	return h;
}

static int lower_finish(struct lower *l, struct image **out)
{
	struct image head = lower_head(l);
	const struct sock_filter *filter;
	size_t insns, len;
	char *text = NULL;
	int r;

	filter = filter_ready(filter_flags(head.flags, head.net_flags), &insns);
	r = policy_print(l->p, &text, &len);
	if (!r)
		r = build_finish(&l->b, &head, filter, insns, text, len, out);
	free(text);
	return r;
}

int policy_lower(const struct policy *p, const struct context *c,
		 struct image **out, struct diags *d)
{
	struct lower l = { .p = p, .c = c, .d = d, .caps = policy_caps(p) };
	struct place at = { .file = p->source };
	struct image *im = NULL;
	struct err e = { 0 };
	int r;

	build_begin(&l.b);
	lower_all(&l);
	r = lower_finish(&l, &im);
	if (!r)
		r = image_check(im, im->size, &e);
	if (r)
		diag_error(d, &at, "%s", e.num ? e.msg : r == -E2BIG ?
			   TOO_LARGE : strerror(-r));
	build_free(&l.b);
	arena_free(&l.mem);
	if (d->errors) {
		free(im);
		return r ? r : -EINVAL;
	}
	*out = im;
	return 0;
}
