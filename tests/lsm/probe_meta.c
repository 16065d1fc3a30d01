// SPDX-License-Identifier: GPL-2.0-only
/*
 * Calls that read or change what a file says of itself, and mounts.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "probe.h"

static int op_stat(char **a, struct probe_reply *r)
{
	struct stat st;
	int err = probe_errno(stat(a[0], &st));

	if (!err)
		snprintf(r->text, sizeof(r->text), "%lld",
			 (long long)st.st_size);
	return err;
}

static int op_lstat(char **a, struct probe_reply *r)
{
	struct stat st;

	(void)r;
	return probe_errno(lstat(a[0], &st));
}

/* Through a descriptor that no open of the content made. */
static int op_fstat(char **a, struct probe_reply *r)
{
	int fd = open(a[0], O_PATH | O_CLOEXEC);
	struct stat st;
	int err;

	(void)r;
	if (fd < 0)
		return errno;
	err = probe_errno(fstat(fd, &st));
	close(fd);
	return err;
}

static int op_readlink(char **a, struct probe_reply *r)
{
	return probe_errno(readlink(a[0], r->text, sizeof(r->text) - 1));
}

static int op_chmod(char **a, struct probe_reply *r)
{
	(void)r;
	return probe_errno(chmod(a[0], strtoul(a[1], NULL, 8)));
}

static int op_fchmod(char **a, struct probe_reply *r)
{
	int fd = open(a[0], O_RDONLY | O_CLOEXEC);
	int err;

	(void)r;
	if (fd < 0)
		return errno;
	err = probe_errno(fchmod(fd, strtoul(a[1], NULL, 8)));
	close(fd);
	return err;
}

/* To oneself: allowed by the file's mode, so only a policy refuses. */
static int op_chown(char **a, struct probe_reply *r)
{
	(void)r;
	return probe_errno(lchown(a[0], geteuid(), getegid()));
}

static int op_utimes(char **a, struct probe_reply *r)
{
	struct timespec t[2] = { { .tv_sec = 1 }, { .tv_sec = 1 } };

	(void)r;
	return probe_errno(utimensat(AT_FDCWD, a[0], t, 0));
}

static int op_setxattr(char **a, struct probe_reply *r)
{
	(void)r;
	return probe_errno(setxattr(a[0], a[1], "1", 1, 0));
}

static int op_getxattr(char **a, struct probe_reply *r)
{
	return probe_errno(getxattr(a[0], a[1], r->text, 64));
}

static int op_listxattr(char **a, struct probe_reply *r)
{
	return probe_errno(listxattr(a[0], r->text, sizeof(r->text) - 1));
}

static int op_removexattr(char **a, struct probe_reply *r)
{
	(void)r;
	return probe_errno(removexattr(a[0], a[1]));
}

static int op_inotify(char **a, struct probe_reply *r)
{
	int fd = inotify_init1(IN_CLOEXEC);
	int err;

	(void)r;
	if (fd < 0)
		return errno;
	err = probe_errno(inotify_add_watch(fd, a[0], IN_ALL_EVENTS));
	close(fd);
	return err;
}

static int op_chroot(char **a, struct probe_reply *r)
{
	(void)r;
	return probe_errno(chroot(a[0]));
}

static int op_mount(char **a, struct probe_reply *r)
{
	(void)r;
	return probe_errno(mount("none", a[0], "tmpfs", 0, NULL));
}

static int op_bind(char **a, struct probe_reply *r)
{
	(void)r;
	return probe_errno(mount(a[0], a[1], NULL, MS_BIND, NULL));
}

static int op_umount(char **a, struct probe_reply *r)
{
	(void)r;
	return probe_errno(umount2(a[0], MNT_DETACH));
}

static int op_pivot(char **a, struct probe_reply *r)
{
	(void)r;
	return probe_errno(syscall(SYS_pivot_root, a[0], a[0]));
}

static int op_open_tree(char **a, struct probe_reply *r)
{
	long fd = syscall(SYS_open_tree, AT_FDCWD, a[0], 1 /* CLONE */);

	(void)r;
	if (fd < 0)
		return errno;
	close(fd);
	return 0;
}

static int op_move_mount(char **a, struct probe_reply *r)
{
	(void)r;
	return probe_errno(syscall(SYS_move_mount, AT_FDCWD, a[0], AT_FDCWD,
				   a[1], 0));
}

static int op_fsopen(char **a, struct probe_reply *r)
{
	long fd = syscall(SYS_fsopen, a[0], 0);

	(void)r;
	if (fd < 0)
		return errno;
	close(fd);
	return 0;
}

/* Something that has no place in any tree. */
int probe_nameless(const char *kind)
{
	FILE *f;
	int pair[2];

	if (!strcmp(kind, "memfd"))
		return memfd_create("x", MFD_CLOEXEC);
	if (!strcmp(kind, "huge"))
		return memfd_create("x", MFD_CLOEXEC | MFD_HUGETLB);
	if (!strcmp(kind, "stdio")) {
		f = tmpfile();		/* stays open */
		return f ? dup(fileno(f)) : -1;
	}
	if (!strcmp(kind, "pidfd"))
		return syscall(SYS_pidfd_open, getpid(), 0);
	if (!strcmp(kind, "tmpfile"))
		return open(".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (!strcmp(kind, "eventfd"))
		return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (pipe2(pair, O_CLOEXEC))
		return -1;
	close(pair[1]);
	return pair[0];
}

/* Make one, and open it once more by its descriptor. */
static int op_again(char **a, struct probe_reply *r)
{
	int fd = probe_nameless(a[0]), err = probe_errno(fd), more;
	char path[64];

	(void)r;
	if (err)
		return err;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	more = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK);
	err = probe_errno(more);
	close(fd);
	if (!err)
		close(more);
	return err;
}

const struct probe_op probe_meta_ops[] = {
	{ "stat", 1, op_stat },		{ "lstat", 1, op_lstat },
	{ "fstat", 1, op_fstat },	{ "readlink", 1, op_readlink },
	{ "chmod", 2, op_chmod },	{ "fchmod", 2, op_fchmod },
	{ "chown", 1, op_chown },	{ "utimes", 1, op_utimes },
	{ "setxattr", 2, op_setxattr },	{ "getxattr", 2, op_getxattr },
	{ "listxattr", 1, op_listxattr },
	{ "removexattr", 2, op_removexattr },
	{ "inotify", 1, op_inotify },	{ "chroot", 1, op_chroot },
	{ "mount", 1, op_mount },	{ "bind", 2, op_bind },
	{ "umount", 1, op_umount },	{ "pivot", 1, op_pivot },
	{ "open_tree", 1, op_open_tree },
	{ "move_mount", 2, op_move_mount },
	{ "fsopen", 1, op_fsopen },	{ "again", 1, op_again },
	{ NULL, 0, NULL },
};
