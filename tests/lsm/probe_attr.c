// SPDX-License-Identifier: GPL-2.0-only
/*
 * Calls whose hooks are told a dentry or an open file, and no path: times,
 * access lists, inode flags, mapping to run, descriptors that arrive.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "descriptor.h"
#include "probe.h"

static const struct timespec then[2] = { { .tv_sec = 1 }, { .tv_sec = 1 } };

/* To now, as any writer may. */
static int op_touch(char **a, struct probe_reply *r)
{
	(void)r;
	return probe_errno(utimensat(AT_FDCWD, a[0], NULL, 0));
}

static int op_lutimes(char **a, struct probe_reply *r)
{
	(void)r;
	return probe_errno(utimensat(AT_FDCWD, a[0], then,
				     AT_SYMLINK_NOFOLLOW));
}

/* Through a descriptor for reading. */
static int op_futimens(char **a, struct probe_reply *r)
{
	int fd = open(a[0], O_RDONLY | O_CLOEXEC);
	int err;

	(void)r;
	if (fd < 0)
		return errno;
	err = probe_errno(futimens(fd, then));
	close(fd);
	return err;
}

static int op_fsetxattr(char **a, struct probe_reply *r)
{
	int fd = open(a[0], O_RDONLY | O_CLOEXEC);
	int err;

	(void)r;
	if (fd < 0)
		return errno;
	err = probe_errno(fsetxattr(fd, a[1], "1", 1, 0));
	close(fd);
	return err;
}

/* An access list that says what mode 640 says, and one user more. */
static const unsigned char acl[] = {
	2, 0, 0, 0,
	1, 0, 6, 0, 255, 255, 255, 255,		/* owner rw- */
	2, 0, 4, 0, 5, 0, 0, 0,			/* user 5 r-- */
	4, 0, 4, 0, 255, 255, 255, 255,		/* group r-- */
	16, 0, 4, 0, 255, 255, 255, 255,	/* mask r-- */
	32, 0, 0, 0, 255, 255, 255, 255,	/* others --- */
};

static int op_setacl(char **a, struct probe_reply *r)
{
	(void)r;
	return probe_errno(setxattr(a[0], "system.posix_acl_access", acl,
				    sizeof(acl), 0));
}

static int op_getacl(char **a, struct probe_reply *r)
{
	char got[256];

	(void)r;
	return probe_errno(getxattr(a[0], "system.posix_acl_access", got,
				    sizeof(got)));
}

static int op_rmacl(char **a, struct probe_reply *r)
{
	(void)r;
	return probe_errno(removexattr(a[0], "system.posix_acl_access"));
}

/* FS_IOC_SETFLAGS through a descriptor for reading; NOATIME needs no right. */
static int op_setflags(char **a, struct probe_reply *r)
{
	int fd = open(a[0], O_RDONLY | O_CLOEXEC);
	int flags = FS_NOATIME_FL, err;

	(void)r;
	if (fd < 0)
		return errno;
	err = probe_errno(ioctl(fd, FS_IOC_SETFLAGS, &flags));
	close(fd);
	return err;
}

static int op_getflags(char **a, struct probe_reply *r)
{
	int fd = open(a[0], O_RDONLY | O_CLOEXEC);
	int flags = 0, err;

	(void)r;
	if (fd < 0)
		return errno;
	err = probe_errno(ioctl(fd, FS_IOC_GETFLAGS, &flags));
	close(fd);
	return err;
}

/* mapexec PATH [LATER]: map it to run, or to read and then to run. */
static int op_mapexec(char **a, struct probe_reply *r)
{
	int fd = open(a[0], O_RDONLY | O_CLOEXEC), err = 0;
	int prot = PROT_READ | (a[1] ? 0 : PROT_EXEC);
	void *p;

	(void)r;
	if (fd < 0)
		return errno;
	p = mmap(NULL, 4096, prot, MAP_PRIVATE, fd, 0);
	if (p == MAP_FAILED)
		err = errno;
	else if (a[1])
		err = probe_errno(mprotect(p, 4096, PROT_READ | PROT_EXEC));
	if (p != MAP_FAILED)
		munmap(p, 4096);
	close(fd);
	return err;
}

