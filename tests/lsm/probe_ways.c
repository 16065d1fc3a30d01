// SPDX-License-Identifier: GPL-2.0-only
/*
 * Other ways to an effect that some better known call has: by descriptors, by
 * empty paths, by copies inside the kernel, and below where a path can reach.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "probe.h"

/* Do @call on a descriptor that is opened so, and close it. */
#define WITH(fd, path, flags, call)					\
	({								\
		int fd = open(path, (flags) | O_CLOEXEC | O_NONBLOCK);	\
		int e_ = fd < 0 ? errno : (call);			\
									\
		if (fd >= 0)						\
			close(fd);					\
		e_;							\
	})

/* BELOW DIR N OP ARG...: N directories "d" deeper, then OP from there. */
static int op_below(char **a, struct probe_reply *r)
{
	int back = open(".", O_PATH | O_CLOEXEC);
	int fd = open(a[0], O_PATH | O_CLOEXEC);
	char part[2 * 2000 + 1] = "";
	int err = probe_errno(fd);

	for (int left = atoi(a[1]); left > 0 && !err; left -= 2000) {
		int n = left < 2000 ? left : 2000, next;

		for (int i = 0; i < n; i++)
			memcpy(part + 2 * i, "d/", 2);
		part[2 * n] = 0;
		next = openat(fd, part, O_PATH | O_CLOEXEC);
		err = probe_errno(next);
		close(fd);
		fd = next;
	}
	if (!err)
		err = probe_errno(fchdir(fd));
	if (!err) {
		err = probe_run(a + 2, r);
		if (fchdir(back))
			err = EIO;
	}
	close(fd);
	close(back);
	return err;
}

static int op_linkempty(char **a, struct probe_reply *r)
{
	(void)r;
	return WITH(fd, a[0], O_PATH, probe_errno(
		linkat(fd, "", AT_FDCWD, a[1], AT_EMPTY_PATH)));
}

static int op_creat(char **a, struct probe_reply *r)
{
	int fd = creat(a[0], 0644);

	(void)r;
	if (fd < 0)
		return errno;
	close(fd);
	return 0;
}

static int op_statx(char **a, struct probe_reply *r)
{
	struct statx st;

	(void)r;
	return WITH(fd, a[0], O_PATH | O_NOFOLLOW, probe_errno(
		statx(fd, "", AT_EMPTY_PATH, STATX_BASIC_STATS, &st)));
}

static int op_readlinkat(char **a, struct probe_reply *r)
{
	return WITH(fd, a[0], O_PATH | O_NOFOLLOW, probe_errno(
		readlinkat(fd, "", r->text, sizeof(r->text) - 1)));
}

static int op_statfs(char **a, struct probe_reply *r)
{
	struct statfs fs;

	(void)r;
	return probe_errno(statfs(a[0], &fs));
}

static int op_access(char **a, struct probe_reply *r)
{
	(void)r;
	return probe_errno(access(a[0], R_OK));
}

/* HOW FROM TO: bytes that only the kernel carries. */
static int op_carry(char **a, struct probe_reply *r)
{
	int in = open(a[1], O_RDONLY | O_CLOEXEC), out = -1, pair[2];
	int err = probe_errno(in);
	long n = -1;

	(void)r;
	if (!err) {
		out = open(a[2], O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
		err = probe_errno(out);
	}
	if (!err && pipe2(pair, O_CLOEXEC))
		return errno;
	if (!err) {
		if (!strcmp(a[0], "sendfile"))
			n = sendfile(out, in, NULL, 4);
		else if (!strcmp(a[0], "clone"))
			n = ioctl(out, FICLONE, in);
		else if (!strcmp(a[0], "range"))
			n = copy_file_range(in, NULL, out, NULL, 4, 0);
		else if (splice(in, NULL, pair[1], NULL, 4, 0) == 4)
			n = splice(pair[0], NULL, out, NULL, 4, 0);
		err = probe_errno(n);
		close(pair[0]);
		close(pair[1]);
	}
	close(in);
	close(out);
	return err;
}

/* HOW PATH: content that no write(2) changed. */
static int op_alter(char **a, struct probe_reply *r)
{
	void *p;

	(void)r;
	if (!strcmp(a[0], "punch"))
		return WITH(fd, a[1], O_RDWR, probe_errno(fallocate(fd,
			FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, 4)));
	if (!strcmp(a[0], "grow"))
		return WITH(fd, a[1], O_RDWR, probe_errno(
			fallocate(fd, 0, 0, 8192)));
	if (!strcmp(a[0], "pwritev2"))
		return WITH(fd, a[1], O_RDWR, probe_errno(
			pwritev2(fd, &(struct iovec){ "Z", 1 }, 1, -1,
				 RWF_APPEND)));
	/* shared, of a descriptor open for reading, then made writable */
	return WITH(fd, a[1], O_RDONLY, ({
		int e = 0;

		p = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);
		if (p == MAP_FAILED || mprotect(p, 4096, PROT_READ |
						PROT_WRITE))
			e = errno;
		if (p != MAP_FAILED)
			munmap(p, 4096);
		e;
	}));
}

