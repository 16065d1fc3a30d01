// SPDX-License-Identifier: GPL-2.0-only
/*
 * Following paths by hand. The kernel checks search permission when a child is
 * opened, so an entry that only root could open stays marked, and so does all
 * below it: a grant never profits from what a deny has opened.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "../bpf/decide.h"
#include "entry.h"

#define TODO_MAX (2 * PATH_MAX)

uint64_t entry_name_hash(const char *name, size_t len)
{
	__u64 words[32] = { 0 };

	memcpy(words, name, len < LH_NAME_MAX ? len : LH_NAME_MAX);
	return lh_name_hash(words, len);
}

/*
 * A shared file system (virtiofs, some FUSE) may show one number for two
 * files. The handle tells them apart; one that gives none has no such trouble.
 */
bool entry_same_inode(int a, int b)
{
	union {
		struct file_handle h;
		char room[sizeof(struct file_handle) + MAX_HANDLE_SZ];
	} x, y;
	int mount;

	memset(&x, 0, sizeof(x));
	memset(&y, 0, sizeof(y));
	x.h.handle_bytes = MAX_HANDLE_SZ;
	y.h.handle_bytes = MAX_HANDLE_SZ;
	if (name_to_handle_at(a, "", &x.h, &mount, AT_EMPTY_PATH) ||
	    name_to_handle_at(b, "", &y.h, &mount, AT_EMPTY_PATH))
		return true;
	return memcmp(&x, &y, sizeof(x)) == 0;
}

int entries_as(struct entries *es, enum resolve_as who)
{
	int r;

	if (!es->as || es->who == (int)who)
		return 0;
	r = es->as(who, es->arg);
	es->who = r ? -1 : (int)who;
	if (r)
		es->failed = r;
	return r;
}

/* More descriptors: once, and as many as may be had. */
static int raise_limit(struct entries *es)
{
	struct rlimit l, most;

	if (es->open_files || getrlimit(RLIMIT_NOFILE, &l))
		return -EMFILE;
	es->open_files = l.rlim_cur;
	most.rlim_cur = most.rlim_max =
		l.rlim_max > 4 * LH_ITEMS_MAX ? l.rlim_max : 4 * LH_ITEMS_MAX;
	if (!setrlimit(RLIMIT_NOFILE, &most))
		return 0;
	l.rlim_cur = l.rlim_max;
	return l.rlim_cur > es->open_files && !setrlimit(RLIMIT_NOFILE, &l) ?
		0 : -EMFILE;
}

static int open_at(struct entries *es, int dir, const char *name, int flags)
{
	int fd;

	flags |= O_PATH | O_NOFOLLOW | O_CLOEXEC;
	fd = openat(dir, name, flags);
	if (fd < 0 && errno == EMFILE && !raise_limit(es))
		fd = openat(dir, name, flags);
	return fd < 0 ? -errno : fd;
}

static int look(int fd, struct statx *x)
{
	return statx(fd, "", AT_EMPTY_PATH | AT_NO_AUTOMOUNT,
		     STATX_TYPE | STATX_INO, x) ? -errno : 0;
}

/* Add the entry behind @fd, which it owns from now on. */
static int add(struct entries *es, int fd, const struct statx *x,
	       uint32_t parent, const char *name, size_t len, bool self,
	       uint32_t *out)
{
	struct entry *p;

	if (es->count == es->room) {
		uint32_t room = es->room ? es->room * 2 : 256;

		p = realloc(es->entry, room * sizeof(*p));
		if (!p)
			goto no_memory;
		es->entry = p;
		es->room = room;
	}
	p = &es->entry[es->count];
	*p = (struct entry){
		.fd = fd, .parent = parent, .self = self,
		.object = ENTRY_NONE, .ino = x->stx_ino, .mode = x->stx_mode,
		.dev = makedev(x->stx_dev_major, x->stx_dev_minor),
		.name = arena_copy(&es->arena, name, len),
	};
	if (!p->name || slots_add(&es->slots, lh_hash_word(parent,
					entry_name_hash(name, len)),
				  es->count))
		goto no_memory;
	*out = es->count++;
	return 0;
no_memory:
	close(fd);
	return -ENOMEM;
}

/* Open @name in @dir, first as the user, then, if @flags say so, as root. */
static int open_child(struct entries *es, uint32_t dir, const char *name,
		      unsigned int flags, bool *self)
{
	int fd = es->entry[dir].fd, r;

	*self = es->entry[dir].self;
	if (*self && !(flags & ROUTE_SELF))
		return -EACCES;
	r = entries_as(es, *self ? RESOLVE_AS_SELF : RESOLVE_AS_USER);
	if (r)
		return r;
	r = open_at(es, fd, name, 0);
	if (r != -EACCES || *self || !(flags & ROUTE_SELF))
		return r;
	*self = true;
	r = entries_as(es, RESOLVE_AS_SELF);
	return r ? r : open_at(es, fd, name, 0);
}

