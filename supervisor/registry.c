// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which sessions there are. The file is made first and removed last, so a
 * cgroup or a temp directory without one belongs to nobody. The lock is
 * flock(2): it goes with the last process that holds the open file.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cleanup.h"
#include "facts.h"
#include "registry.h"
#include "temp.h"

#define REGISTRY_TOP "/run/lh"
#define SWEEP_MS 5000

static int open_dir(struct err *e)
{
	struct stat st;
	int fd;

	if ((mkdir(REGISTRY_TOP, 0755) && errno != EEXIST) ||
	    (mkdir(REGISTRY_DIR, 0755) && errno != EEXIST))
		return err_sys(e, -errno, "%s", REGISTRY_DIR);
	fd = open(REGISTRY_DIR, O_RDONLY | O_DIRECTORY | O_NOFOLLOW |
		  O_CLOEXEC);
	if (fd < 0)
		return err_sys(e, -errno, "%s", REGISTRY_DIR);
	if (fstat(fd, &st) || st.st_uid || (st.st_mode & 022)) {
		close(fd);
		return err_set(e, -EPERM, "%s must belong to root alone",
			       REGISTRY_DIR);
	}
	return fd;
}

bool registry_is_id(const char *s)
{
	return strlen(s) == REGISTRY_ID_LEN &&
	       strspn(s, "0123456789abcdef") == REGISTRY_ID_LEN;
}

void registry_path(const char *session, const char *suffix, char *path,
		   size_t size)
{
	snprintf(path, size, REGISTRY_DIR "/%s%s", session, suffix);
}

/* A sweep may take a fresh file for a stale one and remove it: look again. */
static int try_enter(int dir, struct registry *r)
{
	unsigned char random[REGISTRY_ID_LEN / 2];
	struct stat st;
	size_t i;
	int fd;

	if (getrandom(random, sizeof(random), 0) != sizeof(random))
		return -EIO;
	for (i = 0; i < sizeof(random); i++)
		sprintf(r->id + 2 * i, "%02x", random[i]);
	fd = openat(dir, r->id, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW |
		    O_CLOEXEC, 0600);
	if (fd < 0)
		return errno == EEXIST ? -EAGAIN : -errno;
	if (flock(fd, LOCK_EX) || fstat(fd, &st) || !st.st_nlink) {
		close(fd);
		return -EAGAIN;
	}
	r->fd = fd;
	return 0;
}

int registry_enter(const struct identity *id, const char *name,
		   struct registry *r, struct err *e)
{
	_cleanup_close_ int dir = open_dir(e);
	int ret = -EAGAIN, tries;

	*r = (struct registry)REGISTRY_NONE;
	if (dir < 0)
		return dir;
	for (tries = 0; ret == -EAGAIN && tries < 100; tries++)
		ret = try_enter(dir, r);
	if (ret)
		return err_sys(e, ret, "%s", REGISTRY_DIR);
	if (dprintf(r->fd, "uid=%u\ngid=%u\npid=%d\nname=%s\n", id->user.uid,
		    id->user.gid, getpid(), name ? name : "") < 0) {
		ret = -errno;
		registry_leave(r);
		return err_sys(e, ret, "%s/%s", REGISTRY_DIR, r->id);
	}
	return 0;
}

int registry_hold(const struct cgroup_group *g, struct err *e)
{
	if (fchmod(g->dir, 0711) || flock(g->dir, LOCK_EX | LOCK_NB))
		return err_sys(e, -errno, "%s", g->path);
	return 0;
}

void registry_leave(struct registry *r)
{
	char path[64];

	if (r->fd < 0)
		return;
	registry_path(r->id, FACTS_SUFFIX, path, sizeof(path));
	unlink(path);
	close_fd(&r->facts);
	registry_path(r->id, "", path, sizeof(path));
	unlink(path);
	close_fd(&r->fd);
}

static void clear_cgroup(const char *root, const char *session)
{
	struct cgroup_group g;

	if (!cgroup_open(root, session, &g)) {
		cgroup_empty(&g, SWEEP_MS);
		cgroup_remove(&g, NULL);
	}
	cgroup_close(&g);
}

/* 1: it was stale and is gone now. */
static int sweep_one(int dir, const char *session, const struct identity *id,
		     const char *root)
{
	_cleanup_close_ int fd = openat(dir, session, O_RDWR | O_NOFOLLOW |
					O_CLOEXEC);
	struct credentials c = {};
	char text[256] = "", facts[64];

	if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB))
		return 0;
	clear_cgroup(root, session);
	if (read(fd, text, sizeof(text) - 1) > 0 &&
	    sscanf(text, "uid=%u\ngid=%u\n", &c.uid, &c.gid) == 2)
		temp_remove(id, &c, session);
	snprintf(facts, sizeof(facts), "%s" FACTS_SUFFIX, session);
	unlinkat(dir, facts, 0);
	unlinkat(dir, session, 0);
	return 1;
}

struct orphans {
	const struct identity *id;
	const char *root;
	int dir, count;
};

static bool unknown(const struct orphans *o, const char *session)
{
	return registry_is_id(session) && faccessat(o->dir, session, F_OK, 0) &&
	       errno == ENOENT;
}

/* Has it a cgroup? Then that was held, when these were swept. */
static bool is_elsewhere(const struct orphans *o, const char *session)
{
	_cleanup_free_ char *path = NULL;

	return asprintf(&path, "%s/" CGROUP_PARENT "/%s", o->root,
			session) < 0 || !access(path, F_OK);
}

static void sweep_temp(const char *session, void *arg)
{
	struct orphans *o = arg;

	if (unknown(o, session) && !is_elsewhere(o, session) &&
	    !temp_remove(o->id, &o->id->user, session))
		o->count++;
}

static void sweep_cgroups(struct orphans *o)
{
	_cleanup_free_ char *path = NULL;
	_cleanup_dir_ DIR *d = NULL;
	struct dirent *ent;

	if (asprintf(&path, "%s/" CGROUP_PARENT, o->root) < 0)
		return;
	d = opendir(path);
	while (d && (ent = readdir(d))) {
		_cleanup_close_ int fd = -1;

		if (!unknown(o, ent->d_name))
			continue;
		/* Held by a session that has its file in another /run. */
		fd = openat(dirfd(d), ent->d_name, O_RDONLY | O_DIRECTORY |
			    O_NOFOLLOW | O_CLOEXEC);
		if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB))
			continue;
		clear_cgroup(o->root, ent->d_name);
		o->count++;
	}
}

int registry_sweep(const struct identity *id, const char *cgroup_root)
{
	_cleanup_close_ int dir = open_dir(NULL);
	_cleanup_dir_ DIR *d = NULL;
	struct orphans o = { .id = id, .root = cgroup_root, .dir = dir };
	struct dirent *ent;

	if (dir < 0)
		return dir;
	d = fdopendir(dup(dir));
	while (d && (ent = readdir(d)))
		if (registry_is_id(ent->d_name))
			o.count += sweep_one(dir, ent->d_name, id, cgroup_root);
	sweep_cgroups(&o);
	temp_each(id, &id->user, sweep_temp, &o);
	return o.count;
}
