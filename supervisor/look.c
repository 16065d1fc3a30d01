// SPDX-License-Identifier: GPL-2.0-only
/*
 * Pictures. Every object is opened O_PATH first, which no FIFO, device or
 * lease can hold up; only a regular file is opened again to be read.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <linux/openat2.h>
#include <sha256.h>

#include "cleanup.h"
#include "look.h"

/* What is left for the name that is being looked at. */
struct budget {
	unsigned int entries;
	uint64_t bytes;
};

struct eye {
	struct picture *p;
	int dir;
	uint32_t name;
	struct budget left;
};

static int open_beneath(int dir, const char *path, int flags)
{
	struct open_how how = {
		.flags = O_CLOEXEC | flags,
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS,
	};
	int fd, tries = 0;

	do	/* EAGAIN: something was renamed meanwhile */
		fd = syscall(SYS_openat2, dir, *path ? path : ".", &how,
			     sizeof(how));
	while (fd < 0 && errno == EAGAIN && ++tries < 32);
	return fd < 0 ? -errno : fd;
}

/* An absolute link may lead back to below the directory. */
static int open_absolute(int dir, const char *path, int flags)
{
	_cleanup_close_ int fd = open_beneath(dir, path, O_PATH | O_NOFOLLOW);
	char self[32], top[PATH_MAX], to[PATH_MAX];
	ssize_t n, len;

	snprintf(self, sizeof(self), "/proc/self/fd/%d", dir);
	n = readlink(self, top, sizeof(top));
	len = fd < 0 ? -1 : readlinkat(fd, "", to, sizeof(to) - 1);
	if (n < 0 || len <= n || memcmp(to, top, n) || to[n] != '/')
		return -EXDEV;
	to[len] = 0;
	return open_beneath(dir, to + n + 1, flags);
}

int look_open(int dir, const char *path, int flags)
{
	int fd = open_beneath(dir, path, flags);

	return fd == -EXDEV && !(flags & O_NOFOLLOW) ?
		open_absolute(dir, path, flags) : fd;
}

static struct view *new_view(struct eye *eye, const char *path)
{
	struct picture *p = eye->p;
	size_t room = p->room ? p->room * 2 : 32;
	struct view *v;

	if (p->count == p->room) {
		v = realloc(p->view, room * sizeof(*v));
		if (!v) {
			p->error = -ENOMEM;
			return NULL;
		}
		p->view = v;
		p->room = room;
	}
	v = &p->view[p->count++];
	*v = (struct view){ .path = path, .name = eye->name };
	return v;
}

static void fill(struct view *v, const struct stat *st)
{
	v->type = st->st_mode & S_IFMT;
	v->exec = v->type == S_IFREG &&
		  (st->st_mode & (S_IXUSR | S_ISUID | S_ISGID));
	v->size = st->st_size;
	v->ctime = st->st_ctim;
	v->ino = st->st_ino;
	v->dev = st->st_dev;
	if (v->type == S_IFCHR || v->type == S_IFBLK)
		v->rdev = st->st_rdev;
}

