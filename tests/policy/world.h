/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A scratch directory and a policy over it: what tests of the resolver share.
 * What is asked of a table is what the kernel would ask: table_explain().
 */
#ifndef LH_TEST_POLICY_WORLD_H
#define LH_TEST_POLICY_WORLD_H

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../policy-compiler/arena.h"
#include "../../policy-compiler/build.h"
#include "../../policy-compiler/resolve.h"
#include "form.h"
#include "kselftest_harness.h"

#define HELPER static __attribute__((unused))

#define R (LH_ROOT_READ | LH_ROOT_EXEC)
#define RW (R | LH_ROOT_WRITE)
#define DENY LH_ROOT_DENY
#define RDONLY (R | LH_ROOT_RDONLY)
#define PROTECT LH_ROOT_PROTECT
#define OPTIONAL IMAGE_ROOT_OPTIONAL

static const struct {
	const char *name;
	enum image_protect_kind kind;
} protects[] = {
	{ "hooks", PROTECT_REPOSITORY }, { "config", PROTECT_REPOSITORY },
	{ "config.worktree", PROTECT_REPOSITORY },
	{ "info/attributes", PROTECT_REPOSITORY },
	{ ".git", PROTECT_GITLINK }, { ".git/hooks", PROTECT_WILD },
	{ ".bashrc", PROTECT_HOME }, { ".config/fish", PROTECT_HOME },
	{ "deploy/keys", PROTECT_ROOT },
};

/* The ways to talk about paths below the scratch directory. */
struct world {
	char dir[64];
	struct build b;
	struct resolve_options o;
	struct image *im;
	struct table t;
	struct err e;
	struct arena mem;
	int fds;		/* open before */
};

HELPER int open_fds(void)
{
	DIR *d = opendir("/proc/self/fd");
	int n = 0;

	while (d && readdir(d))
		n++;
	if (d)
		closedir(d);
	return n;
}

/* "x/y" below the scratch directory; "/x" as it stands. */
HELPER const char *at(struct world *w, const char *path)
{
	return *path == '/' ? path :
		arena_print(&w->mem, "%s%s%s", w->dir, *path ? "/" : "", path);
}

HELPER void parents(const char *path)
{
	char copy[PATH_MAX], *s;

	snprintf(copy, sizeof(copy), "%s", path);
	for (s = copy + 1; (s = strchr(s, '/')); s++) {
		*s = 0;
		mkdir(copy, 0755);
		*s = '/';
	}
}

HELPER void dir(struct world *w, const char *path)
{
	const char *p = at(w, path);

	parents(p);
	mkdir(p, 0755);
}

__attribute__((format(printf, 3, 4)))
HELPER void file(struct world *w, const char *path, const char *fmt, ...)
{
	const char *p = at(w, path);
	va_list args;
	FILE *f;

	parents(p);
	f = fopen(p, "w");
	va_start(args, fmt);
	if (f) {
		vfprintf(f, fmt, args);
		fclose(f);
	}
	va_end(args);
}

HELPER void sym(struct world *w, const char *target, const char *path)
{
	const char *p = at(w, path);

	parents(p);
	if (symlink(target, p))
		abort();
}

HELPER void root(struct world *w, const char *path, uint32_t flags)
{
	char rule[PATH_MAX + 8];

	snprintf(rule, sizeof(rule), "rule:%s", path);
	build_root(&w->b, at(w, path), flags,
		   flags & LH_ROOT_WRITE ? ROOT_WORKSPACE : ROOT_PLAIN, rule);
}

HELPER void protect_all(struct world *w)
{
	char rule[64];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(protects); i++) {
		snprintf(rule, sizeof(rule), "protect:%s", protects[i].name);
		build_protect(&w->b, protects[i].name, protects[i].kind, rule);
	}
}

HELPER int resolve_flags(struct world *w, uint32_t flags)
{
	struct image head = {
		.home = build_string(&w->b, at(w, "home")),
		.workspace = build_string(&w->b, at(w, "ws")),
		.flags = flags,
	};
	static const uint64_t no_filter;

	free(w->im);
	w->im = NULL;
	table_free(&w->t);
	w->e = (struct err){ 0 };
	if (build_finish(&w->b, &head, &no_filter, 1, "{}", 2, &w->im))
		return -1;
	return table_resolve(w->im, &w->o, &w->t, &w->e);
}

HELPER int resolve(struct world *w)
{
	return resolve_flags(w, 0);
}

/* The verdict as an enum lh_why; -1 if there is none. */
HELPER int why(struct world *w, const char *path, uint32_t access)
{
	struct explain x;
	int r;

	if (table_explain(w->im, &w->t, at(w, path), access, &x, &w->e))
		return -1;
	r = x.verdict.why;
	free(x.object);
	free(x.root);
	return r;
}

HELPER const char *rule_of(struct world *w, const char *path, uint32_t access)
{
	struct explain x;

	if (table_explain(w->im, &w->t, at(w, path), access, &x, &w->e))
		return "?";
	free(x.object);
	free(x.root);
	return table_rule(w->im, &w->t, x.verdict.rule);
}

/* The root item of what @path names now, or NULL. */
HELPER const struct lh_root *item(struct world *w, const char *path)
{
	struct stat st;
	size_t i, k;

	if (lstat(at(w, path), &st))
		return NULL;
	for (i = 0; i < w->t.object_count; i++)
		if (w->t.objects[i].dev == st.st_dev &&
		    w->t.objects[i].ino == st.st_ino)
			for (k = 0; k < w->t.count; k++)
				if (w->t.items[k].kind == LH_ITEM_ROOT &&
				    w->t.items[k].fd == w->t.objects[i].fd)
					return &w->t.items[k].root;
	return NULL;
}

HELPER int pinned(struct world *w, const char *path)
{
	const struct lh_root *r = item(w, path);

	return r && (r->flags & LH_ROOT_PIN);
}

/* Those for a name as it is spelled; others are for names that are folded. */
HELPER size_t names(struct world *w)
{
	size_t i, n = 0;

	for (i = 0; i < w->t.count; i++)
		n += w->t.items[i].kind == LH_ITEM_NAME &&
			w->t.items[i].name.flags;
	return n;
}

HELPER int well_formed(struct world *w)
{
	return table_form(&w->t);
}

HELPER int world_begin(struct world *w)
{
	memset(w, 0, sizeof(*w));
	strcpy(w->dir, "/tmp/lh-policy.XXXXXX");
	/* Others may look in: one test is another user. */
	if (!mkdtemp(w->dir) || chmod(w->dir, 0755))
		return -1;
	build_begin(&w->b);
	dir(w, "ws");
	dir(w, "home");
	w->fds = open_fds();
	return 0;
}

/* 0 if nothing is left behind. */
HELPER int world_end(struct world *w)
{
	char command[256];
	int r;

	table_free(&w->t);
	r = open_fds() - w->fds;
	free(w->im);
	build_free(&w->b);
	snprintf(command, sizeof(command), "chmod -R u+rwx %s; rm -rf %s",
		 w->dir, w->dir);
	r |= system(command);
	arena_free(&w->mem);
	return r;
}

#endif
