// SPDX-License-Identifier: GPL-2.0-only
/*
 * Files that a user names. Everything is opened in the user's place, without
 * blocking, and looked at before it is used.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <linux/magic.h>

#include "cleanup.h"
#include "named.h"

#define PIPE_WAIT_MS 10000	/* for the next bytes of a policy in a pipe */
#define UP_MAX 4096		/* directories between a file and / */

static int open_as(const struct identity *id, int dir, const char *path,
		   int flags)
{
	int fd = identity_enter(id, &id->opener);

	if (fd)
		return fd;
	fd = openat(dir, path, flags | O_CLOEXEC | O_NOCTTY, 0600);
	if (fd < 0)
		fd = -errno;
	identity_enter(id, NULL);
	return fd;
}

/* Read to the end, in the opener's place: some files check at each read. */
static ssize_t read_all(int fd, char *buf, size_t max)
{
	size_t len = 0;

	while (len < max) {
		struct pollfd p = { .fd = fd, .events = POLLIN };
		ssize_t n = read(fd, buf + len, max - len);

		if (!n)
			break;
		if (n > 0)
			len += n;
		else if (errno == EAGAIN && !poll(&p, 1, PIPE_WAIT_MS))
			return -ETIMEDOUT;
		else if (errno != EAGAIN && errno != EINTR)
			return -errno;
	}
	return len;
}

int named_read(const struct identity *id, const char *what, const char *path,
	       size_t max, char **buf, size_t *len, struct err *e)
{
	_cleanup_close_ int fd = open_as(id, AT_FDCWD, path,
					 O_RDONLY | O_NONBLOCK);
	_cleanup_free_ char *text = NULL;
	struct stat st;
	ssize_t n;

	if (fd < 0)
		return err_sys(e, fd, "%s %s", what, path);
	if (fstat(fd, &st))
		return err_sys(e, -errno, "%s %s", what, path);
	if (!S_ISREG(st.st_mode) && !S_ISFIFO(st.st_mode))
		return err_set(e, -EINVAL, "%s %s: neither a regular file nor "
			       "a pipe", what, path);
	text = malloc(max + 2);
	if (!text)
		return err_sys(e, -ENOMEM, "%s %s", what, path);
	n = identity_enter(id, &id->opener);
	if (!n)
		n = read_all(fd, text, max + 1);
	identity_enter(id, NULL);
	if (n < 0)
		return err_sys(e, n, "%s %s", what, path);
	if ((size_t)n > max)
		return err_set(e, -EFBIG, "%s %s: larger than %zu bytes", what,
			       path, max);
	text[n] = 0;
	*len = n;
	*buf = take_str(&text);
	return 0;
}