static int by_descriptor(const char *how, int fd)
{
	static const struct timespec t[2] = { { .tv_sec = 1 },
					      { .tv_sec = 1 } };
	char name[64];
	int flags = 0;

	snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
	if (!strcmp(how, "fchmod"))
		return fchmod(fd, 0700);
	if (!strcmp(how, "procchmod"))
		return chmod(name, 0700);
	if (!strcmp(how, "fchmodat2"))
		return syscall(452, fd, "", 0700, AT_EMPTY_PATH);
	if (!strcmp(how, "fchown"))
		return fchown(fd, geteuid(), getegid());
	if (!strcmp(how, "fchownat"))
		return fchownat(fd, "", geteuid(), getegid(), AT_EMPTY_PATH);
	if (!strcmp(how, "futimens"))
		return futimens(fd, t);
	if (!strcmp(how, "now"))
		return futimens(fd, NULL);
	if (!strcmp(how, "proctimes"))
		return utimensat(AT_FDCWD, name, t, 0);
	if (!strcmp(how, "fsetxattr"))
		return fsetxattr(fd, "user.x", "1", 1, 0);
	if (!strcmp(how, "fremovexattr"))
		return fremovexattr(fd, "user.x");
	if (!strcmp(how, "setflags"))
		return ioctl(fd, FS_IOC_GETFLAGS, &flags) ? -1 :
		       ioctl(fd, FS_IOC_SETFLAGS, &flags);
	if (!strcmp(how, "lease"))
		return fcntl(fd, F_SETLEASE, F_RDLCK);
	if (!strcmp(how, "dnotify"))
		return fcntl(fd, F_NOTIFY, DN_CREATE);
	if (!strcmp(how, "lock"))
		return syscall(SYS_flock, fd, 1 /* LOCK_SH */);
	errno = EINVAL;
	return -1;
}

/* HOW PATH: by a descriptor that is open for reading; "p": O_PATH. */
static int op_by(char **a, struct probe_reply *r)
{
	int flags = a[2] && *a[2] == 'p' ? O_PATH : O_RDONLY;

	(void)r;
	return WITH(fd, a[1], flags, probe_errno(by_descriptor(a[0], fd)));
}

/* Run what an O_PATH descriptor is open on. */
static int op_execveat(char **a, struct probe_reply *r)
{
	char *argv[] = { a[0], "pid", NULL }, *env[] = { NULL };
	int pair[2], status, err = 0, fd = open(a[0], O_PATH);
	pid_t pid;

	if (fd < 0 || pipe2(pair, O_CLOEXEC))
		return errno;
	pid = fork();
	if (!pid) {
		dup2(2, 1);	/* ours carries the replies */
		syscall(SYS_execveat, fd, "", argv, env, AT_EMPTY_PATH);
		err = errno;
		_exit(write(pair[1], &err, sizeof(err)) < 0);
	}
	close(fd);
	close(pair[1]);
	if (pid < 0 || read(pair[0], &err, sizeof(err)) < 0)
		err = EIO;
	close(pair[0]);
	waitpid(pid, &status, 0);
	r->value = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
	return err;
}

/* A B NAME: from now on the link NAME leads to A and to B in turn. */
static int op_flips(char **a, struct probe_reply *r)
{
	pid_t pid = fork();

	(void)r;
	if (pid)
		return pid < 0 ? errno : 0;
	for (;;)
		for (int i = 0; i < 2; i++) {
			unlink("flip.t");
			if (symlink(a[i], "flip.t") || rename("flip.t", a[2]))
				_exit(1);
		}
}

static int op_getdents(char **a, struct probe_reply *r)
{
	char buf[2048];

	(void)r;
	return WITH(fd, a[0], O_RDONLY, probe_errno(
		syscall(SYS_getdents64, fd, buf, sizeof(buf))));
}

static int kept_file = -1, kept_dir = -1, kept_watch = -1;

/* DIR FILE: from now on they are open, and DIR is watched. */
static int op_keep(char **a, struct probe_reply *r)
{
	(void)r;
	kept_dir = open(a[0], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	kept_file = open(a[1], O_RDWR | O_CLOEXEC);
	kept_watch = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	if (kept_dir < 0 || kept_file < 0 || kept_watch < 0)
		return errno;
	return probe_errno(inotify_add_watch(kept_watch, a[0], IN_CREATE));
}

/* HOW [NAME]: use of what is kept. */
static int op_kept(char **a, struct probe_reply *r)
{
	char path[64];
	ssize_t n;

	if (!strcmp(a[0], "read"))
		return probe_errno(pread(kept_file, path, 1, 0));
	if (!strcmp(a[0], "write"))
		return probe_errno(pwrite(kept_file, "x", 1, 0));
	if (!strcmp(a[0], "truncate"))
		return probe_errno(ftruncate(kept_file, 1));
	if (!strcmp(a[0], "list"))
		return probe_errno(syscall(SYS_getdents64, kept_dir, r->text,
					   sizeof(r->text)));
	if (!strcmp(a[0], "at"))
		return probe_errno(openat(kept_dir, a[1],
					  O_RDONLY | O_CLOEXEC));
	if (!strcmp(a[0], "told")) {
		n = read(kept_watch, r->text, sizeof(r->text));
		r->text[0] = 0;	/* names are beyond a zero */
		return n < 0 ? errno : 0;
	}
	snprintf(path, sizeof(path), "/proc/self/fd/%d", kept_file);
	return probe_errno(open(path, O_RDONLY | O_CLOEXEC));
}

const struct probe_op probe_ways_ops[] = {
	{ "below", 3, op_below },	{ "linkempty", 2, op_linkempty },
	{ "creat", 1, op_creat },	{ "statx", 1, op_statx },
	{ "readlinkat", 1, op_readlinkat },
	{ "statfs", 1, op_statfs },	{ "carry", 3, op_carry },
	{ "alter", 2, op_alter },	{ "by", 2, op_by },
	{ "execveat", 1, op_execveat },
	{ "getdents", 1, op_getdents },	{ "flips", 3, op_flips },
	{ "access", 1, op_access },	{ "keep", 2, op_keep },
	{ "kept", 1, op_kept },		{ NULL, 0, NULL },
};
