// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the kernel would say, for people: the path is followed as open(2) would,
 * and the way up is judged over the same table by the same text.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "entry.h"
#include "trail.h"

static void es_free(struct entries *es)
{
	entries_free(es);
}

static void steps_free(struct trail_step **s)
{
	free(*s);
}

static void text_free(char **s)
{
	free(*s);
}

static size_t object_of(const struct table *t, const struct entry *p)
{
	size_t i;

	for (i = 0; i < t->object_count; i++)
		if (t->objects[i].dev == p->dev &&
		    t->objects[i].ino == p->ino &&
		    entry_same_inode(t->objects[i].fd, p->fd))
			return i;
	return TRAIL_NO_OBJECT;
}

/* Split @rest in place; its last component is the object. */
static size_t missing_steps(char *rest, struct trail_step *steps)
{
	size_t n = 0, i;
	char *s, *save = NULL;

	for (s = strtok_r(rest, "/", &save); s; s = strtok_r(NULL, "/", &save))
		steps[n++] = (struct trail_step){
			.name = s, .object = TRAIL_NO_OBJECT,
		};
	for (i = 0; i < n / 2; i++) {
		struct trail_step tmp = steps[i];

		steps[i] = steps[n - 1 - i];
		steps[n - 1 - i] = tmp;
	}
	return n;
}

static size_t steps_up(const struct table *t, const struct entries *es,
		       uint32_t entry, struct trail_step *steps)
{
	size_t n = 0;

	for (;; entry = es->entry[entry].parent) {
		const struct entry *p = &es->entry[entry];

		steps[n++] = (struct trail_step){
			.name = p->name, .object = object_of(t, p),
		};
		if (entry == ENTRY_TOP)
			return n;
	}
}

/* The steps from number @from on, as a path. */
static char *steps_path(const struct trail_step *steps, size_t count,
			size_t from)
{
	char *path = NULL;
	size_t len = 0, i;
	FILE *f;

	f = open_memstream(&path, &len);
	if (!f)
		return NULL;
	for (i = count - 1; i-- > from;)
		fprintf(f, "/%s", steps[i].name);
	if (from + 1 >= count)
		fputc('/', f);
	if (fclose(f)) {
		free(path);
		return NULL;
	}
	return path;
}

/* @path from the working directory, which is where the asker stands. */
static char *absolute(const char *path)
{
	char *dir, *out = NULL;

	if (*path == '/')
		return strdup(path);
	dir = getcwd(NULL, 0);
	if (dir && asprintf(&out, "%s/%s", dir, path) < 0)
		out = NULL;
	free(dir);
	return out;
}

/* Step below the top of the file system that @entry is in; NULL: it is that. */
static const char *below_mount(const struct entries *es, uint32_t entry,
			       const struct trail_step *steps, size_t missing)
{
	size_t at = missing;

	while (entry != ENTRY_TOP &&
	       es->entry[es->entry[entry].parent].dev == es->entry[entry].dev) {
		entry = es->entry[entry].parent;
		at++;
	}
	return at ? steps[at - 1].name : NULL;
}

/*
 * Where the kernel does not ask the table: a process by its session, cgroups
 * and pinned objects never. false: it does.
 */
static bool is_special(const struct entries *es, uint32_t entry,
		       const struct trail_step *steps, size_t missing,
		       uint32_t access, unsigned int *why)
{
	const uint32_t change = LH_WRITE | LH_REMOVE | LH_MOVE | LH_BECOME;
	const char *name;
	struct statfs fs;

	if (fstatfs(es->entry[entry].fd, &fs))
		return false;
	switch ((unsigned int)fs.f_type) {
	case PROC_SUPER_MAGIC:
		name = below_mount(es, entry, steps, missing);
		if (!name)
			return false;
		*why = *name >= '0' && *name <= '9' ? LH_WHY_PROCESS :
			LH_WHY_ALLOW;
		return *why == LH_WHY_PROCESS || !strcmp(name, "self") ||
		       !strcmp(name, "thread-self");
	case CGROUP_SUPER_MAGIC:
	case CGROUP2_SUPER_MAGIC:
		*why = LH_WHY_GUARD;
		return access & change;
	case BPF_FS_MAGIC:
		*why = access == LH_STAT ? LH_WHY_ALLOW : LH_WHY_GUARD;
		return true;
	}
	return false;
}

static int judge(const struct image *im, const struct table *t,
		 const struct trail_step *steps, size_t count, uint32_t access,
		 struct explain *x)
{
	struct trail_result r = trail_walk(t, steps, count, access);

	/* The command itself was let through by its path, and once. */
	if (r.verdict.why == LH_WHY_ALLOW && (access & LH_EXEC) &&
	    (im->flags & IMAGE_NO_EXEC)) {
		r.verdict = (struct lh_verdict){ .why = LH_WHY_NO_EXEC };
		r.met = false;
	}
	x->verdict.why = r.verdict.why;
	x->verdict.rule = r.verdict.rule;
	x->object = steps_path(steps, count, 0);
	x->root = r.met ? steps_path(steps, count, r.step) : NULL;
	return x->object && (x->root || !r.met) ? 0 : -ENOMEM;
}

int table_explain(const struct image *im, const struct table *t,
		  const char *path, uint32_t access, struct explain *x,
		  struct err *e)
{
	/* Such a request is about the name, be it a link's. */
	const uint32_t nofollow = LH_REMOVE | LH_MOVE | LH_BECOME;
	struct trail_step *steps __attribute__((cleanup(steps_free))) = NULL;
	struct entries es __attribute__((cleanup(es_free))) = { 0 };
	char *full __attribute__((cleanup(text_free))) = NULL;
	char *rest __attribute__((cleanup(text_free))) = NULL;
	struct explain out = { 0 };
	struct route way;
	size_t missing, n;
	int r;

	if (!*path)
		return err_set(e, -ENOENT, "an empty path names nothing");
	full = absolute(path);
	r = entries_init(&es, NULL, NULL);
	if (r || !full)
		return err_sys(e, r ? r : -ENOMEM, "%s", path);
	r = entries_route(&es, ENTRY_TOP, full,
			  access & nofollow ? ROUTE_NOFOLLOW : 0, &way);
	if (r)
		return err_sys(e, r, "%s", path);
	rest = strdup(way.rest);
	steps = calloc(es.count + PATH_MAX, sizeof(*steps));
	if (!rest || !steps)
		return err_sys(e, -ENOMEM, "%s", path);
	missing = missing_steps(rest, steps);
	n = missing + steps_up(t, &es, way.entry, steps + missing);
	if (is_special(&es, way.entry, steps, missing, access,
		       &out.verdict.why)) {
		out.object = steps_path(steps, n, 0);
		r = out.object ? 0 : -ENOMEM;
	} else {
		out.absent = missing > 0;
		r = judge(im, t, steps, n, access, &out);
	}
	if (r) {
		free(out.object);
		free(out.root);
		return err_sys(e, r, "%s", path);
	}
	*x = out;
	return 0;
}