/*
 * Look at what @fd is. Where something waits to be mounted, step on it first:
 * opened by O_PATH alone it does not come. Takes @fd; gives one as good.
 */
static int step_on(struct entries *es, int dir, const char *name, int fd,
		   struct statx *x)
{
	int r = look(fd, x), again;

	if (!r && (x->stx_attributes & STATX_ATTR_AUTOMOUNT)) {
		again = open_at(es, dir, name, O_DIRECTORY);
		if (again >= 0) {
			close(fd);
			fd = again;
			r = look(fd, x);
		}
	}
	if (!r)
		return fd;
	close(fd);
	return r;
}

static int child(struct entries *es, uint32_t dir, const char *comp, size_t len,
		 unsigned int flags, uint32_t *out)
{
	uint64_t hash = lh_hash_word(dir, entry_name_hash(comp, len));
	char name[LH_NAME_MAX + 1];
	struct statx x;
	uint32_t found;
	size_t at = 0;
	bool self;
	int fd;

	while ((found = slots_next(&es->slots, hash, &at)) != SLOTS_NONE) {
		struct entry *p = &es->entry[found];

		if (p->parent != dir || strncmp(p->name, comp, len) ||
		    p->name[len] || found == ENTRY_TOP)
			continue;
		if (p->self && !(flags & ROUTE_SELF))
			return -EACCES;
		*out = found;
		return 0;
	}
	memcpy(name, comp, len);
	name[len] = 0;
	fd = open_child(es, dir, name, flags, &self);
	if (fd < 0)
		return fd;
	fd = step_on(es, es->entry[dir].fd, name, fd, &x);
	return fd < 0 ? fd : add(es, fd, &x, dir, name, len, self, out);
}

/* What paths that go on from here must not be taken for missing. */
static bool is_hard(int r)
{
	return r == -EMFILE || r == -ENFILE || r == -ENOMEM;
}

/*
 * Take . and .. out of the components at @path, as text. *up is how many
 * levels above its start it leads.
 */
static const char *tidy(struct arena *a, const char *path, size_t *up)
{
	char *out = arena_copy(a, path, strlen(path)), *end = out;

	*up = 0;
	while (out && *path) {
		size_t len = strcspn(path, "/");

		if (len == 2 && path[0] == '.' && path[1] == '.') {
			if (end == out)
				++*up;
			while (end > out && *--end != '/')
				;
		} else if (len && !(len == 1 && path[0] == '.')) {
			if (end != out)
				*end++ = '/';
			memcpy(end, path, len);
			end += len;
		}
		path += len;
		path += strspn(path, "/");
	}
	if (out)
		*end = 0;
	return out;
}

/* The way ends at @entry: @comp and what follows it is not there. */
static int ends(struct entries *es, uint32_t entry, const char *comp, int error,
		struct route *r)
{
	size_t up;

	r->rest = tidy(&es->arena, comp, &up);
	if (!r->rest)
		return -ENOMEM;
	while (up--)
		entry = es->entry[entry].parent;
	r->entry = entry;
	r->error = error;
	return 0;
}

/* A file where a directory should be: it is missing from its parent. */
static int ends_at_file(struct entries *es, uint32_t entry, const char *comp,
			struct route *r)
{
	const struct entry *p = &es->entry[entry];
	const char *path = arena_print(&es->arena, "%s/%s", p->name, comp);

	return path ? ends(es, p->parent, path, -ENOTDIR, r) : -ENOMEM;
}

/*
 * Links without an end: nobody gets past the first of them, and what the last
 * one left of the path may lead anywhere.
 */
static int ends_in_circle(struct entries *es, int error, struct route *r)
{
	const struct route_link *l = &r->link[0];
	const struct entry *p = &es->entry[l->entry];
	const char *path = arena_print(&es->arena, "%s/%s", p->name,
				       l->rest ? l->rest : "");

	return path ? ends(es, p->parent, path, error, r) : -ENOMEM;
}

/*
 * What a link says, followed by @rest, into @todo. Links of procfs are not
 * text: they lead to the files of whoever reads them, and that is us.
 */
