// SPDX-License-Identifier: GPL-2.0-only
/*
 * Where a path leads, by the host's own kernel, and what stands on the way from
 * there up: each directory by device and number, and by each of its names. A
 * bind mount gives a directory a second name; what a mount covers counts too.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "game.h"

#define LINKS 40	/* that the kernel follows */

bool same(const struct id *a, const struct id *b)
{
	return a->ino && a->ino == b->ino && a->dev == b->dev;
}

static struct id id_of(const char *path)
{
	struct stat st;

	if (lstat(path, &st))
		return (struct id){ 0 };
	return (struct id){ st.st_dev, st.st_ino };
}

/* The path of an O_PATH descriptor now. */
static void fd_path(int fd, char out[TEXT])
{
	static const char gone_[] = " (deleted)";
	char link[64];
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, out, TEXT - 1);
	out[n > 0 ? n : 0] = 0;
	n -= sizeof(gone_) - 1;
	if (n > 0 && !strcmp(out + n, gone_))
		out[n] = 0;
}

void mounts_refresh(struct game *g)
{
	for (int i = 0; i < MOUNTS; i++)
		if (g->mount[i].used)
			fd_path(g->mount[i].root, g->mount[i].at);
}

int mount_at(const struct game *g, const char *path)
{
	for (int i = 0; i < MOUNTS; i++)
		if (g->mount[i].used && !strcmp(g->mount[i].at, path))
			return i;
	return -1;
}

/* The innermost mount that holds @path, or -1. */
static int mount_of(const struct game *g, const char *path)
{
	int best = -1;
	size_t most = 0;

	for (int i = 0; i < MOUNTS; i++) {
		size_t n = strlen(g->mount[i].at);

		if (g->mount[i].used && n > most &&
		    !strncmp(g->mount[i].at, path, n) &&
		    (!path[n] || path[n] == '/')) {
			best = i;
			most = n;
		}
	}
	return best;
}

void spot_for_host(const struct game *g, const char *path, char *out)
{
	static const char self[] = "/proc/self/";
	int pid = g->s.probe;

	if (*path == '@')
		snprintf(out, TEXT, "/proc/%d/fd/%d/%s", pid,
			 g->slot[path[1] - '0'], path + 2);
	else if (!strncmp(path, self, sizeof(self) - 1))
		snprintf(out, TEXT, "/proc/%d/%s", pid,
			 path + sizeof(self) - 1);
	else if (*path == '/')
		snprintf(out, TEXT, "%s", path);
	else
		snprintf(out, TEXT, "/proc/%d/cwd/%s", pid, path);
}

static struct level *add(struct spot *p, const char *name, const char *below)
{
	struct level *l = &p->level[p->count];

	if (p->count == LEVELS)
		abort();
	*l = (struct level){ .below = below };
	snprintf(l->name, sizeof(l->name), "%s", name);
	p->count++;
	return l;
}

__attribute__((format(printf, 2, 3)))
static const char *keep(struct spot *p, const char *fmt, ...)
{
	char *out = p->text + p->used;
	va_list ap;

	va_start(ap, fmt);
	p->used += vsnprintf(out, sizeof(p->text) - p->used, fmt, ap) + 1;
	va_end(ap);
	if (p->used > sizeof(p->text))
		abort();
	return out;
}

/* The names that the source of a bind mount has, above its own. */
static void add_aside(struct spot *p, const struct mounted *m,
		      const char *below)
{
	char from[TEXT], *slash;

	fd_path(m->source, from);
	slash = strrchr(from, '/');
	snprintf(p->level[p->count - 1].name, 256, "%s",
		 slash ? slash + 1 : "");
	for (;;) {
		struct level *l;

		slash = strrchr(from, '/');
		if (!slash || slash == from)
			return;
		below = keep(p, "%s%s%s", slash + 1, *below ? "/" : "", below);
		*slash = 0;
		l = add(p, strrchr(from, '/') + 1, below);
		l->id = id_of(from);
		l->aside = true;
	}
}

/* From the object up: see struct level. */
static void climb(struct game *g, struct spot *p, bool covered)
{
	char at_[TEXT], *slash;
	const char *below = "";

	snprintf(at_, sizeof(at_), "%s", p->path);
	for (;;) {
		int m = mount_at(g, at_);
		struct level *l;

		slash = strrchr(at_, '/');
		if (!slash || slash == at_)
			break;		/* /tmp and above name no rule */
		if (m >= 0 && !covered) {
			l = add(p, "/", below);
			l->id = id_of(at_);
			l->mounted = true;
			if (g->mount[m].bind)
				add_aside(p, &g->mount[m], below);
		}
		l = add(p, slash + 1, below);
		l->id = m >= 0 ? g->mount[m].covered : id_of(at_);
		below = keep(p, "%s%s%s", slash + 1, *below ? "/" : "", below);
		*slash = 0;
		covered = false;
	}
}