static bool same(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* The writable root that is @st itself, or NULL. */
static const char *root_at(const struct stat *st, const struct table *t)
{
	struct stat root;
	size_t i;

	for (i = 0; t && i < t->writable_count; i++)
		if (!stat(t->writable[i], &root) && same(&root, st))
			return t->writable[i];
	return NULL;
}

/* The writable root at or above the directory @dir, or NULL. */
static const char *root_above(int dir, const struct table *t)
{
	_cleanup_close_ int fd = openat(dir, ".", O_PATH | O_CLOEXEC);
	struct stat st, last = {};
	int level;

	for (level = 0; level < UP_MAX; level++) {
		const char *root;
		int up;

		if (fd < 0 || fstat(fd, &st))
			return "an unknown place";
		if (level && same(&st, &last))
			return NULL;
		root = root_at(&st, t);
		if (root)
			return root;
		last = st;
		up = openat(fd, "..", O_PATH | O_CLOEXEC);
		close(fd);
		fd = up;
	}
	return "a place too deep to tell";
}

static int in_session(struct err *e, const char *what, const char *path,
		      const char *root)
{
	return err_set(e, -EPERM, "%s %s: the session can write there (%s); "
		       "put it outside the writable roots", what, path, root);
}

/* A file whose bytes mean something to the kernel is no place for output. */
static bool is_plain(int fd)
{
	static const unsigned long odd[] = {
		PROC_SUPER_MAGIC, SYSFS_MAGIC, CGROUP_SUPER_MAGIC,
		CGROUP2_SUPER_MAGIC, DEBUGFS_MAGIC, TRACEFS_MAGIC,
		SECURITYFS_MAGIC, BPF_FS_MAGIC, SELINUX_MAGIC, SMACK_MAGIC,
		EFIVARFS_MAGIC, PSTOREFS_MAGIC, 0x62656570 /* configfs */,
	};
	struct statfs fs;
	size_t i;

	if (fstatfs(fd, &fs))
		return false;
	for (i = 0; i < sizeof(odd) / sizeof(*odd); i++)
		if ((unsigned long)fs.f_type == odd[i])
			return false;
	return true;
}

static int split(const char *path, char **dir, const char **base)
{
	const char *slash = strrchr(path, '/');

	*base = slash ? slash + 1 : path;
	if (!**base || !strcmp(*base, ".") || !strcmp(*base, ".."))
		return -EISDIR;
	*dir = !slash ? strdup(".") :
	       slash == path ? strdup("/") : strndup(path, slash - path);
	return *dir ? 0 : -ENOMEM;
}

/* The directory that @path lies in: not one where the session can write. */
static int directory_of(const struct identity *id, const char *what,
			const char *path, const struct table *t,
			const char **base, struct err *e)
{
	_cleanup_free_ char *dir_path = NULL;
	_cleanup_close_ int dir = -1;
	const char *root;
	int ret = split(path, &dir_path, base);

	if (ret)
		return err_sys(e, ret, "%s %s", what, path);
	dir = open_as(id, AT_FDCWD, dir_path, O_PATH | O_DIRECTORY);
	if (dir < 0)
		return err_sys(e, dir, "%s %s", what, path);
	root = root_above(dir, t);
	return root ? in_session(e, what, path, root) : take_fd(&dir);
}

/* Is the file at @fd one that we write? */
static int check_file(int fd, const char *what, const char *path,
		      const struct table *t, struct stat *st, struct err *e)
{
	const char *root;

	if (fstat(fd, st))
		return err_sys(e, -errno, "%s %s", what, path);
	if (!S_ISREG(st->st_mode) || !is_plain(fd))
		return err_set(e, -EINVAL, "%s %s: not a regular file", what,
			       path);
	root = root_at(st, t);
	return root ? in_session(e, what, path, root) : 0;
}

static int is_link(struct err *e, const char *what, const char *path)
{
	return err_set(e, -ELOOP, "%s %s: is a symbolic link; name the file "
		       "itself", what, path);
}

int named_output(const struct identity *id, const char *what,
		 const char *path, const struct table *t, struct err *e)
{
	_cleanup_close_ int dir = -1;
	_cleanup_close_ int fd = -1;
	const char *base;
	struct stat st;
	int ret;

	dir = directory_of(id, what, path, t, &base, e);
	if (dir < 0)
		return dir;
	fd = open_as(id, dir, base, O_WRONLY | O_CREAT | O_NOFOLLOW |
		     O_NONBLOCK | O_APPEND);
	if (fd == -ELOOP)
		return is_link(e, what, path);
	if (fd < 0)
		return err_sys(e, fd, "%s %s", what, path);
	ret = check_file(fd, what, path, t, &st, e);
	return ret ? ret : take_fd(&fd);
}

/* A name beside @w's own that nobody else has. */
static int open_beside(const struct identity *id, const struct named_whole *w,
		       char *name, size_t size)
{
	int fd, i;

	for (i = 0; i < 100; i++) {
		snprintf(name, size, ".%.200s.%d.%d", w->base, getpid(), i);
		fd = open_as(id, w->dir, name, O_WRONLY | O_CREAT | O_EXCL |
			     O_NOFOLLOW);
		if (fd != -EEXIST)
			return fd;
	}
	return -EEXIST;
}

/* Rename @from to @w's name, or where @to is NULL remove it, as the user. */
static int move(const struct identity *id, const struct named_whole *w,
		const char *from, const char *to)
{
	int ret = identity_enter(id, &id->opener);

	if (ret)
		return ret;
	if (to ? renameat(w->dir, from, w->dir, to) :
		 unlinkat(w->dir, from, 0))
		ret = -errno;
	identity_enter(id, NULL);
	return ret;
}

/* What is there has to go: an old one must not be taken for this run's. */
static int clear(const struct identity *id, const char *what, const char *path,
		 const struct table *t, struct named_whole *w, struct err *e)
{
	_cleanup_close_ int fd = open_as(id, w->dir, w->base,
					 O_WRONLY | O_NOFOLLOW | O_NONBLOCK);
	struct stat st;
	int ret;

	if (fd == -ENOENT)
		return 0;
	if (fd == -ELOOP)
		return is_link(e, what, path);
	if (fd == -ENXIO)
		return err_set(e, fd, "%s %s: not a regular file", what, path);
	if (fd < 0)
		return err_sys(e, fd, "%s %s", what, path);
	ret = check_file(fd, what, path, t, &st, e);
	if (ret)
		return ret;
	w->mode = st.st_mode & 0666;
	ret = move(id, w, w->base, NULL);
	return ret ? err_sys(e, ret, "%s %s: cannot be replaced", what, path) :
		     0;
}

/* Can the user make a file there? Now is the time to find out. */
static int check_directory(const struct identity *id, int dir)
{
	int ret = identity_enter(id, &id->opener);

	if (ret)
		return ret;
	if (faccessat(dir, ".", W_OK | X_OK, AT_EACCESS))
		ret = -errno;
	identity_enter(id, NULL);
	return ret;
}

int named_whole(const struct identity *id, const char *what, const char *path,
		const struct table *t, struct named_whole *w, struct err *e)
{
	struct named_whole new = { .mode = 0600 };
	const char *base;
	int ret;

	new.dir = directory_of(id, what, path, t, &base, e);
	if (new.dir < 0)
		return new.dir;
	new.base = strdup(base);
	ret = new.base ? check_directory(id, new.dir) : -ENOMEM;
	if (!is_plain(new.dir))
		ret = err_set(e, -EINVAL, "%s %s: not a regular file", what,
			      path);
	else if (ret)
		err_sys(e, ret, "%s %s: no file can be made there", what, path);
	else
		ret = clear(id, what, path, t, &new, e);
	if (ret)
		named_whole_free(&new);
	else
		*w = new;
	return ret;
}

int named_whole_put(const struct identity *id, const struct named_whole *w,
		    const char *text, size_t len)
{
	char name[256];
	_cleanup_close_ int fd = open_beside(id, w, name, sizeof(name));
	size_t done = 0;
	int ret = 0;

	if (fd < 0)
		return fd;
	while (!ret && done < len) {
		ssize_t n = write(fd, text + done, len - done);

		if (n > 0)
			done += n;
		else if (!n || errno != EINTR)
			ret = n ? -errno : -EIO;
	}
	/* On the disk before its name is: after a crash too, whole or none. */
	if (!ret && (fchmod(fd, w->mode) || fdatasync(fd)))
		ret = -errno;
	if (!ret)
		ret = move(id, w, name, w->base);
	if (ret)
		move(id, w, name, NULL);
	return ret;
}

void named_whole_free(struct named_whole *w)
{
	close_fd(&w->dir);
	free(w->base);
	w->base = NULL;
}

/* Where descriptor @fd's file lies, if it lies in a directory at all. */
static int parent_of(int fd)
{
	char link[64], path[4096], *slash;
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, path, sizeof(path) - 1);
	if (n <= 0 || path[0] != '/')
		return -ENOENT;
	path[n] = 0;
	slash = strrchr(path, '/');
	slash[slash == path] = 0;
	return open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

int named_descriptor(const char *what, int fd, const struct table *t,
		     struct err *e)
{
	_cleanup_close_ int dir = -1;
	struct stat st, std;
	char name[32];
	const char *root = NULL;
	int i, mode, copy;

	snprintf(name, sizeof(name), "descriptor %d", fd);
	mode = fcntl(fd, F_GETFL);
	if (mode < 0 || fstat(fd, &st))
		return err_sys(e, -errno, "%s: %s", what, name);
	if ((mode & O_ACCMODE) == O_RDONLY)
		return err_set(e, -EBADF, "%s: %s is not open for writing",
			       what, name);
	for (i = 0; i <= 2; i++)
		if (!fstat(i, &std) && same(&st, &std) &&
		    !(S_ISCHR(st.st_mode) && st.st_rdev == makedev(1, 3)))
			return err_set(e, -EINVAL, "%s: %s is the same file "
				       "as the command's descriptor %d", what,
				       name, i);
	if (S_ISREG(st.st_mode)) {
		if (!is_plain(fd))
			return err_set(e, -EINVAL, "%s: %s is no plain file",
				       what, name);
		root = root_at(&st, t);
		dir = parent_of(fd);
		if (!root && dir >= 0)
			root = root_above(dir, t);
		if (root)
			return in_session(e, what, name, root);
	}
	copy = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	return copy < 0 ? err_sys(e, -errno, "%s", what) : copy;
}

int named_directory(const struct identity *id, const char *what,
		    const char *path, struct err *e)
{
	int fd = identity_enter(id, &id->user);

	if (!fd) {
		fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
		/* Without search permission nothing in it can be reached. */
		if (fd >= 0 && faccessat(fd, ".", X_OK, AT_EACCESS)) {
			int saved = errno;

			close(fd);
			errno = saved;
			fd = -1;
		}
		if (fd < 0)
			fd = -errno;
		identity_enter(id, NULL);
	}
	return fd < 0 ? err_sys(e, fd, "%s %s", what, path) : fd;
}