/* Like open(2) of what @fd, an O_PATH one, is; never waiting. */
static int reopen(int fd)
{
	char link[32];

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	return open(link, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
}

static void read_file(struct eye *eye, struct view *v, int fd)
{
	_cleanup_close_ int file = -1;
	uint64_t done = 0;
	char buf[16384];
	SHA2_CTX sha;
	ssize_t n;

	if (v->size > LOOK_FILE_MAX || v->size > eye->left.bytes)
		return;
	file = reopen(fd);
	if (file < 0)
		return;
	SHA256Init(&sha);
	while ((n = read(file, buf, sizeof(buf))) > 0) {
		SHA256Update(&sha, (const uint8_t *)buf, n);
		done += n;
		if (done > LOOK_FILE_MAX)
			break;	/* it grows under our eyes */
	}
	eye->left.bytes -= done < eye->left.bytes ? done : eye->left.bytes;
	eye->p->bytes += done;
	SHA256Final(v->hash, &sha);
	v->hashed = !n;
}

static void read_link(struct view *v, int fd)
{
	char text[4096];
	ssize_t n = readlinkat(fd, "", text, sizeof(text));
	SHA2_CTX sha;

	if (n < 0)
		return;
	SHA256Init(&sha);
	SHA256Update(&sha, (const uint8_t *)text, n);
	SHA256Final(v->hash, &sha);
	v->hashed = true;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static DIR *open_entries(int fd)
{
	int copy = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = copy < 0 ? NULL : fdopendir(copy);

	if (!d && copy >= 0)
		close(copy);
	return d;
}

/*
 * The paths of all entries, sorted: more than are left, or none that may be
 * read, is -1, and so is no memory.
 */
static int entries(struct eye *eye, int fd, const char *path, char ***out)
{
	_cleanup_dir_ DIR *d = open_entries(fd);
	_cleanup_free_ char **list = NULL;
	unsigned int n = 0, left = eye->left.entries;
	struct dirent *ent;

	list = calloc(left + 1, sizeof(*list));
	if (!d || !list)
		return -1;
	while ((ent = readdir(d))) {
		if (!strcmp(ent->d_name, ".") || !strcmp(ent->d_name, ".."))
			continue;
		if (n == left)
			return -1;
		list[n] = arena_print(&eye->p->mem, "%s/%s", path, ent->d_name);
		if (!list[n++])
			eye->p->error = -ENOMEM;
		if (eye->p->error)
			return -1;
	}
	qsort(list, n, sizeof(*list), by_name);
	eye->left.entries -= n;
	eye->p->entries += n;
	*out = list;
	list = NULL;
	return n;
}

static void look_at(struct eye *eye, const char *path, int depth);

static void look_into(struct eye *eye, size_t view, int fd, int depth)
{
	const char *path = eye->p->view[view].path;
	_cleanup_free_ char **list = NULL;
	int i, n = depth < LOOK_DEPTH ? entries(eye, fd, path, &list) : -1;

	if (n < 0)
		eye->p->view[view].partial = true;
	for (i = 0; i < n && !eye->p->error; i++)
		look_at(eye, list[i], depth + 1);
}

/* What the link leads to: a file's content, or the entries of a directory. */
static void look_behind(struct eye *eye, const char *path, int depth)
{
	_cleanup_close_ int fd = look_open(eye->dir, path, O_PATH);
	struct view *v;
	struct stat st;

	if (fd < 0 || fstat(fd, &st))
		return;		/* outside, or nowhere: its text is all */
	v = new_view(eye, path);
	if (!v)
		return;
	fill(v, &st);
	v->behind = true;
	if (S_ISREG(st.st_mode))
		read_file(eye, v, fd);
	else if (S_ISDIR(st.st_mode) && !depth)
		look_into(eye, v - eye->p->view, fd, depth);
	else if (S_ISDIR(st.st_mode))
		v->partial = true;
}

static void look_at(struct eye *eye, const char *path, int depth)
{
	_cleanup_close_ int fd = look_open(eye->dir, path, O_PATH | O_NOFOLLOW);
	struct view *v;
	struct stat st;

	if (fd == -ENOENT || fd == -ENOTDIR)
		return;
	v = new_view(eye, path);
	if (!v)
		return;
	v->partial = true;
	if (fd < 0 || fstat(fd, &st))
		return;
	v->partial = false;
	fill(v, &st);
	if (S_ISREG(st.st_mode)) {
		read_file(eye, v, fd);
	} else if (S_ISDIR(st.st_mode)) {
		look_into(eye, v - eye->p->view, fd, depth);
	} else if (S_ISLNK(st.st_mode)) {
		read_link(v, fd);
		look_behind(eye, path, depth);
	}
}

/* "a" of "a/b": where it is a link, it says which "b" is meant. */
static void look_above(struct eye *eye, const char *path)
{
	const char *slash = path;

	while ((slash = strchr(slash, '/'))) {
		_cleanup_close_ int fd = -1;
		char *above = arena_copy(&eye->p->mem, path, slash++ - path);
		struct view *v;
		struct stat st;

		if (!above) {
			eye->p->error = -ENOMEM;
			return;
		}
		fd = look_open(eye->dir, above, O_PATH | O_NOFOLLOW);
		if (fd < 0 || fstat(fd, &st))
			return;
		if (!S_ISLNK(st.st_mode))
			continue;
		v = new_view(eye, above);
		if (!v)
			return;
		fill(v, &st);
		read_link(v, fd);
	}
}

static uint64_t smaller(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

void look(struct picture *p, int dir, const char *path, uint32_t name)
{
	struct eye eye = {
		.p = p, .dir = dir, .name = name,
		.left = {
			smaller(LOOK_ENTRIES, LOOK_ALL_ENTRIES -
				smaller(p->entries, LOOK_ALL_ENTRIES)),
			smaller(LOOK_BYTES, LOOK_ALL_BYTES -
				smaller(p->bytes, LOOK_ALL_BYTES)),
		},
	};

	look_above(&eye, path);
	look_at(&eye, path, 0);
}

void look_free(struct picture *p)
{
	free(p->view);
	arena_free(&p->mem);
	*p = (struct picture){ 0 };
}

static bool same_times(const struct view *a, const struct view *b)
{
	return a->size == b->size && a->ino == b->ino && a->dev == b->dev &&
	       a->ctime.tv_sec == b->ctime.tv_sec &&
	       a->ctime.tv_nsec == b->ctime.tv_nsec;
}

bool look_differs(const struct view *a, const struct view *b, bool *by_time)
{
	*by_time = false;
	if (a->type != b->type || a->exec != b->exec || a->rdev != b->rdev)
		return true;
	if (a->hashed && b->hashed)
		return memcmp(a->hash, b->hash, sizeof(a->hash));
	/* A directory that was seen is its entries. */
	if (S_ISDIR(a->type) && !a->partial && !b->partial)
		return false;
	if (!S_ISREG(a->type) && !S_ISDIR(a->type) && !S_ISLNK(a->type))
		return false;
	*by_time = true;
	return !same_times(a, b);
}
