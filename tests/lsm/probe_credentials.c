// SPDX-License-Identifier: GPL-2.0-only
/*
 * Everything one can try on a path that is none of one's business, in one go:
 * the answer is a letter and an errno for each. See credentials_test.c.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "probe.h"

static int opened(const char *path, int flags)
{
	int fd = open(path, flags | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0644);
	int err = fd < 0 ? errno : 0;

	if (fd >= 0)
		close(fd);
	return err;
}

/* Paths: the object, below it twice, and what is put in its place. */
struct tried {
	const char *path;
	char inner[1100], newer[1100], file[1100], dir[1100], out[1100];
};

static int try(const struct tried *t, char op)
{
	struct stat st;

	switch (op) {
	case 'r': return opened(t->path, O_RDONLY);
	case 'l': return opened(t->path, O_RDONLY | O_DIRECTORY);
	case 's': return probe_errno(stat(t->path, &st));
	case 'S': return probe_errno(lstat(t->path, &st));
	case 'w': return opened(t->path, O_WRONLY);
	case 'a': return opened(t->path, O_RDONLY | O_TRUNC);
	case 't': return probe_errno(truncate(t->path, 0));
	case 'm': return probe_errno(chmod(t->path, 0777));
	case 'c': return opened(t->path, O_WRONLY | O_CREAT);
	case 'k': return probe_errno(mkdir(t->path, 0755));
	case 'y': return probe_errno(symlink("x", t->path));
	case 'f': return probe_errno(mknod(t->path, S_IFIFO | 0644, 0));
	case 'R': return probe_errno(rename(t->file, t->path));
	case 'D': return probe_errno(rename(t->dir, t->path));
	case 'X': return probe_errno(renameat2(AT_FDCWD, t->file, AT_FDCWD,
					       t->path, RENAME_EXCHANGE));
	case 'L': return probe_errno(link(t->file, t->path));
	case 'o': return probe_errno(link(t->path, t->out));
	case 'O': return probe_errno(rename(t->path, t->out));
	case 'u': return probe_errno(unlink(t->path));
	case 'd': return probe_errno(rmdir(t->path));
	case 'i': return opened(t->inner, O_RDONLY);
	case 'n': return opened(t->newer, O_WRONLY | O_CREAT);
	}
	return ENOSYS;
}

/* reach OPS PATH DIR: DIR holds "file" and "dir" for what needs a source. */
static int op_reach(char **a, struct probe_reply *r)
{
	struct tried t = { .path = a[1] };
	size_t at = 0;

	snprintf(t.inner, sizeof(t.inner), "%s/inner", a[1]);
	snprintf(t.newer, sizeof(t.newer), "%s/newer", a[1]);
	snprintf(t.file, sizeof(t.file), "%s/file", a[2]);
	snprintf(t.dir, sizeof(t.dir), "%s/dir", a[2]);
	snprintf(t.out, sizeof(t.out), "%s/out", a[2]);
	for (const char *op = a[0]; *op && at < sizeof(r->text) - 8; op++)
		at += snprintf(r->text + at, sizeof(r->text) - at, "%c%d ",
			       *op, try(&t, *op));
	return 0;
}

const struct probe_op probe_credentials_ops[] = {
	{ "reach", 3, op_reach },	{ NULL, 0, NULL },
};
