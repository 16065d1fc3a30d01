// SPDX-License-Identifier: GPL-2.0-only
/*
 * An image's roots and what a session needs besides, followed one by one into
 * a table. Grants come first, opened as the user: what a user may not reach no
 * policy grants. Whatever forbids holds for a path's links, its target and its
 * name, there or not.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../bpf/decide.h"
#include "table.h"

#define FORBIDS (LH_ROOT_DENY | LH_ROOT_PROTECT)
#define HOLDS_BY_NAME (FORBIDS | LH_ROOT_RDONLY)
#define WRITES (LH_ROOT_WRITE | LH_ROOT_DELETE)

static int no_root(struct builder *b, const struct wish *w, int error)
{
	const char *rule = table_rule_text(b, w->rule);

	if (error == -ENOENT || error == -ENOTDIR)
		return err_set(b->e, error,
			       "%s: no such file or directory (%s): make it, or write \"?%s\" if it may be missing",
			       w->path, rule, w->path);
	if (error == -EXDEV)
		return err_set(b->e, error,
			       "%s: a link of /proc leads to whoever follows it (%s): a session has its own processes' without a root",
			       w->path, rule);
	if (error == -EACCES)
		return err_set(b->e, error,
			       "%s: the user who runs may not reach it (%s)",
			       w->path, rule);
	if (error == -EMFILE)
		return err_set(b->e, error,
			       "%s: too many open files (%s): raise the limit (ulimit -Hn), or name fewer roots",
			       w->path, rule);
	return err_sys(b->e, error, "%s (%s)", w->path, rule);
}

int table_too_deep(struct builder *b, const struct wish *w)
{
	return err_set(b->e, -ENAMETOOLONG,
		       "%s: more than %d of its last components do not exist (%s): name a directory nearer to one that does",
		       w->path, LH_NAME_DEPTH, table_rule_text(b, w->rule));
}

static int add_name(struct builder *b, const struct wish *w, uint32_t dir,
		    const char *rest)
{
	int r = names_hold(b, dir, rest, w->flags & HOLDS_BY_NAME, w->rule);

	return r == -ENAMETOOLONG ? table_too_deep(b, w) : r;
}

/*
 * The links on the way: whatever comes in the place of one is held by the
 * names below it. In a writable area the link also stays, so where the names
 * are too many or lead upwards that is enough.
 */
static int hold_links(struct builder *b, const struct wish *w,
		      const struct route *way)
{
	size_t i;
	int r = 0;

	for (i = 0; i < way->links && !r; i++) {
		const struct route_link *l = &way->link[i];
		const struct entry *p = &b->es.entry[l->entry];
		const char *path;

		r = table_hold(b, l->entry, w->rule);
		if (r || !l->rest)
			continue;
		path = *l->rest ? arena_print(&b->es.arena, "%s/%s", p->name,
					      l->rest) : p->name;
		if (!path)
			return err_set(b->e, -ENOMEM, "no memory for names");
		r = names_hold(b, p->parent, path, w->flags & HOLDS_BY_NAME,
			       w->rule);
		if (r == -ENAMETOOLONG)
			r = 0;
	}
	return r;
}

/* Something is there: its inode, and its name for when it is replaced. */
static int add_there(struct builder *b, const struct wish *w, uint32_t entry)
{
	uint32_t object;
	int r;

	if (w->flags & IMAGE_ROOT_SELF) {
		r = table_object(b, entry, &object);
		return r ? r : table_self(b, object,
				w->flags & (LH_ROOT_READ | LH_ROOT_WRITE |
					    LH_ROOT_EXEC), w->rule);
	}
	if (w->flags & LH_ROOT_SOCKET)
		return socket_there(b, w, entry);
	r = table_root(b, entry, w->flags, w->rule);
	if (!r)
		r = table_hold(b, entry, w->rule);
	if (!r && (w->flags & HOLDS_BY_NAME) && entry != ENTRY_TOP)
		r = add_name(b, w, b->es.entry[entry].parent,
			     b->es.entry[entry].name);
	return r;
}

