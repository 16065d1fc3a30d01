// SPDX-License-Identifier: GPL-2.0-only
/*
 * Directories that a session gets: made and removed as its user, by
 * descriptor, without following a link.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cleanup.h"
#include "temp.h"

#define DIR_FLAGS (O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
#define PASSES_MAX 100000	/* someone else keeps filling it: give up */

void temp_base(uid_t uid, char out[TEMP_BASE_LEN])
{
	snprintf(out, TEMP_BASE_LEN, "/tmp/lh-%u", uid);
}

bool temp_base_may_be(uid_t uid)
{
	char base[TEMP_BASE_LEN];
	struct stat st;

	temp_base(uid, base);
	return lstat(base, &st) || (S_ISDIR(st.st_mode) && st.st_uid == uid);
}

/* What a session did to its mode, if it may write /tmp, is put right. */
static int set_mode(int fd, const struct stat *st)
{
	char path[32];

	if ((st->st_mode & 07777) == 0700)
		return 0;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return chmod(path, 0700) ? -errno : 0;
}

static int open_base(uid_t uid, bool make, struct err *e)
{
	_cleanup_close_ int at = -1;
	char base[TEMP_BASE_LEN];
	struct stat st;
	int fd, tries = 0;

	temp_base(uid, base);
	do {
		if (make && mkdir(base, 0700) && errno != EEXIST)
			return err_sys(e, -errno, "%s", base);
		at = open(base, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	} while (at < 0 && make && errno == ENOENT && ++tries < 100);
	if (at < 0)
		return err_sys(e, -errno, "%s", base);
	/* /tmp is everyone's: the name may have been taken before us. */
	if (fstat(at, &st) || st.st_uid != uid || set_mode(at, &st))
		return err_set(e, -EPERM, "%s does not belong to user %u "
			       "alone; remove it", base, uid);
	fd = openat(at, ".", DIR_FLAGS);
	return fd < 0 ? err_sys(e, -errno, "%s", base) : fd;
}

/* A session that ends takes the base away when it is the last: try again. */
static int make_below(uid_t uid, const char *session, struct err *e)
{
	int ret = -ENOENT, tries;

	for (tries = 0; ret == -ENOENT && tries < 100; tries++) {
		_cleanup_close_ int base = open_base(uid, true, e);
		_cleanup_close_ int fd = -1;

		if (base < 0)
			return base;
		if (mkdirat(base, session, 0700)) {
			ret = -errno;
			continue;
		}
		fd = openat(base, session, DIR_FLAGS);
		ret = fd < 0 || mkdirat(fd, "git-template", 0700) ? -errno : 0;
	}
	return ret ? err_sys(e, ret, "temp directory /tmp/lh-%u/%s", uid,
			     session) : 0;
}

char *temp_make(const struct identity *id, const char *session, struct err *e)
{
	char *path = NULL;
	mode_t mask;
	int ret = identity_enter(id, &id->user);

	if (ret) {
		err_sys(e, ret, "cannot become user %s", id->name);
		return NULL;
	}
	mask = umask(077);
	ret = make_below(id->user.uid, session, e);
	umask(mask);
	identity_enter(id, NULL);
	if (!ret && asprintf(&path, "/tmp/lh-%u/%s", id->user.uid, session) < 0)
		path = NULL;
	return path;
}

static bool dots(const char *name)
{
	return !strcmp(name, ".") || !strcmp(name, "..");
}

static DIR *open_list(int fd)
{
	int copy = openat(fd, ".", DIR_FLAGS);
	DIR *d = copy < 0 ? NULL : fdopendir(copy);

	if (!d && copy >= 0)
		close(copy);
	return d;
}

/* A file, a link or an empty directory. */
static bool remove_simple(int dir, const char *name)
{
	return !unlinkat(dir, name, 0) || !unlinkat(dir, name, AT_REMOVEDIR);
}

/* Move the directory @name of @from up into @top, under some free name. */
static bool lift(int from, const char *name, int top, unsigned int *serial)
{
	char free_name[32];
	int tries;

	/* Its ".." changes, which takes write permission on itself. */
	fchmodat(from, name, 0700, 0);
	for (tries = 0; tries < 1000; tries++) {
		snprintf(free_name, sizeof(free_name), ".lh-%u", (*serial)++);
		if (!renameat(from, name, top, free_name))
			return true;
		if (errno != EEXIST && errno != ENOTEMPTY && errno != ENOTDIR)
			return false;
	}
	return false;
}

/* Remove the directory @name of @top; what is deeper is moved up first. */
static bool flatten(int top, const char *name, unsigned int *serial)
{
	_cleanup_close_ int fd = openat(top, name, DIR_FLAGS);
	_cleanup_dir_ DIR *d = NULL;
	struct dirent *ent;

	if (fd < 0 && errno == EACCES && !fchmodat(top, name, 0700, 0))
		fd = openat(top, name, DIR_FLAGS);
	if (fd < 0)
		return false;
	fchmod(fd, 0700);
	d = open_list(fd);
	if (!d)
		return false;
	while ((ent = readdir(d)))
		if (!dots(ent->d_name) && !remove_simple(fd, ent->d_name) &&
		    !lift(fd, ent->d_name, top, serial))
			return false;
	return !unlinkat(top, name, AT_REMOVEDIR);
}

static void empty_directory(int top)
{
	unsigned int serial = 0, pass;
	bool progress = true;

	fchmod(top, 0700);
	for (pass = 0; progress && pass < PASSES_MAX; pass++) {
		_cleanup_dir_ DIR *d = open_list(top);
		struct dirent *ent;

		progress = false;
		while (d && (ent = readdir(d)))
			if (!dots(ent->d_name) &&
			    (remove_simple(top, ent->d_name) ||
			     flatten(top, ent->d_name, &serial)))
				progress = true;
	}
}

static int remove_as_user(const struct credentials *c, const char *session)
{
	_cleanup_close_ int base = open_base(c->uid, false, NULL);
	_cleanup_close_ int top = -1;
	char name[TEMP_BASE_LEN];

	if (base < 0)
		return base == -ENOENT ? 0 : base;
	top = openat(base, session, DIR_FLAGS);
	if (top < 0 && errno == EACCES && !fchmodat(base, session, 0700, 0))
		top = openat(base, session, DIR_FLAGS);
	if (top < 0)
		return errno == ENOENT ? 0 : -errno;
	empty_directory(top);
	if (unlinkat(base, session, AT_REMOVEDIR))
		return -errno;
	temp_base(c->uid, name);
	rmdir(name);	/* unless others are in it */
	return 0;
}

int temp_remove(const struct identity *id, const struct credentials *c,
		const char *session)
{
	int ret = identity_enter(id, c);

	if (ret)
		return ret;
	ret = remove_as_user(c, session);
	identity_enter(id, NULL);
	return ret;
}

void temp_each(const struct identity *id, const struct credentials *c,
	       void (*each)(const char *session, void *arg), void *arg)
{
	_cleanup_close_ int base = -1;
	_cleanup_dir_ DIR *d = NULL;
	struct dirent *ent;

	if (identity_enter(id, c))
		return;
	base = open_base(c->uid, false, NULL);
	d = base < 0 ? NULL : open_list(base);
	identity_enter(id, NULL);
	while (d && (ent = readdir(d)))
		if (!dots(ent->d_name))
			each(ent->d_name, arg);
}

/*
 * That we made or removed a name is not for the directory's time to tell: who
 * looks for what a session changed would look in vain. The kernel's own time
 * of change cannot be set back.
 */
static void set_time(int dir, const struct stat *was)
{
	struct timespec t[2] = { { .tv_nsec = UTIME_OMIT }, was->st_mtim };

	futimens(dir, t);	/* of another's directory: not for us to do */
}

static bool cache_make(const char *root)
{
	static const char ignore[] = "*\n";
	_cleanup_close_ int dir = open(root, DIR_FLAGS);
	_cleanup_close_ int cache = -1;
	_cleanup_close_ int file = -1;
	struct stat was;

	if (dir < 0 || fstat(dir, &was))
		return false;
	if (!mkdirat(dir, TEMP_CACHE, 0755))
		set_time(dir, &was);
	else if (errno != EEXIST)
		return false;
	cache = openat(dir, TEMP_CACHE, DIR_FLAGS);
	if (cache < 0)
		return false;
	file = openat(cache, ".gitignore", O_WRONLY | O_CREAT | O_EXCL |
		      O_NOFOLLOW | O_CLOEXEC, 0644);
	if (file < 0)
		return errno == EEXIST;
	return write(file, ignore, sizeof(ignore) - 1) > 0;
}

char *temp_cache_make(const struct identity *id, const char *root)
{
	char *path = NULL;

	if (identity_enter(id, &id->user))
		return NULL;
	if (cache_make(root) && asprintf(&path, "%s/" TEMP_CACHE, root) < 0)
		path = NULL;
	identity_enter(id, NULL);
	return path;
}

static void cache_prune(const char *path)
{
	_cleanup_close_ int fd = open(path, DIR_FLAGS);
	_cleanup_close_ int root = fd < 0 ? -1 : openat(fd, "..", DIR_FLAGS);
	_cleanup_dir_ DIR *d = root < 0 ? NULL : open_list(fd);
	struct dirent *ent;
	struct stat was;

	if (!d || fstat(root, &was))
		return;
	while ((ent = readdir(d)))
		if (!dots(ent->d_name) && strcmp(ent->d_name, ".gitignore"))
			return;
	unlinkat(fd, ".gitignore", 0);
	if (!unlinkat(root, TEMP_CACHE, AT_REMOVEDIR))
		set_time(root, &was);
}

void temp_cache_prune(const struct identity *id, const char *path)
{
	if (identity_enter(id, &id->user))
		return;
	cache_prune(path);
	identity_enter(id, NULL);
}
