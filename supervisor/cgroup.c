// SPDX-License-Identifier: GPL-2.0-only
/*
 * A session's cgroup. libcgroup makes, limits and removes it; what it has no
 * call for (the mount of v2, cgroup.kill, cgroup.events) goes by descriptor,
 * so that no name is looked up twice.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <libcgroup.h>
#include <mntent.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#include <linux/magic.h>

#include "cgroup.h"
#include "cleanup.h"

static struct {
	pthread_t thread;
	bool started, ready;
	int ret;
} init;

static void *init_run(void *arg)
{
	(void)arg;
	init.ret = cgroup_init();
	return NULL;
}

void cgroup_prepare(void)
{
	init.started = !pthread_create(&init.thread, NULL, init_run, NULL);
}

int cgroup_ready(struct err *e)
{
	if (!init.ready) {
		if (!init.started || pthread_join(init.thread, NULL))
			init_run(NULL);
		init.ready = true;
	}
	if (init.ret)
		return err_set(e, -EIO, "libcgroup: %s",
			       cgroup_strerror(init.ret));
	return 0;
}

char *cgroup_root(struct err *e)
{
	_cleanup_file_ FILE *f = setmntent("/proc/self/mounts", "re");
	struct mntent m;
	char buf[8192];

	while (f && getmntent_r(f, &m, buf, sizeof(buf))) {
		struct statfs fs;

		if (!strcmp(m.mnt_type, "cgroup2") &&
		    !statfs(m.mnt_dir, &fs) &&
		    fs.f_type == CGROUP2_SUPER_MAGIC)
			return strdup(m.mnt_dir);
	}
	err_set(e, -ENODEV, "cgroup v2 is not mounted; try: mount -t cgroup2 "
		"none /sys/fs/cgroup");
	return NULL;
}

void cgroup_own_session(char id[64])
{
	_cleanup_file_ FILE *f = fopen("/proc/self/cgroup", "re");
	char line[4096];

	id[0] = 0;
	while (f && fgets(line, sizeof(line), f)) {
		char *p = strstr(line, "/" CGROUP_PARENT "/");

		if (strncmp(line, "0::", 3) || !p)
			continue;
		p += strlen(CGROUP_PARENT) + 2;
		p[strcspn(p, "/\n")] = 0;
		if (strlen(p) == 12 && strspn(p, "0123456789abcdef") == 12)
			strcpy(id, p);
	}
}

static ssize_t read_at(int dir, const char *name, char *buf, size_t size)
{
	_cleanup_close_ int fd = openat(dir, name, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return -errno;
	n = read(fd, buf, size - 1);
	if (n < 0)
		return -errno;
	buf[n] = 0;
	return n;
}

static bool has_word(const char *words, const char *word)
{
	size_t len = strlen(word);
	const char *p = words;

	while ((p = strstr(p, word))) {
		char end = p[len];

		if ((p == words || p[-1] == ' ') &&
		    (end == ' ' || end == '\n' || !end))
			return true;
		p += len;
	}
	return false;
}

bool cgroup_has(const char *root, const char *controller)
{
	_cleanup_close_ int dir = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	char words[1024];

	return dir >= 0 &&
	       read_at(dir, "cgroup.controllers", words, sizeof(words)) > 0 &&
	       has_word(words, controller);
}

/* Any controller will do to make libcgroup choose the v2 hierarchy. */
static bool any_controller(const char *root, char *name, size_t size)
{
	_cleanup_close_ int dir = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	char words[1024];

	if (dir < 0 ||
	    read_at(dir, "cgroup.controllers", words, sizeof(words)) <= 0)
		return false;
	snprintf(name, size, "%.*s", (int)strcspn(words, " \n"), words);
	return name[0];
}

static int lib_error(struct err *e, const char *what, const char *name, int ret)
{
	int num = ret == ECGOTHER ? cgroup_get_last_errno() : 0;

	return err_set(e, num ? -num : -EIO, "cgroup %s: %s: %s", name, what,
		       num ? strerror(num) : cgroup_strerror(ret));
}

static int set_limit(struct cgroup *cg, const char *controller,
		     const char *file, uint64_t value)
{
	struct cgroup_controller *c = cgroup_get_controller(cg, controller);
	char text[24];

	if (!c)
		c = cgroup_add_controller(cg, controller);
	if (!c)
		return -ENOMEM;
	if (value == UINT64_MAX)
		return 0;
	snprintf(text, sizeof(text), "%" PRIu64, value);
	return cgroup_add_value_string(c, file, text) ? -ENOMEM : 0;
}