static unsigned int route_flags(const struct wish *w)
{
	return (w->self ? ROUTE_SELF : 0) |
		(w->flags & IMAGE_ROOT_EXACT ? ROUTE_NO_LINKS : 0);
}

int table_add(struct builder *b, const struct wish *w)
{
	struct route way;
	int r;

	r = entries_route(&b->es, w->base, w->path, route_flags(w), &way);
	if (r)
		return no_root(b, w, r);
	if (way.error == -ELOOP && (w->flags & IMAGE_ROOT_EXACT))
		return err_set(b->e, -ELOOP,
			       "%s: a link is in its way now (%s), and the ceiling was asked about the path without",
			       w->path, table_rule_text(b, w->rule));
	if (w->flags & HOLDS_BY_NAME) {
		/* Nothing can be held there; a variable may well lead there. */
		if (way.error == -EXDEV)
			return w->flags & IMAGE_ROOT_OPTIONAL ? 0 :
				no_root(b, w, way.error);
		r = hold_links(b, w, &way);
		if (r)
			return r;
	}
	/* "missing/.." leads to what is there as soon as the first is. */
	if (!way.error || ((w->flags & HOLDS_BY_NAME) && !*way.rest)) {
		if (way.entry == ENTRY_TOP && w->path[1] &&
		    (w->flags & LH_ROOT_DENY) &&
		    !(w->flags & IMAGE_ROOT_OPTIONAL))
			return err_set(b->e, -EINVAL,
				       "%s leads to /, and nothing could run (%s)",
				       w->path, table_rule_text(b, w->rule));
		return add_there(b, w, way.entry);
	}
	if (w->flags & HOLDS_BY_NAME)
		return add_name(b, w, way.entry, way.rest);
	if (!(w->flags & IMAGE_ROOT_OPTIONAL))
		return no_root(b, w, way.error);
	if ((w->flags & LH_ROOT_SOCKET) && way.error == -ENOENT && *way.rest)
		return socket_name(b, w, way.entry, way.rest);
	return 0;
}

/* Remember where the policy lets write: repositories are sought from there. */
static int note_writable(struct builder *b, const struct image_root *root)
{
	const char *path = image_string(b->im, root->path);
	struct writable *w;
	struct route way;
	uint32_t up;

	if (!(root->flags & WRITES) || (root->flags & IMAGE_ROOT_SELF))
		return 0;
	if (entries_route(&b->es, ENTRY_TOP, path, 0, &way) || way.error)
		return 0;
	if (way.entry == ENTRY_TOP && path[1])
		return err_set(b->e, -EINVAL,
			       "%s leads to /, which cannot be writable (%s)",
			       path, table_rule_text(b, root->rule));
	w = table_room(b->writables, b->writable_count, &b->writable_room,
		       sizeof(*w));
	if (!w)
		return err_set(b->e, -ENOMEM, "no memory for roots");
	b->writables = w;
	w[b->writable_count++] = (struct writable){ .entry = way.entry,
						    .flags = root->flags };
	for (up = way.entry; up != ENTRY_TOP && !b->es.entry[up].leads;) {
		up = b->es.entry[up].parent;
		b->es.entry[up].leads = true;
	}
	return 0;
}

/* Plain grants first, so that it is known what links may add nothing to. */
enum phase { PLAIN, LINKED, PLANTED, FORBIDDEN };

/* 0: add it now; 1: not in this phase, or not at all. */
static int in_phase(struct builder *b, const struct wish *w,
		    enum phase phase)
{
	bool forbids = w->flags & FORBIDS;
	struct route way;
	int r;

	if (forbids || phase == FORBIDDEN)
		return forbids != (phase == FORBIDDEN);
	r = entries_route(&b->es, ENTRY_TOP, w->path, route_flags(w), &way);
	if (r)
		return phase != PLAIN;	/* table_add() says why */
	if (!way.links)
		return phase != PLAIN;
	if (!planted_is(b, &way))
		return phase != LINKED;
	return phase == PLANTED ? planted_check(b, w, &way) : 1;
}

