// SPDX-License-Identifier: GPL-2.0-only
/*
 * Calls that not every file system has.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/btrfs.h>
#include <linux/fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "probe.h"

/* As cp --reflink=always: the second file shares the first one's blocks. */
static int op_reflink(char **a, struct probe_reply *r)
{
	int in = open(a[0], O_RDONLY | O_CLOEXEC), out, err;

	(void)r;
	if (in < 0)
		return errno;
	out = open(a[1], O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
	err = probe_errno(out);
	if (!err)
		err = probe_errno(ioctl(out, FICLONE, in));
	close(in);
	close(out);
	return err;
}

static int op_fallocate(char **a, struct probe_reply *r)
{
	int fd = open(a[0], O_RDWR | O_CREAT | O_CLOEXEC, 0644), err;

	(void)r;
	if (fd < 0)
		return errno;
	err = probe_errno(fallocate(fd, 0, 0, 8192));
	close(fd);
	return err;
}

/* As sqlite does with its database and the shared memory of its log. */
static int op_lock(char **a, struct probe_reply *r)
{
	struct flock range = { .l_type = F_WRLCK, .l_whence = SEEK_SET,
			       .l_start = 1 << 20, .l_len = 510 };
	int fd = open(a[0], O_RDWR | O_CREAT | O_CLOEXEC, 0644);
	int err = probe_errno(fd);
	char *p = MAP_FAILED;

	(void)r;
	if (!err)
		err = probe_errno(fcntl(fd, F_SETLK, &range));
	if (!err)
		err = probe_errno(flock(fd, LOCK_EX | LOCK_NB));
	if (!err)
		err = probe_errno(ftruncate(fd, 32768));
	if (!err) {
		p = mmap(NULL, 32768, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
			 0);
		err = p == MAP_FAILED ? errno : 0;
	}
	if (!err) {
		p[4096] = 1;
		err = probe_errno(msync(p, 32768, MS_SYNC));
		munmap(p, 32768);
	}
	if (!err)
		err = probe_errno(fsync(fd));
	if (fd >= 0)
		close(fd);
	return err;
}

/* A second argument's content, written to a name beside and put in place. */
static int op_replace(char **a, struct probe_reply *r)
{
	char beside[1024];
	int fd, err;

	(void)r;
	if (strlen(a[0]) > sizeof(beside) - 8)
		return ENAMETOOLONG;
	strcpy(beside, a[0]);
	strcat(beside, ".new");
	fd = open(beside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	if (fd < 0)
		return errno;
	err = probe_errno(write(fd, a[1], strlen(a[1])));
	if (!err)
		err = probe_errno(fsync(fd));
	close(fd);
	return err ? err : probe_errno(rename(beside, a[0]));
}

/* The subvolume a[0], as it is now, under the name a[1] here. */
static int op_snapshot(char **a, struct probe_reply *r)
{
	struct btrfs_ioctl_vol_args_v2 arg = { 0 };
	int dir = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), err;

	(void)r;
	if (dir < 0)
		return errno;
	arg.fd = open(a[0], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	snprintf(arg.name, sizeof(arg.name), "%s", a[1]);
	err = probe_errno(ioctl(dir, BTRFS_IOC_SNAP_CREATE_V2, &arg));
	close(arg.fd);
	close(dir);
	return err;
}

/* Where the subvolumes below a[0] are, as one who may search that learns it. */
static int op_subvolumes(char **a, struct probe_reply *r)
{
	struct btrfs_ioctl_get_subvol_rootref_args all = { 0 };
	int dir = open(a[0], O_RDONLY | O_DIRECTORY | O_CLOEXEC), err;
	size_t len = 0;

	if (dir < 0)
		return errno;
	err = probe_errno(ioctl(dir, BTRFS_IOC_GET_SUBVOL_ROOTREF, &all));
	for (int i = 0; !err && i < all.num_items; i++) {
		struct btrfs_ioctl_ino_lookup_user_args one = {
			.dirid = all.rootref[i].dirid,
			.treeid = all.rootref[i].treeid,
		};

		err = probe_errno(ioctl(dir, BTRFS_IOC_INO_LOOKUP_USER, &one));
		if (!err && len < sizeof(r->text))
			len += snprintf(r->text + len, sizeof(r->text) - len,
					"%s%s ", one.path, one.name);
	}
	close(dir);
	return err;
}

const struct probe_op probe_storage_ops[] = {
	{ "reflink", 2, op_reflink },	{ "fallocate", 1, op_fallocate },
	{ "lock", 1, op_lock },		{ "replace", 2, op_replace },
	{ "snapshot", 2, op_snapshot },	{ "subvolumes", 1, op_subvolumes },
	{ NULL, 0, NULL },
};
