// SPDX-License-Identifier: GPL-2.0-only
/*
 * The life of a session's cgroup. What libcgroup has no call for (the mount of
 * v2, cgroup.kill, cgroup.events) goes by descriptor, so that no name is looked
 * up twice.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <libcgroup.h>
#include <mntent.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#include <linux/magic.h>

#include "cgroup.h"
#include "cleanup.h"

int cgroup_ready(struct err *e)
{
	static bool ready;
	static int ret;

	if (!ready)
		ret = cgroup_init();
	ready = true;
	/* So it says where there is no controller: then it is not needed. */
	if (ret && ret != ECGROUPNOTMOUNTED)
		return err_set(e, -EIO, "libcgroup: %s",
			       cgroup_strerror(ret));
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

/* Where the controller's group is; v2 counts some things without one. */
static const char *dir_of(const struct cgroup_group *g, enum cgroup_control c)
{
	return g->at[c].home == CGROUP_V1 ? g->at[c].dir : g->root;
}

/* The number behind @key in @file of the group below @dir, or 0. */
static uint64_t number_in(const struct cgroup_group *g, const char *dir,
			  const char *file, const char *key)
{
	char path[700], text[4096];
	const char *p = text;

	snprintf(path, sizeof(path), "%s/%s/%s", dir, g->name, file);
	if (read_at(AT_FDCWD, path, text, sizeof(text)) <= 0)
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
	const char *memory = dir_of(g, CGROUP_MEMORY);
	const char *pids = dir_of(g, CGROUP_PIDS);
	bool v1 = g->at[CGROUP_MEMORY].home == CGROUP_V1;

	*u = (struct cgroup_usage){
		.user_us = number_in(g, g->root, "cpu.stat", "user_usec "),
		.system_us = number_in(g, g->root, "cpu.stat", "system_usec "),
		.throttled_us = number_in(g, g->root, "cpu.stat",
					  "throttled_usec "),
		.memory_peak = number_in(g, memory, v1 ?
			"memory.max_usage_in_bytes" : "memory.peak", ""),
		.oom_kills = number_in(g, memory, v1 ?
			"memory.oom_control" : "memory.events", "oom_kill "),
		.pids_peak = number_in(g, pids, "pids.peak", ""),
		.pids_refused = number_in(g, pids, "pids.events", "max "),
	};
	if (g->at[CGROUP_CPU].home == CGROUP_V1)
		u->throttled_us = number_in(g, g->at[CGROUP_CPU].dir,
					    "cpu.stat", "throttled_time ") /
				  1000;
}