static int add_image_roots(struct builder *b, enum phase phase)
{
	const struct image_root *root = image_roots(b->im);
	uint32_t i;
	int r = 0;

	for (i = 0; i < b->im->roots.count && r >= 0; i++) {
		struct wish w = {
			.path = image_string(b->im, root[i].path),
			.flags = root[i].flags, .rule = root[i].rule,
			.self = (root[i].flags & FORBIDS) ||
				root[i].kind == ROOT_CREDENTIAL,
		};

		if (root[i].kind == ROOT_CREDENTIAL)
			w.flags |= IMAGE_ROOT_OPTIONAL;
		r = in_phase(b, &w, phase);
		if (r)
			continue;
		r = table_add(b, &w);
		if (!r && phase != FORBIDDEN)
			r = note_writable(b, &root[i]);
	}
	return r < 0 ? r : 0;
}

/*
 * A read-only root that is missing holds by name where the session could make
 * it; where it could not, it is a grant that grants nothing.
 */
static int check_read_only(struct builder *b)
{
	const struct image_root *root = image_roots(b->im);
	struct route way;
	uint32_t i;
	int r;

	for (i = 0; i < b->im->roots.count; i++) {
		struct wish w = {
			.path = image_string(b->im, root[i].path),
			.rule = root[i].rule,
		};

		if (!(root[i].flags & LH_ROOT_RDONLY) ||
		    (root[i].flags & IMAGE_ROOT_OPTIONAL))
			continue;
		r = entries_route(&b->es, ENTRY_TOP, w.path, 0, &way);
		if (r)
			return no_root(b, &w, r);
		if (way.error && !table_is_writable(b, way.entry))
			return no_root(b, &w, way.error);
	}
	return 0;
}

static int add_own(struct builder *b, const char *path, uint32_t flags,
		   const char *rule)
{
	struct wish w = { .path = path, .flags = flags, .self = true };
	int r;

	if (!path)
		return 0;
	r = table_new_rule(b, rule, &w.rule);
	return r ? r : table_add(b, &w);
}

/*
 * tmpfile(3) makes its unnamed files in /tmp and looks at no variable. They
 * take space where the session's own directory takes it.
 */
static int add_temp(struct builder *b)
{
	const uint32_t all = LH_ROOT_READ | LH_ROOT_WRITE | LH_ROOT_EXEC;
	int r;

	if (!b->o->temp_dir)
		return 0;
	r = add_own(b, b->o->temp_dir, all, "preset:user_temp");
	return r ? r : add_own(b, "/tmp", LH_ROOT_UNNAMED, "preset:user_temp");
}

/*
 * What other sessions of the user have there is none of this one's, whatever
 * grants /tmp or all of the file system. Its own directory keeps the base in
 * place; without one a name has to do.
 */
static int add_temp_base(struct builder *b)
{
	return add_own(b, b->o->temp_base, b->o->temp_dir ? LH_ROOT_APART :
		       LH_ROOT_DENY, "builtin:temp");
}

/* A policy that its own session could change, or a link to it on the way. */
static int add_policy_file(struct builder *b)
{
	const char *path = b->o->policy_file;
	bool exposed;
	struct route way;
	size_t i;

	if (!path || entries_route(&b->es, ENTRY_TOP, path, ROUTE_SELF, &way) ||
	    way.error)
		return 0;
	exposed = table_is_writable(b, way.entry);
	for (i = 0; i < way.links; i++)
		exposed |= table_is_writable(b, way.link[i].entry);
	return exposed ? add_own(b, path, LH_ROOT_PROTECT, "builtin:policy") :
		0;
}

/*
 * Does a writable root reach the name @w of the home? A directory that is
 * itself a root was asked for, and warned of.
 */
static bool home_name_is_writable(struct builder *b, const struct wish *w)
{
	const struct entry *p;
	struct route way;
	uint32_t i;

	if (entries_route(&b->es, w->base, w->path, ROUTE_SELF, &way) ||
	    !table_is_writable(b, way.entry))
		return false;
	p = &b->es.entry[way.entry];
	for (i = 0; !way.error && S_ISDIR(p->mode) && i < b->writable_count;
	     i++)
		if (b->writables[i].entry == way.entry &&
		    !table_is_writable(b, p->parent))
			return false;
	return true;
}

