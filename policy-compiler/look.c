// SPDX-License-Identifier: GPL-2.0-only
/*
 * From a path to the steps that the kernel's walk would take, and what it says
 * where it does not ask the table.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <limits.h>
#include <linux/magic.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>

#include "look.h"

#define MQUEUE_MAGIC 0x19800202
#define CONFIGFS_MAGIC 0x62656570
#define FUSECTL_MAGIC 0x65735543

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

/*
 * Split @rest in place; its last component is the object. A directory that is
 * made is, as to its names, like the one that it is made in.
 */
static size_t missing_steps(char *rest, enum entry_folds folds,
			    struct trail_step *steps)
{
	size_t n = 0, i;
	char *s, *save = NULL;

	for (s = strtok_r(rest, "/", &save); s; s = strtok_r(NULL, "/", &save))
		steps[n++] = (struct trail_step){
			.name = s, .object = TRAIL_NO_OBJECT, .folds = folds,
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
			.folds = entry_folds(&es->entry[p->parent]),
		};
		if (entry == ENTRY_TOP)
			return n;
	}
}

const char *look_path(const struct look *l, size_t from, struct arena *mem)
{
	size_t len = 2, i;
	char *path, *end;

	for (i = from; i < l->count; i++)
		len += strlen(l->steps[i].name) + 1;
	path = end = arena_alloc(mem, len);
	if (!path)
		return NULL;
	for (i = l->count - 1; i-- > from;) {
		*end++ = '/';
		end = stpcpy(end, l->steps[i].name);
	}
	if (end == path)
		*end = '/';
	return path;
}

/*
 * Links of procfs lead to whoever follows them: below self some are text, and
 * end in the process itself. The others, and what stands in for such
 * (/proc/mounts), only that process can follow.
 */
static bool leads_on(const char *rest)
{
	static const char *const links[] = {
		"cwd", "root", "exe", "fd/", "ns/", "map_files/",
	};
	size_t i;

	if (strncmp(rest, "self", 4) && strncmp(rest, "thread-self", 11))
		return true;
	while ((rest = strchr(rest, '/'))) {
		rest++;
		for (i = 0; i < sizeof(links) / sizeof(*links); i++) {
			size_t n = strlen(links[i]);
			bool whole = links[i][n - 1] != '/';

			if (!strncmp(rest, links[i], n) &&
			    (!whole || !rest[n] || rest[n] == '/'))
				return true;
		}
	}
	return false;
}

int look_at(struct entries *es, const struct table *t, const char *path,
	    unsigned int flags, struct arena *mem, struct look *l)
{
	struct statfs fs;
	char *rest;
	int r;

	*l = (struct look){ 0 };
	r = entries_route(es, ENTRY_TOP, path, flags, &l->way);
	if (r)
		return r;
	rest = arena_copy(mem, l->way.rest, strlen(l->way.rest));
	l->steps = arena_alloc(mem, (es->count + PATH_MAX) *
			       sizeof(*l->steps));
	if (!rest || !l->steps)
		return -ENOMEM;
	l->missing = missing_steps(rest, entry_folds(&es->entry[l->way.entry]),
				   l->steps);
	l->count = l->missing + steps_up(t, es, l->way.entry,
					 l->steps + l->missing);
	l->foreign = l->way.error == -EXDEV && leads_on(l->way.rest);
	if (!l->missing)
		l->mode = es->entry[l->way.entry].mode;
	if (!fstatfs(es->entry[l->way.entry].fd, &fs))
		l->magic = (unsigned int)fs.f_type;
	return 0;
}

/* The step that the object's file system is mounted at. */
static size_t mount_step(const struct entries *es, const struct look *l)
{
	uint32_t entry = l->way.entry;
	size_t at = l->missing;

	while (entry != ENTRY_TOP &&
	       es->entry[es->entry[entry].parent].dev == es->entry[entry].dev) {
		entry = es->entry[entry].parent;
		at++;
	}
	return at;
}

const char *look_below_mount(const struct entries *es, const struct look *l)
{
	size_t at = mount_step(es, l);

	return at ? l->steps[at - 1].name : NULL;
}

/*
 * Where the kernel does not ask the table: a process by its session, cgroups
 * and pinned objects never. false: it does.
 */