static bool has_swap(const struct cgroup_group *g)
{
	char path[sizeof(g->root) + 32];

	snprintf(path, sizeof(path), "%s/" CGROUP_PARENT "/memory.swap.max",
		 g->root);
	return !access(path, F_OK);
}

/*
 * One level. libcgroup enables a controller in the parent alone, so the group
 * above the sessions is made by a call of its own.
 */
static int make_level(const char *name, const struct cgroup_group *g,
		      const char *other, const struct cgroup_limits *l,
		      struct err *e)
{
	struct cgroup *cg = cgroup_new_cgroup(name);
	int ret = 0;

	if (!cg)
		return err_set(e, -ENOMEM, "cgroup %s: out of memory", name);
	if (g->memory)
		ret = set_limit(cg, "memory", "memory.max",
				l ? l->memory : UINT64_MAX);
	/* What is limited must not go on in swap. The file may be absent. */
	if (!ret && g->memory && l && l->memory != UINT64_MAX && has_swap(g))
		ret = set_limit(cg, "memory", "memory.swap.max", 0);
	if (!ret && g->pids)
		ret = set_limit(cg, "pids", "pids.max",
				l ? l->pids : UINT64_MAX);
	if (!ret && !g->memory && !g->pids && !cgroup_add_controller(cg, other))
		ret = -ENOMEM;
	if (ret) {
		cgroup_free(&cg);
		return err_set(e, ret, "cgroup %s: out of memory", name);
	}
	ret = cgroup_create_cgroup(cg, 1);
	cgroup_free(&cg);
	return ret ? lib_error(e, "cannot make it", name, ret) : 0;
}

static int plain_level(const char *root, const char *name, struct err *e)
{
	_cleanup_free_ char *path = NULL;

	if (asprintf(&path, "%s/%s", root, name) < 0)
		return -ENOMEM;
	if (mkdir(path, 0755) && errno != EEXIST)
		return err_sys(e, -errno, "cgroup %s", path);
	return 0;
}

static int open_files(struct cgroup_group *g)
{
	g->dir = open(g->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (g->dir < 0)
		return -errno;
	g->kill = openat(g->dir, "cgroup.kill", O_WRONLY | O_CLOEXEC);
	if (g->kill < 0)
		return -errno;
	g->events = openat(g->dir, "cgroup.events", O_RDONLY | O_CLOEXEC);
	if (g->events < 0)
		return -errno;
	g->procs = openat(g->dir, "cgroup.procs", O_RDONLY | O_CLOEXEC);
	return g->procs < 0 ? -errno : 0;
}

static void set_names(const char *root, const char *session,
		      struct cgroup_group *g)
{
	*g = (struct cgroup_group)CGROUP_NONE;
	snprintf(g->name, sizeof(g->name), "%s/%s", CGROUP_PARENT, session);
	snprintf(g->root, sizeof(g->root), "%s", root);
	snprintf(g->path, sizeof(g->path), "%s/%s", g->root, g->name);
}

int cgroup_make(const char *root, const char *session,
		const struct cgroup_limits *limits, struct cgroup_group *g,
		struct err *e)
{
	mode_t mask = umask(022);
	char other[64] = "";
	bool lib = true;
	int ret;

	set_names(root, session, g);
	g->memory = cgroup_has(root, "memory");
	g->pids = cgroup_has(root, "pids");
	if (!g->memory && !g->pids)
		lib = any_controller(root, other, sizeof(other));
	if (lib) {
		ret = make_level(CGROUP_PARENT, g, other, NULL, e);
		if (!ret)
			ret = make_level(g->name, g, other, limits, e);
	} else {
		/* A v2 mount without a controller is none to libcgroup. */
		ret = plain_level(root, CGROUP_PARENT, e);
		if (!ret)
			ret = plain_level(root, g->name, e);
	}
	umask(mask);
	if (ret)
		return ret;
	ret = open_files(g);
	if (ret)
		return err_sys(e, ret, "cgroup %s (cgroup.kill needs Linux "
			       "5.14)", g->path);
	return 0;
}

int cgroup_open(const char *root, const char *session, struct cgroup_group *g)
{
	set_names(root, session, g);
	g->memory = cgroup_has(root, "memory");
	g->pids = cgroup_has(root, "pids");
	return open_files(g);
}

void cgroup_close(struct cgroup_group *g)
{
	close_fd(&g->dir);
	close_fd(&g->kill);
	close_fd(&g->events);
	close_fd(&g->procs);
}

int cgroup_kill(const struct cgroup_group *g)
{
	if (g->kill < 0)
		return -EBADF;
	if (pwrite(g->kill, "1", 1, 0) != 1)
		return errno == ENODEV ? 0 : -errno;
	return 0;
}

int cgroup_populated(const struct cgroup_group *g)
{
	char text[256];
	ssize_t n = pread(g->events, text, sizeof(text) - 1, 0);

	if (n < 0)
		return errno == ENODEV ? 0 : -errno;
	text[n] = 0;
	return strstr(text, "populated 1") != NULL;
}

static int64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000LL + t.tv_nsec / 1000000;
}