/* Protected names below homes and roots. */
static int add_protects(struct builder *b)
{
	const struct image_protect *p = image_protects(b->im);
	const char *home = image_string(b->im, b->im->home);
	uint32_t i, k, n;
	struct route way;
	int r = 0;

	if (entries_route(&b->es, ENTRY_TOP, home, ROUTE_SELF, &way) || !*home)
		way.error = -ENOENT;
	for (i = 0; i < b->im->protects.count && !r; i++) {
		struct wish w = {
			.path = image_string(b->im, p[i].name),
			.rule = p[i].rule, .flags = LH_ROOT_PROTECT,
			.self = true, .base = way.entry,
		};

		n = p[i].kind == PROTECT_ROOT ? b->writable_count : 0;
		if (p[i].kind == PROTECT_HOME && !way.error &&
		    home_name_is_writable(b, &w))
			r = table_add(b, &w);
		for (k = 0; k < n && !r; k++) {
			w.base = b->writables[k].entry;
			if (S_ISDIR(b->es.entry[w.base].mode))
				r = table_add(b, &w);
		}
	}
	return r;
}

/* The session's cgroup, and the limits of the one above: runtimes read both. */
static int add_cgroup(struct builder *b)
{
	static const char *const limits[] = {
		"cpu.max", "memory.high", "memory.max",
	};
	struct wish w = {
		.path = b->o->cgroup_dir, .flags = LH_ROOT_READ, .self = true,
	};
	struct route way;
	size_t i;
	int r;

	if (!w.path)
		return 0;
	r = table_new_rule(b, "builtin:cgroup", &w.rule);
	if (!r)
		r = table_add(b, &w);
	if (r || entries_route(&b->es, ENTRY_TOP, w.path, ROUTE_SELF, &way) ||
	    way.error)
		return r;
	w.base = b->es.entry[way.entry].parent;
	w.flags |= IMAGE_ROOT_SELF | IMAGE_ROOT_OPTIONAL;
	for (i = 0; i < sizeof(limits) / sizeof(limits[0]) && !r; i++) {
		w.path = limits[i];
		r = table_add(b, &w);
	}
	return r;
}

static int build(struct builder *b, struct table *t)
{
	int r;

	r = entries_init(&b->es, b->o->as, b->o->arg);
	if (r)
		return err_sys(b->e, r, "opening /");
	r = add_image_roots(b, PLAIN);
	if (!r)
		r = add_image_roots(b, LINKED);
	if (!r)
		r = add_image_roots(b, PLANTED);
	if (!r)
		r = check_read_only(b);
	if (!r)
		r = add_temp(b);
	if (!r)
		r = add_cgroup(b);
	if (!r)
		r = command_itself(b);
	if (!r)
		r = repository_grants(b);
	if (!r)
		r = add_image_roots(b, FORBIDDEN);
	if (!r)
		r = repository_protects(b);
	if (!r)
		r = add_protects(b);
	if (!r)
		r = names_wild(b, t);
	if (!r)
		r = add_policy_file(b);
	if (!r)
		r = add_temp_base(b);
	if (!r)
		r = command_stdio(b);
	return r ? r : table_finish(b, t);
}

int table_resolve(const struct image *im, const struct resolve_options *o,
		  struct table *t, struct err *e)
{
	static const struct resolve_options none;
	struct err own = { 0 };
	struct builder b = {
		.im = im, .o = o ? o : &none, .e = e ? e : &own,
	};
	struct table made = { 0 };
	int r = build(&b, &made);

	/* Whatever happened, the caller goes on as itself. */
	if (b.es.who == RESOLVE_AS_USER || (b.es.as && b.es.who < 0)) {
		int back = entries_as(&b.es, RESOLVE_AS_SELF);

		if (back && !r)
			r = err_sys(b.e, back, "credentials");
	}
	table_discard(&b);
	if (r)
		table_free(&made);
	else
		*t = made;
	return r;
}
