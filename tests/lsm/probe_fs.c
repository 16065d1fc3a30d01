// SPDX-License-Identifier: GPL-2.0-only
/*
 * Calls that reach content or change names.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include "probe.h"

/* r w a + c x t d p T n: read, write, append, both, O_CREAT, O_EXCL, O_TRUNC,
 * O_DIRECTORY, O_PATH, O_TMPFILE, O_NOFOLLOW.
 */
int probe_open_flags(const char *how)
{
	int flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;

	for (; *how; how++)
		switch (*how) {
		case 'w': flags |= O_WRONLY; break;
		case 'a': flags |= O_WRONLY | O_APPEND; break;
		case '+': flags |= O_RDWR; break;
		case 'c': flags |= O_CREAT; break;
		case 'x': flags |= O_EXCL; break;
		case 't': flags |= O_TRUNC; break;
		case 'd': flags |= O_DIRECTORY; break;
		case 'p': flags |= O_PATH; break;
		case 'T': flags |= O_TMPFILE; break;
		case 'n': flags |= O_NOFOLLOW; break;
		}
	return flags;
}

static void slurp(int fd, struct probe_reply *r)
{
	ssize_t n = read(fd, r->text, sizeof(r->text) - 1);

	r->text[n > 0 ? n : 0] = 0;
}

static int op_open(char **a, struct probe_reply *r)
{
	int fd = open(a[0], probe_open_flags(a[1]), 0644);

	if (fd < 0)
		return errno;
	slurp(fd, r);
	close(fd);
	return 0;
}

static int op_write(char **a, struct probe_reply *r)
{
	int fd = open(a[0], O_WRONLY | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0644);
	int err;

	(void)r;
	if (fd < 0)
		return errno;
	err = probe_errno(write(fd, a[1], strlen(a[1])));
	close(fd);
	return err;
}

static int op_openat(char **a, struct probe_reply *r)
{
	int dir = open(a[0], O_PATH | O_CLOEXEC);
	int fd, err;

	if (dir < 0)
		return errno;
	fd = openat(dir, a[1], probe_open_flags(a[2]), 0644);
	err = probe_errno(fd);
	if (!err)
		slurp(fd, r);
	close(dir);
	close(fd);
	return err;
}

static int op_fchdir(char **a, struct probe_reply *r)
{
	int dir = open(a[0], O_PATH | O_CLOEXEC);
	int back = open(".", O_PATH | O_CLOEXEC);
	int err = probe_errno(fchdir(dir));

	if (!err)
		err = op_open(a + 1, r);
	if (fchdir(back))
		return EIO;
	close(dir);
	close(back);
	return err;
}

static int op_openat2(char **a, struct probe_reply *r)
{
	struct open_how how = { .flags = probe_open_flags(a[1]),
				.resolve = strtoull(a[2], NULL, 0) };
	int fd = syscall(SYS_openat2, AT_FDCWD, a[0], &how, sizeof(how));

	if (fd < 0)
		return errno;
	slurp(fd, r);
	close(fd);
	return 0;
}

/* O_PATH first, then the same object through /proc/self/fd. */
static int op_reopen(char **a, struct probe_reply *r)
{
	char name[64];
	char *again[] = { name, a[1] };
	int fd = open(a[0], O_PATH | O_CLOEXEC);
	int err;

	if (fd < 0)
		return errno;
	snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
	err = op_open(again, r);
	close(fd);
	return err;
}