static int read_link(int fd, const char *rest, char *todo)
{
	char target[PATH_MAX];
	struct statfs fs;
	ssize_t n;
	size_t len = strlen(rest);

	if (fstatfs(fd, &fs))
		return -errno;
	if (fs.f_type == PROC_SUPER_MAGIC)
		return -EXDEV;
	n = readlinkat(fd, "", target, sizeof(target));
	if (n < 0)
		return -errno;
	if (n == 0 || (size_t)n == sizeof(target) || n + len + 2 > TODO_MAX)
		return -ENAMETOOLONG;
	memmove(todo + n + 1, rest, len + 1);
	memcpy(todo, target, n);
	todo[n] = '/';
	return 0;
}

/* Note the link at @entry; @todo becomes what is to be followed instead. */
static int follow(struct entries *es, uint32_t entry, const char *rest,
		  char *todo, struct route *r)
{
	struct route_link *l = &r->link[r->links];
	size_t up;

	if (r->links == ROUTE_LINKS_MAX)
		return -ELOOP;
	l->entry = entry;
	l->rest = tidy(&es->arena, rest, &up);
	if (!l->rest)
		return -ENOMEM;
	if (up)
		l->rest = NULL;
	r->links++;
	return read_link(es->entry[entry].fd, rest, todo);
}

int entries_route(struct entries *es, uint32_t base, const char *path,
		  unsigned int flags, struct route *r)
{
	char todo[TODO_MAX], *at = todo, *rest;
	uint32_t cur = base, next;
	size_t len;
	int e;

	*r = (struct route){ .rest = "" };
	if (strlen(path) >= PATH_MAX)
		return -ENAMETOOLONG;
	strcpy(todo, path);
	for (;;) {
		if (at == todo && *at == '/')
			cur = ENTRY_TOP;
		at += strspn(at, "/");
		if (!*at)
			break;
		len = strcspn(at, "/");
		if (len > LH_NAME_MAX)
			return -ENAMETOOLONG;
		rest = at + len + strspn(at + len, "/");
		if (!S_ISDIR(es->entry[cur].mode))
			return ends_at_file(es, cur, at, r);
		if (len <= 2 && strncmp(at, "..", len) == 0) {
			if (len == 2)
				cur = es->entry[cur].parent;
			at = rest;
			continue;
		}
		e = child(es, cur, at, len, flags, &next);
		if (es->failed || is_hard(e))
			return es->failed ? es->failed : e;
		if (e)
			return ends(es, cur, at, e, r);
		if (!S_ISLNK(es->entry[next].mode) ||
		    ((flags & ROUTE_NOFOLLOW) && !*rest)) {
			cur = next;
			at = rest;
			continue;
		}
		if (flags & ROUTE_NO_LINKS)
			return ends(es, cur, at, -ELOOP, r);
		e = follow(es, next, rest, todo, r);
		if (e == -ENOMEM)
			return e;
		if (e == -ELOOP || e == -ENAMETOOLONG)
			return ends_in_circle(es, e, r);
		if (e)
			return ends(es, cur, at, e, r);
		at = todo;
	}
	r->entry = cur;
	return 0;
}

int entries_init(struct entries *es, int (*as)(enum resolve_as, void *),
		 void *arg)
{
	struct statx x;
	uint32_t top;
	int fd, r;

	*es = (struct entries){ .as = as, .arg = arg, .who = -1 };
	r = entries_as(es, RESOLVE_AS_USER);
	if (r)
		return r;
	fd = open_at(es, AT_FDCWD, "/", O_DIRECTORY);
	if (fd < 0)
		return fd;
	r = look(fd, &x);
	if (!r)
		return add(es, fd, &x, ENTRY_TOP, "", 0, false, &top);
	close(fd);
	return r;
}

void entries_free(struct entries *es)
{
	uint32_t i;

	for (i = 0; i < es->count; i++)
		if (es->entry[i].fd >= 0)
			close(es->entry[i].fd);
	free(es->entry);
	slots_free(&es->slots);
	arena_free(&es->arena);
	*es = (struct entries){ 0 };
}

char *entries_path(const struct entries *es, uint32_t entry)
{
	uint32_t p;
	size_t len = 0;
	char *path;

	for (p = entry; p != ENTRY_TOP; p = es->entry[p].parent)
		len += strlen(es->entry[p].name) + 1;
	path = malloc(len ? len + 1 : 2);
	if (!path)
		return NULL;
	strcpy(path, "/");
	if (len)
		path[len] = 0;
	for (p = entry; p != ENTRY_TOP; p = es->entry[p].parent) {
		size_t n = strlen(es->entry[p].name);

		len -= n + 1;
		path[len] = '/';
		memcpy(path + len + 1, es->entry[p].name, n);
	}
	return path;
}