int cgroup_empty(const struct cgroup_group *g, int ms)
{
	int64_t end = now_ms() + ms;
	int ret;

	while ((ret = cgroup_populated(g)) == 1) {
		struct pollfd p = { .fd = g->events, .events = POLLPRI };

		/* Again each time: a fork may have raced with the last. */
		ret = cgroup_kill(g);
		if (ret)
			return ret;
		if (now_ms() >= end)
			return -ETIMEDOUT;
		poll(&p, 1, 50);
	}
	return ret;
}

/* Is @pid, which @pidfd holds, still in the group? Pids are used again. */
static bool still_there(const struct cgroup_group *g, pid_t pid)
{
	char path[64], text[4096], tail[80];
	size_t len, end;

	snprintf(path, sizeof(path), "/proc/%d/cgroup", pid);
	if (read_at(AT_FDCWD, path, text, sizeof(text)) <= 0)
		return false;
	snprintf(tail, sizeof(tail), "/%s\n", g->name);
	len = strlen(text);
	end = strlen(tail);
	return len >= end && strstr(text, tail);
}

int cgroup_signal(const struct cgroup_group *g, int sig)
{
	_cleanup_file_ FILE *f = NULL;
	int fd = openat(g->dir, "cgroup.procs", O_RDONLY | O_CLOEXEC);
	int count = 0;
	pid_t pid;

	f = fd < 0 ? NULL : fdopen(fd, "r");
	while (f && fscanf(f, "%d", &pid) == 1) {
		_cleanup_close_ int pidfd = syscall(SYS_pidfd_open, pid, 0);

		if (pidfd < 0 || !still_there(g, pid))
			continue;
		if (!syscall(SYS_pidfd_send_signal, pidfd, sig, NULL, 0))
			count++;
	}
	return count;
}

/* The number behind @key in @file, or 0. */
static uint64_t number_in(const struct cgroup_group *g, const char *file,
			  const char *key)
{
	char text[4096];
	const char *p = text;

	if (read_at(g->dir, file, text, sizeof(text)) <= 0)
		return 0;
	if (*key) {
		p = strstr(text, key);
		if (!p)
			return 0;
		p += strlen(key);
	}
	return strtoull(p, NULL, 10);
}

void cgroup_usage(const struct cgroup_group *g, struct cgroup_usage *u)
{
	*u = (struct cgroup_usage){
		.user_us = number_in(g, "cpu.stat", "user_usec "),
		.system_us = number_in(g, "cpu.stat", "system_usec "),
		.memory_peak = number_in(g, "memory.peak", ""),
		.pids_peak = number_in(g, "pids.peak", ""),
		.oom_kills = number_in(g, "memory.events", "oom_kill "),
		.pids_refused = number_in(g, "pids.events", "max "),
	};
}

int cgroup_remove(struct cgroup_group *g, struct err *e)
{
	struct cgroup *cg;
	char other[64] = "";
	int ret, tries;

	if (!g->name[0])
		return 0;
	cgroup_close(g);
	if (!g->memory && !g->pids)
		any_controller(g->root, other, sizeof(other));
	cg = cgroup_new_cgroup(g->name);
	if (!cg)
		return err_set(e, -ENOMEM, "cgroup %s: out of memory", g->name);
	if (g->memory)
		cgroup_add_controller(cg, "memory");
	if (g->pids)
		cgroup_add_controller(cg, "pids");
	if (other[0])
		cgroup_add_controller(cg, other);
	/* Tasks that are past their end may hold it for a moment. */
	for (tries = 0; tries < 100; tries++) {
		ret = cgroup_delete_cgroup_ext(cg, CGFLAG_DELETE_EMPTY_ONLY);
		if (access(g->path, F_OK) && errno == ENOENT)
			break;
		/* Also what libcgroup takes for another hierarchy's. */
		if (!rmdir(g->path) || errno == ENOENT)
			break;
		poll(NULL, 0, 10);
	}
	cgroup_free(&cg);
	if (tries == 100)
		return lib_error(e, "cannot remove it", g->name, ret);
	g->name[0] = 0;
	return 0;
}