static int op_handle(char **a, struct probe_reply *r)
{
	union {
		struct file_handle h;
		char room[sizeof(struct file_handle) + MAX_HANDLE_SZ];
	} u = { .h.handle_bytes = MAX_HANDLE_SZ };
	int mount_id, at, fd, err;

	if (name_to_handle_at(AT_FDCWD, a[0], &u.h, &mount_id, 0))
		return errno;
	at = open(a[1], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	fd = open_by_handle_at(at, &u.h, O_RDONLY | O_CLOEXEC);
	err = probe_errno(fd);
	if (!err)
		slurp(fd, r);
	close(at);
	close(fd);
	return err;
}

static int op_list(char **a, struct probe_reply *r)
{
	DIR *dir = opendir(a[0]);
	struct dirent *d;
	size_t at = 0;

	if (!dir)
		return errno;
	while ((d = readdir(dir)) && at < sizeof(r->text) - 1)
		if (strcmp(d->d_name, ".") && strcmp(d->d_name, ".."))
			at += snprintf(r->text + at, sizeof(r->text) - at,
				       "%s ", d->d_name);
	closedir(dir);
	return 0;
}

static int op_mkdir(char **a, struct probe_reply *r)
{
	(void)r;
	return probe_errno(mkdir(a[0], 0755));
}

/* The second argument: f, r, c, b or s, as mknod(1) and S_IFREG, S_IFSOCK. */
static int op_mknod(char **a, struct probe_reply *r)
{
	mode_t type = *a[1] == 'f' ? S_IFIFO : *a[1] == 'c' ? S_IFCHR :
		      *a[1] == 'b' ? S_IFBLK : *a[1] == 's' ? S_IFSOCK :
		      S_IFREG;

	(void)r;
	return probe_errno(mknod(a[0], type | 0644, makedev(1, 3)));
}

static int op_unlink(char **a, struct probe_reply *r)
{
	(void)r;
	return probe_errno(unlink(a[0]));
}

static int op_rmdir(char **a, struct probe_reply *r)
{
	(void)r;
	return probe_errno(rmdir(a[0]));
}

/* The third argument: n, x, w for NOREPLACE, EXCHANGE, WHITEOUT. */
static int op_rename(char **a, struct probe_reply *r)
{
	unsigned int flags = 0;

	(void)r;
	if (a[2])
		flags = *a[2] == 'n' ? RENAME_NOREPLACE :
			*a[2] == 'x' ? RENAME_EXCHANGE :
			*a[2] == 'w' ? RENAME_WHITEOUT : 0;
	return probe_errno(renameat2(AT_FDCWD, a[0], AT_FDCWD, a[1], flags));
}

static int op_link(char **a, struct probe_reply *r)
{
	(void)r;
	return probe_errno(link(a[0], a[1]));
}

/* Link through a descriptor: the source is named by /proc/self/fd. */
static int op_linkfd(char **a, struct probe_reply *r)
{
	char name[64];
	int fd = open(a[0], O_PATH | O_CLOEXEC);
	int err;

	(void)r;
	if (fd < 0)
		return errno;
	snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
	err = probe_errno(linkat(AT_FDCWD, name, AT_FDCWD, a[1],
				 AT_SYMLINK_FOLLOW));
	close(fd);
	return err;
}

static int op_symlink(char **a, struct probe_reply *r)
{
	(void)r;
	return probe_errno(symlink(a[0], a[1]));
}

static int op_truncate(char **a, struct probe_reply *r)
{
	(void)r;
	return probe_errno(truncate(a[0], 0));
}

static int op_ftruncate(char **a, struct probe_reply *r)
{
	int fd = open(a[0], O_WRONLY | O_CLOEXEC);
	int err;

	(void)r;
	if (fd < 0)
		return errno;
	err = probe_errno(ftruncate(fd, 1));
	close(fd);
	return err;
}

/* An unnamed file in a directory, then a name for it. */
static int op_tmpfile(char **a, struct probe_reply *r)
{
	char name[64];
	mode_t mode = a[1] && a[2] ? strtol(a[2], NULL, 8) : 0600;
	int fd = open(a[0], O_TMPFILE | O_RDWR | O_CLOEXEC, mode);
	int err = probe_errno(fd);

	(void)r;
	if (!err && ftruncate(fd, 1))
		err = errno;
	snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
	if (!err && a[1])
		err = probe_errno(linkat(AT_FDCWD, name, AT_FDCWD, a[1],
					 AT_SYMLINK_FOLLOW));
	close(fd);
	return err;
}

/* As programs make one; .value: why it gets no name in DIR. */
static int op_ctmpfile(char **a, struct probe_reply *r)
{
	FILE *f = tmpfile();
	char from[64], to[256];

	if (!f)
		return errno;
	fputs("hello", f);
	rewind(f);
	if (!fgets(r->text, sizeof(r->text), f))
		r->text[0] = 0;
	snprintf(from, sizeof(from), "/proc/self/fd/%d", fileno(f));
	snprintf(to, sizeof(to), "%s/named", a[0]);
	r->value = probe_errno(linkat(AT_FDCWD, from, AT_FDCWD, to,
				      AT_SYMLINK_FOLLOW));
	fclose(f);
	return 0;
}

static int op_mmap(char **a, struct probe_reply *r)
{
	int flags = *a[1] == 'w' ? O_RDWR : O_RDONLY;
	int fd = open(a[0], flags | O_CLOEXEC);
	int err;
	void *p;

	(void)r;
	if (fd < 0)
		return errno;
	p = mmap(NULL, 4096, *a[1] == 'x' ? PROT_READ | PROT_EXEC : PROT_READ,
		 MAP_SHARED, fd, 0);
	err = p == MAP_FAILED ? errno : 0;
	/* The upgrade that a read-only descriptor must not allow. */
	if (!err && *a[1] == 'u')
		err = probe_errno(mprotect(p, 4096, PROT_READ | PROT_WRITE));
	if (p != MAP_FAILED)
		munmap(p, 4096);
	close(fd);
	return err;
}

static int op_copy(char **a, struct probe_reply *r)
{
	int in = open(a[0], O_RDONLY | O_CLOEXEC);
	int out, err;

	(void)r;
	if (in < 0)
		return errno;
	out = open(a[1], O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
	err = probe_errno(out);
	if (!err)
		err = probe_errno(copy_file_range(in, NULL, out, NULL, 64, 0));
	close(in);
	close(out);
	return err;
}

static int op_exec(char **a, struct probe_reply *r)
{
	int pair[2], status, err = 0;
	pid_t pid;

	(void)r;
	if (pipe2(pair, O_CLOEXEC))
		return errno;
	pid = fork();
	if (pid < 0)
		return errno;
	if (!pid) {
		int null = open("/dev/null", O_RDWR);

		dup2(null, 0);
		dup2(null, 1);
		execv(a[0], a);
		err = errno;
		_exit(write(pair[1], &err, sizeof(err)) < 0);
	}
	close(pair[1]);
	if (read(pair[0], &err, sizeof(err)) < 0)
		err = EIO;
	close(pair[0]);
	waitpid(pid, &status, 0);
	r->value = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
	return err;
}

static int op_chdir(char **a, struct probe_reply *r)
{
	(void)r;
	return probe_errno(chdir(a[0]));
}

const struct probe_op probe_fs_ops[] = {
	{ "open", 2, op_open },		{ "write", 2, op_write },
	{ "openat", 3, op_openat },	{ "openat2", 3, op_openat2 },
	{ "fchdir", 3, op_fchdir },	{ "reopen", 2, op_reopen },
	{ "handle", 2, op_handle },	{ "list", 1, op_list },
	{ "mkdir", 1, op_mkdir },	{ "mknod", 2, op_mknod },
	{ "unlink", 1, op_unlink },	{ "rmdir", 1, op_rmdir },
	{ "rename", 2, op_rename },	{ "link", 2, op_link },
	{ "linkfd", 2, op_linkfd },	{ "symlink", 2, op_symlink },
	{ "truncate", 1, op_truncate },	{ "ftruncate", 1, op_ftruncate },
	{ "tmpfile", 1, op_tmpfile },	{ "mmap", 2, op_mmap },
	{ "ctmpfile", 1, op_ctmpfile },
	{ "copy", 2, op_copy },		{ "exec", 1, op_exec },
	{ "chdir", 1, op_chdir },	{ NULL, 0, NULL },
};