static bool is_special(const struct entries *es, const struct look *l,
		       uint32_t access, __u16 *why)
{
	const char *name;

	if (access == LH_STAT && l->magic != PROC_SUPER_MAGIC)
		return false;
	switch (l->magic) {
	case PROC_SUPER_MAGIC:
		name = look_below_mount(es, l);
		if (!name)
			return false;
		*why = *name >= '0' && *name <= '9' ? LH_WHY_PROCESS :
			LH_WHY_ALLOW;
		return *why == LH_WHY_PROCESS || !strcmp(name, "self") ||
		       !strcmp(name, "thread-self");
	case CGROUP_SUPER_MAGIC:
	case CGROUP2_SUPER_MAGIC:
		*why = LH_WHY_GUARD;
		return access & LH_CHANGES;
	case BPF_FS_MAGIC:
		*why = LH_WHY_GUARD;
		return true;
	case BINFMTFS_MAGIC:
	case CONFIGFS_MAGIC:
	case DEBUGFS_MAGIC:
	case EFIVARFS_MAGIC:
	case FUSECTL_MAGIC:
	case PSTOREFS_MAGIC:
	case SECURITYFS_MAGIC:
	case TRACEFS_MAGIC:
		*why = LH_WHY_NEVER;
		return true;
	}
	return false;
}

/*
 * What is not there yet would be the session's own: it would make it. Not in a
 * directory that somebody else made.
 */
static bool would_be_own(const struct table *t, const struct look *l)
{
	return l->missing && (l->magic == TMPFS_MAGIC ||
			      l->magic == DEVPTS_SUPER_MAGIC ||
			      l->magic == MQUEUE_MAGIC) &&
	       (trail_flags(t, l->steps[l->missing].object) & LH_ROOT_OWN);
}

/* null, zero, full, random, urandom, tty, ptmx */
static bool is_harmless(dev_t dev)
{
	unsigned int nr = minor(dev);

	return (major(dev) == 1 && (nr == 3 || nr == 5 ||
				    (nr >= 7 && nr <= 9))) ||
	       (major(dev) == 5 && (nr == 0 || nr == 2));
}

/*
 * How many steps can grant. A device only by its own rule, or by a directory
 * below /dev; the knobs of the kernel, groups, terminals and queues by none
 * that stands at the top of their file system or above.
 */
static size_t granting(const struct entries *es, const struct look *l,
		       uint32_t access)
{
	size_t top = mount_step(es, l);
	struct stat st;

	switch (l->magic) {
	case PROC_SUPER_MAGIC:
	case SYSFS_MAGIC:
		return access & LH_CHANGES ? top : l->count;
	case CGROUP_SUPER_MAGIC:
	case CGROUP2_SUPER_MAGIC:
		return top;
	case DEVPTS_SUPER_MAGIC:
	case MQUEUE_MAGIC:
		return l->missing ? l->count : top;
	}
	if (l->missing || (!S_ISBLK(l->mode) && !S_ISCHR(l->mode)) ||
	    fstat(es->entry[l->way.entry].fd, &st) ||
	    (S_ISCHR(l->mode) && is_harmless(st.st_rdev)) ||
	    access == LH_STAT || !(access & (LH_READ | LH_WRITE | LH_EXEC)))
		return l->count;
	return top + 2 == l->count && !strcmp(l->steps[top].name, "dev") ?
		top : 1;
}

bool look_is_shared(const struct table *t, const struct look *l)
{
	size_t i;

	if (l->magic != TMPFS_MAGIC && l->magic != DEVPTS_SUPER_MAGIC &&
	    l->magic != MQUEUE_MAGIC)
		return false;
	for (i = 1; i < l->count; i++)
		if (trail_flags(t, l->steps[i].object) & LH_ROOT_OWN)
			return true;
	return false;
}

struct look_verdict look_judge(const struct image *im, const struct table *t,
			       const struct entries *es, const struct look *l,
			       uint32_t access)
{
	struct look_verdict v = { 0 };
	struct trail_result r;

	v.special = is_special(es, l, access, &v.verdict.why);
	if (v.special && v.verdict.why != LH_WHY_ALLOW)
		return v;
	r = trail_walk_part(t, l->steps, l->count, granting(es, l, access),
			    access, would_be_own(t, l));
	/* Its own, unless denied: that beats every grant. */
	if (v.special && r.verdict.why != LH_WHY_DENIED)
		return v;
	v.special = false;
	v.verdict = r.verdict;
	v.met = r.met;
	v.step = r.step;
	/* The command itself was let through by its path, and once. */
	if (r.verdict.why == LH_WHY_ALLOW && access == LH_EXEC &&
	    (im->flags & IMAGE_NO_EXEC)) {
		v.verdict = (struct lh_verdict){ .why = LH_WHY_NO_EXEC };
		v.met = false;
	}
	return v;
}
