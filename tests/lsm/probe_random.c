// SPDX-License-Identifier: GPL-2.0-only
/*
 * Calls for the differential test, each one system call. A path "@N/rest" is
 * relative to the descriptor that was opened as number N before.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "probe.h"

static int kept[10] = { -1, -1, -1, -1, -1, -1, -1, -1, -1, -1 };

/* The directory that a path starts from; *path becomes what is left of it. */
static int base(const char **path)
{
	int fd;

	if (**path != '@')
		return AT_FDCWD;
	fd = kept[(*path)[1] - '0'];
	*path += 2;
	while (**path == '/')
		++*path;
	if (!**path)
		*path = ".";
	return fd;
}

/* For the calls that take no directory. */
static const char *whole(const char *path)
{
	static char text[4096];

	if (*path != '@')
		return path;
	snprintf(text, sizeof(text), "/proc/self/fd/%d/%s",
		 kept[path[1] - '0'], path + 2);
	return text;
}

static int close_after(int fd)
{
	int err = probe_errno(fd);

	if (fd >= 0)
		close(fd);
	return err;
}

static int list(const char *path)
{
	int dir = base(&path);
	int fd = openat(dir, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	int err = d ? 0 : errno;

	if (!d)
		return err;
	errno = 0;
	while (readdir(d))
		;
	err = errno;
	closedir(d);
	return err;
}

static int rename_(const char *from, const char *to, const char *how)
{
	int a = base(&from), b = base(&to);

	return probe_errno(renameat2(a, from, b, to,
				     *how == 'x' ? RENAME_EXCHANGE :
				     *how == 'n' ? RENAME_NOREPLACE : 0));
}

static int link_(const char *from, const char *to)
{
	int a = base(&from), b = base(&to);

	return probe_errno(linkat(a, from, b, to, 0));
}

/* An unnamed file in a directory; with a second path, a name for it. */
static int unnamed(const char *path, const char *name)
{
	char self[64];
	int dir = base(&path), to = base(&name), err;
	int fd = openat(dir, path, O_TMPFILE | O_RDWR | O_CLOEXEC, 0755);

	if (fd < 0)
		return errno;
	snprintf(self, sizeof(self), "/proc/self/fd/%d", fd);
	err = *name ? probe_errno(linkat(AT_FDCWD, self, to, name,
					 AT_SYMLINK_FOLLOW)) : 0;
	close(fd);
	return err;
}

static int run(const char *path)
{
	char *argv[] = { (char *)path, NULL };
	int dir = base(&path);

	/* What is there is no program: it never comes to be one. */
	return probe_errno(execveat(dir, path, argv, NULL, 0));
}

static int watch(const char *path)
{
	int fd = inotify_init1(IN_CLOEXEC), err;

	err = probe_errno(inotify_add_watch(fd, whole(path), IN_ALL_EVENTS));
	close(fd);
	return err;
}

static int status(const char *path, int flags)
{
	struct stat st;
	int dir = base(&path);

	return probe_errno(fstatat(dir, path, &st, flags));
}

static int keep(const char *path, int number, struct probe_reply *r)
{
	int dir = base(&path), fd, err;

	fd = openat(dir, path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	err = probe_errno(fd);
	if (kept[number] >= 0)
		close(kept[number]);
	kept[number] = r->value = fd;
	return err;
}

static int mode_(const char *path, const char *mode)
{
	int dir = base(&path);

	return probe_errno(fchmodat(dir, path, strtol(mode, NULL, 8), 0));
}

static int read_link(const char *path)
{
	char text[4096];
	int dir = base(&path);

	return probe_errno(readlinkat(dir, path, text, sizeof(text)));
}

/* LETTER PATH [ARGUMENT [HOW]] */
static int op_random(char **a, struct probe_reply *r)
{
	const char *path = a[1], *more = a[2] ? a[2] : "";
	int dir;

	umask(0);
	switch (*a[0]) {
	case 'd': return list(path);
	case 'v': return rename_(path, more, a[3] ? a[3] : "");
	case 'k': return link_(path, more);
	case 'T': return unnamed(path, more);
	case 'x': return run(path);
	case 'w': return watch(path);
	case 's': return status(path, 0);
	case 'l': return status(path, AT_SYMLINK_NOFOLLOW);
	case 'S': return keep(path, atoi(more), r);
	case 'c': return mode_(path, more);
	case 'L': return read_link(path);
	case 't': return probe_errno(truncate(whole(path), 1));
	}
	dir = base(&path);
	switch (*a[0]) {
	case 'o':
		return close_after(openat(dir, path, probe_open_flags(more),
					  0755));
	case 'm': return probe_errno(mkdirat(dir, path, 0755));
	case 'f': return probe_errno(mknodat(dir, path, S_IFIFO | 0755, 0));
	case 'r': return probe_errno(mknodat(dir, path, S_IFREG | 0755, 0));
	case 'n': return probe_errno(symlinkat(more, dir, path));
	case 'u': return probe_errno(unlinkat(dir, path, 0));
	case 'R': return probe_errno(unlinkat(dir, path, AT_REMOVEDIR));
	}
	return EINVAL;
}

/* Open a file many times; how many of them read "TEXT" is the value. */
static int op_race(char **a, struct probe_reply *r)
{
	int fine = 0, refused = 0, other = 0;

	for (int i = 0; i < atoi(a[1]); i++) {
		int fd = open(a[0], O_RDONLY | O_CLOEXEC);
		char text[4] = "";

		if (fd < 0) {
			refused += errno == EACCES;
			other += errno != EACCES;
			continue;
		}
		if (read(fd, text, 4) == 4 && !memcmp(text, "TEXT", 4))
			r->value++;
		else
			fine++;
		close(fd);
	}
	snprintf(r->text, sizeof(r->text), "fine=%d refused=%d absent=%d",
		 fine, refused, other);
	return 0;
}

/* Set a file's times many times; how often it was done is the value. */
static int op_race_touch(char **a, struct probe_reply *r)
{
	int refused = 0, absent = 0;

	for (int i = 0; i < atoi(a[1]); i++) {
		if (!utimensat(AT_FDCWD, a[0], NULL, 0))
			r->value++;
		else if (errno == EACCES)
			refused++;
		else
			absent++;
	}
	snprintf(r->text, sizeof(r->text), "done=%ld refused=%d absent=%d",
		 (long)r->value, refused, absent);
	return 0;
}

/* A child exchanges two names until it is killed; its pid is the value. */
static int op_exchange(char **a, struct probe_reply *r)
{
	pid_t pid = fork();

	if (!pid)
		for (;;)
			renameat2(AT_FDCWD, a[0], AT_FDCWD, a[1],
				  RENAME_EXCHANGE);
	r->value = pid;
	return probe_errno(pid);
}

const struct probe_op probe_random_ops[] = {
	{ "race", 2, op_race },
	{ "racetouch", 2, op_race_touch },
	{ "exchange", 2, op_exchange },
	{ "random", 2, op_random },
	{ NULL, 0, NULL },
};
