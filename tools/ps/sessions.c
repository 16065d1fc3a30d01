// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sessions, from the registry and from cgroup v2. Nothing is locked, signalled
 * or written, and no more is opened than the caller may open anyway.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "../../supervisor/cgroup.h"
#include "../../supervisor/cleanup.h"
#include "sessions.h"

static uint64_t number_in(int dir, const char *file)
{
	_cleanup_close_ int fd = openat(dir, file, O_RDONLY | O_CLOEXEC);
	uint64_t n = UNKNOWN;
	char text[32];
	ssize_t len = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);

	if (len <= 0)
		return UNKNOWN;
	text[len] = 0;
	return sscanf(text, "%" SCNu64, &n) == 1 ? n : UNKNOWN;
}

static uint64_t lines_in(int dir, const char *file)
{
	_cleanup_close_ int fd = openat(dir, file, O_RDONLY | O_CLOEXEC);
	uint64_t lines = 0;
	char buf[4096];
	ssize_t n;

	if (fd < 0)
		return UNKNOWN;
	while ((n = read(fd, buf, sizeof(buf))) > 0)
		while (n--)
			lines += buf[n] == '\n';
	return n < 0 ? UNKNOWN : lines;
}

static void look_at_cgroup(struct session *s, const char *root)
{
	_cleanup_free_ char *path = NULL;
	_cleanup_close_ int dir = -1;

	s->processes = s->tasks = s->memory = UNKNOWN;
	if (!root || asprintf(&path, "%s/" CGROUP_PARENT "/%s", root,
			      s->id) < 0) {
		path = NULL;
		return;
	}
	dir = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0)
		return;
	s->processes = lines_in(dir, "cgroup.procs");
	s->tasks = number_in(dir, "pids.current");
	s->memory = number_in(dir, "memory.current");
}

/* Without facts: what the lock says, which root alone may read. */
static void read_lock(int dir, struct session *s, struct arena *mem)
{
	_cleanup_close_ int fd = openat(dir, s->id, O_RDONLY | O_NOFOLLOW |
					O_NONBLOCK | O_CLOEXEC);
	char text[256] = "";

	if (fd < 0 || read(fd, text, sizeof(text) - 1) <= 0 ||
	    sscanf(text, "uid=%u\ngid=%u\npid=%d\n", &s->f.uid, &s->f.gid,
		   &s->f.supervisor) != 3)
		return;
	s->f.user = arena_print(mem, "%u", s->f.uid);
	s->f.pid_namespace = facts_pid_namespace();
}

/* true: it is to be shown. */
static bool look_at(int dir, const char *id, const char *root,
		    struct arena *mem, struct session *s)
{
	struct timespec now;
	int ret, alive;

	*s = (struct session){ .age = UNKNOWN };
	memcpy(s->id, id, REGISTRY_ID_LEN);
	ret = facts_read(dir, id, mem, &s->f);
	if (ret == -EACCES || (ret && geteuid()))
		return false;
	/* It may have ended between the listing and now. */
	if (ret == -ENOENT && faccessat(dir, id, F_OK, AT_SYMLINK_NOFOLLOW))
		return false;
	s->told = !ret;
	if (ret)
		read_lock(dir, s, mem);
	s->f.session = s->id;
	alive = facts_alive(&s->f);
	s->state = alive < 0 ? SESSION_UNKNOWN : alive ? SESSION_LIVE :
		   SESSION_DEAD;
	clock_gettime(CLOCK_BOOTTIME, &now);
	if (s->told)
		s->age = (uint64_t)now.tv_sec > s->f.started_boot ?
			 now.tv_sec - s->f.started_boot : 0;
	look_at_cgroup(s, root);
	return true;
}

static int by_start(const void *a, const void *b)
{
	const struct session *x = a, *y = b;

	if (x->f.started_boot != y->f.started_boot)
		return x->f.started_boot < y->f.started_boot ? -1 : 1;
	if (x->f.supervisor_start != y->f.supervisor_start)
		return x->f.supervisor_start < y->f.supervisor_start ? -1 : 1;
	return strcmp(x->id, y->id);
}

static int add(struct sessions *s, const struct session *one)
{
	struct session *list = s->list;

	if (!(s->count & (s->count + 1)) || !list) {
		list = realloc(list, 2 * (s->count + 1) * sizeof(*list));
		if (!list)
			return -ENOMEM;
		s->list = list;
	}
	list[s->count++] = *one;
	return 0;
}

int sessions_find(struct sessions *s, struct err *e)
{
	_cleanup_free_ char *root = cgroup_root(NULL);
	_cleanup_dir_ DIR *d = NULL;
	struct session one;
	struct dirent *ent;
	struct stat st;
	int ret = 0;

	*s = (struct sessions){};
	d = opendir(REGISTRY_DIR);
	if (!d)
		return errno == ENOENT ? 0 :
		       err_sys(e, -errno, REGISTRY_DIR);
	if (fstat(dirfd(d), &st) || st.st_uid || (st.st_mode & 022))
		return err_set(e, -EPERM, REGISTRY_DIR " must belong to root "
			       "alone");
	while (!ret && (ent = readdir(d)))
		if (registry_is_id(ent->d_name) &&
		    look_at(dirfd(d), ent->d_name, root, &s->mem, &one))
			ret = add(s, &one);
	if (ret)
		return err_sys(e, ret, REGISTRY_DIR);
	if (s->count)
		qsort(s->list, s->count, sizeof(*s->list), by_start);
	return 0;
}

void sessions_free(struct sessions *s)
{
	free(s->list);
	arena_free(&s->mem);
	*s = (struct sessions){};
}