static void find_object(struct game *g, const char *host, int flags,
			struct spot *p)
{
	int fd = open(host, O_PATH | O_CLOEXEC | flags);

	if (fd < 0) {
		p->err = errno;
		return;
	}
	p->there = true;
	if (fstat(fd, &p->st))
		abort();
	fd_path(fd, p->path);
	close(fd);
	climb(g, p, false);
	if (!p->count || p->level[0].id.ino != p->st.st_ino ||
	    p->level[0].id.dev != p->st.st_dev || !p->st.st_nlink ||
	    !strcmp(p->path, at(g->w, "log/s.stderr")))
		p->hidden = true;	/* the last was given to the session */
	p->mount = mount_of(g, p->path);
}

/* The directory part of @host, opened; *name is the rest. */
static int open_above(const char *host, const char **name)
{
	char dir[TEXT];
	const char *slash = strrchr(host, '/');

	*name = slash + 1;
	snprintf(dir, sizeof(dir), "%.*s/", (int)(slash - host), host);
	return open(dir, O_PATH | O_CLOEXEC | O_DIRECTORY);
}

static void find_name(struct game *g, const char *host, struct spot *p)
{
	struct stat dir, seen;
	const char *name;
	int fd = open_above(host, &name), m;
	char above[TEXT];

	if (fd < 0) {
		p->err = errno;
		return;
	}
	fd_path(fd, above);
	snprintf(p->path, sizeof(p->path), "%.700s/%.255s", above, name);
	m = mount_at(g, p->path);
	p->there = !fstatat(fd, name, &p->st, AT_SYMLINK_NOFOLLOW);
	if (fstat(fd, &dir) || lstat(above, &seen) ||
	    dir.st_ino != seen.st_ino || dir.st_dev != seen.st_dev)
		p->hidden = true;
	/* What is in no tree any more, and what a mount hides. */
	p->hidden |= !dir.st_nlink;
	if (m >= 0 && p->there) {
		p->st.st_dev = g->mount[m].covered.dev;
		p->st.st_ino = g->mount[m].covered.ino;
	}
	close(fd);
	p->mount = mount_of(g, above);
	climb(g, p, m >= 0);
	if (!p->there)
		p->level[0].id = (struct id){ 0 };
}

/* A link at the end leads on, also to what is not there. */
static void find_made(struct game *g, const char *host, struct spot *p)
{
	char path[TEXT], target[TEXT], dir[TEXT];

	snprintf(path, sizeof(path), "%s", host);
	for (int i = 0; i < LINKS; i++) {
		ssize_t n;

		*p = (struct spot){ 0 };
		find_name(g, path, p);
		if (p->err || p->hidden || !p->there || !S_ISLNK(p->st.st_mode))
			return;
		n = readlink(p->path, target, sizeof(target) - 1);
		target[n > 0 ? n : 0] = 0;
		snprintf(dir, sizeof(dir), "%s", p->path);
		*strrchr(dir, '/') = 0;
		snprintf(path, sizeof(path), "%.400s%s%.400s",
			 *target == '/' ? "" : dir, *target == '/' ? "" : "/",
			 target);
	}
	p->err = ELOOP;
}

void spot_find(struct game *g, const char *path, enum look_up how,
		struct spot *p)
{
	char host[TEXT];

	p->err = 0;
	p->there = p->hidden = false;
	p->count = p->used = 0;
	p->path[0] = 0;
	mounts_refresh(g);
	spot_for_host(g, path, host);
	switch (how) {
	case FOLLOW:
	case HERE:
		find_object(g, host, how == HERE ? O_NOFOLLOW : 0, p);
		break;
	case NAME:
		find_name(g, host, p);
		break;
	case MAKE:
		find_made(g, host, p);
		break;
	}
	/* Beyond the trees that are played with nothing is known. */
	if (!p->err && strncmp(p->path, g->w->dir, strlen(g->w->dir)) &&
	    (!*g->temp || strncmp(p->path, g->temp, strlen(g->temp))))
		p->hidden = true;
}

void spot_below(struct game *g, const struct spot *dir, const char *name,
		 struct spot *p)
{
	char path[TEXT];

	snprintf(path, sizeof(path), "%.700s/%s", dir->path, name);
	*p = (struct spot){ 0 };
	find_name(g, path, p);
	p->hidden |= dir->hidden;
}
