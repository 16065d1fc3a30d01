// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the operations of `lh-policy explain` are as calls: one each, and none
 * besides that a policy could refuse.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "probe.h"

static int opened(const char *path, int flags)
{
	int fd = open(path, flags | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0644);

	if (fd < 0)
		return errno;
	close(fd);
	return 0;
}

static int do_read(char **a)
{
	return opened(a[0], O_RDONLY);
}

static int do_list(char **a)
{
	int fd = open(a[0], O_RDONLY | O_DIRECTORY | O_CLOEXEC), err;
	char buf[4096];

	if (fd < 0)
		return errno;
	err = probe_errno(syscall(SYS_getdents64, fd, buf, sizeof(buf)));
	close(fd);
	return err;
}

static int do_stat(char **a)
{
	struct stat st;

	return probe_errno(stat(a[0], &st));
}

static int do_write(char **a)
{
	return opened(a[0], O_WRONLY);
}

static int do_create(char **a)
{
	return opened(a[0], O_WRONLY | O_CREAT);
}

static int do_mkdir(char **a)
{
	return probe_errno(mkdir(a[0], 0755));
}

static int do_symlink(char **a)
{
	return probe_errno(symlink("anywhere", a[0]));
}

static int do_link(char **a)
{
	return a[1] ? probe_errno(link(a[0], a[1])) : EINVAL;
}

static int do_rename(char **a)
{
	return a[1] ? probe_errno(rename(a[0], a[1])) : EINVAL;
}

/* A look first would be a request of its own. */
static int do_remove(char **a)
{
	int err = probe_errno(unlink(a[0]));

	return err == EISDIR ? probe_errno(rmdir(a[0])) : err;
}

static int do_truncate(char **a)
{
	return probe_errno(truncate(a[0], 0));
}

static int do_chmod(char **a)
{
	return probe_errno(chmod(a[0], 0755));
}

static int do_utimes(char **a)
{
	return probe_errno(utimensat(AT_FDCWD, a[0], NULL, 0));
}

/* Not every file system has attributes; what matters is who says no. */
static int do_setxattr(char **a)
{
	int err = probe_errno(setxattr(a[0], "user.lh", "1", 1, 0));

	return err == EOPNOTSUPP ? 0 : err;
}

static int do_getxattr(char **a)
{
	char value[16];
	int err = probe_errno(getxattr(a[0], "user.lh", value, sizeof(value)));

	return err == EOPNOTSUPP || err == ENODATA ? 0 : err;
}

/* Of what is no link the kernel says EINVAL, once it may be looked at. */
static int do_readlink(char **a)
{
	char target[PATH_MAX];
	int err = probe_errno(readlink(a[0], target, sizeof(target)));

	return err == EINVAL ? 0 : err;
}

static int do_exec(char **a)
{
	char *argv[] = { a[0], "pid", NULL };
	int pair[2], status, err = 0;
	pid_t pid;

	if (pipe2(pair, O_CLOEXEC))
		return errno;
	pid = fork();
	if (pid < 0)
		return errno;
	if (!pid) {
		dup2(2, 1);	/* ours carries the replies */
		execv(a[0], argv);
		err = errno;
		_exit(write(pair[1], &err, sizeof(err)) < 0);
	}
	close(pair[1]);
	if (read(pair[0], &err, sizeof(err)) < 0)
		err = EIO;
	close(pair[0]);
	waitpid(pid, &status, 0);
	return err;
}

static int do_connect(char **a)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	(void)a;
	if (fd < 0)
		return errno;
	close(fd);
	return 0;
}

/* unix:/PATH */
static int do_bind(char **a)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), err;

	if (fd < 0)
		return errno;
	snprintf(to.sun_path, sizeof(to.sun_path), "%s", a[0] + 5);
	err = probe_errno(bind(fd, (struct sockaddr *)&to, sizeof(to)));
	close(fd);
	return err;
}

static int op_table(char **a, struct probe_reply *r)
{
	static const struct {
		const char *name;
		int (*run)(char **a);
	} all[] = {
		{ "read", do_read },		{ "list", do_list },
		{ "stat", do_stat },		{ "write", do_write },
		{ "create", do_create },	{ "mkdir", do_mkdir },
		{ "symlink", do_symlink },	{ "link", do_link },
		{ "rename", do_rename },	{ "remove", do_remove },
		{ "truncate", do_truncate },	{ "chmod", do_chmod },
		{ "utimes", do_utimes },	{ "setxattr", do_setxattr },
		{ "getxattr", do_getxattr },	{ "readlink", do_readlink },
		{ "exec", do_exec },		{ "connect", do_connect },
		{ "bind", do_bind },
	};

	(void)r;
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if (!strcmp(all[i].name, a[0]))
			return all[i].run(a + 1);
	return EINVAL;
}

const struct probe_op probe_table_ops[] = {
	{ "table", 2, op_table },	{ NULL, 0, NULL },
};