/* Receive one descriptor over @sock and read from it. */
static int receive(int sock, struct probe_reply *r)
{
	union {
		char buf[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control;
	char byte;
	struct iovec iov = { &byte, 1 };
	struct msghdr m = {
		.msg_iov = &iov, .msg_iovlen = 1,
		.msg_control = control.buf,
		.msg_controllen = sizeof(control.buf),
	};
	struct cmsghdr *c;
	int fd, err;

	if (recvmsg(sock, &m, MSG_CMSG_CLOEXEC) < 0)
		return errno;
	c = CMSG_FIRSTHDR(&m);
	if (!c || c->cmsg_type != SCM_RIGHTS)
		return EBADF;
	memcpy(&fd, CMSG_DATA(c), sizeof(fd));
	err = probe_errno(read(fd, r->text, sizeof(r->text) - 1));
	close(fd);
	return err;
}

/* Over standard input, which somebody outside holds the other end of. */
static int op_receive(char **a, struct probe_reply *r)
{
	(void)a;
	return receive(0, r);
}

/* To oneself, whatever it is. */
static int pass_fd(int fd, struct probe_reply *r)
{
	int pair[2], err;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair))
		return errno;
	err = descriptor_send(pair[0], fd);
	if (!err)
		err = receive(pair[1], r);
	close(pair[0]);
	close(pair[1]);
	return err;
}

/* Open it, and send it to oneself. */
static int op_pass(char **a, struct probe_reply *r)
{
	int fd = open(a[0], O_RDONLY | O_CLOEXEC), err;

	if (fd < 0)
		return errno;
	err = pass_fd(fd, r);
	close(fd);
	return err;
}

/* Make one, and do with it what is done with a file. */
static int op_nameless(char **a, struct probe_reply *r)
{
	const struct timespec times[2] = { { 1, 0 }, { 1, 0 } };
	int fd = probe_nameless(a[0]), err = probe_errno(fd);

	if (err)
		return err;
	if (!strcmp(a[1], "chmod"))
		err = probe_errno(fchmod(fd, 0600));
	else if (!strcmp(a[1], "chown"))
		err = probe_errno(fchown(fd, getuid(), getgid()));
	else if (!strcmp(a[1], "size"))
		err = probe_errno(ftruncate(fd, 0x400000));
	else if (!strcmp(a[1], "pass"))
		err = pass_fd(fd, r);
	else
		err = probe_errno(futimens(fd, times));
	close(fd);
	return err;
}

/* Marks are all that an ordinary user may set: on one object. */
static int op_fanotify(char **a, struct probe_reply *r)
{
	int fd = syscall(SYS_fanotify_init, 0x200 /* REPORT_FID */, 0);
	int err;

	(void)r;
	if (fd < 0)
		return errno;
	err = probe_errno(syscall(SYS_fanotify_mark, fd, 1 /* ADD */,
				  0x2ULL /* MODIFY */, AT_FDCWD, a[0]));
	close(fd);
	return err;
}

static int op_whiteout(char **a, struct probe_reply *r)
{
	(void)r;
	return probe_errno(syscall(SYS_renameat2, AT_FDCWD, a[0], AT_FDCWD,
				   a[1], 4 /* RENAME_WHITEOUT */));
}

/* The link itself, by a descriptor that stands for it. */
static int op_readlinkfd(char **a, struct probe_reply *r)
{
	int fd = open(a[0], O_PATH | O_NOFOLLOW | O_CLOEXEC);
	int err;

	if (fd < 0)
		return errno;
	err = probe_errno(readlinkat(fd, "", r->text, sizeof(r->text) - 1));
	close(fd);
	return err;
}

const struct probe_op probe_attr_ops[] = {
	{ "touch", 1, op_touch },	{ "lutimes", 1, op_lutimes },
	{ "futimens", 1, op_futimens },	{ "fsetxattr", 2, op_fsetxattr },
	{ "setacl", 1, op_setacl },	{ "getacl", 1, op_getacl },
	{ "rmacl", 1, op_rmacl },	{ "setflags", 1, op_setflags },
	{ "getflags", 1, op_getflags },	{ "mapexec", 1, op_mapexec },
	{ "receive", 0, op_receive },	{ "pass", 1, op_pass },
	{ "fanotify", 1, op_fanotify },	{ "whiteout", 2, op_whiteout },
	{ "readlinkfd", 1, op_readlinkfd },
	{ "nameless", 2, op_nameless },
	{ NULL, 0, NULL },
};
