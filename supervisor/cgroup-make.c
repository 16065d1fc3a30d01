// SPDX-License-Identifier: GPL-2.0-only
/*
 * A session's groups are made, limited and removed through libcgroup: one of
 * v2, which holds the session together, and one in each v1 hierarchy whose
 * controller a limit needs and v2 lacks.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <libcgroup.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cgroup.h"
#include "cleanup.h"

#define CPU_PERIOD_US 100000
#define DISKS_MAX 64

static int lib_error(struct err *e, const char *what, const char *name, int ret)
{
	int num = ret == ECGOTHER ? cgroup_get_last_errno() : 0;

	return err_set(e, num ? -num : -EIO, "cgroup %s: %s: %s", name, what,
		       num ? strerror(num) : cgroup_strerror(ret));
}

/* One file's text, for the controller that it belongs to. */
static int set_text(struct cgroup *cg, const char *controller,
		    const char *file, const char *text)
{
	struct cgroup_controller *c = cgroup_get_controller(cg, controller);

	return c && !cgroup_add_value_string(c, file, text) ? 0 : -ENOMEM;
}

static int set_number(struct cgroup *cg, const char *controller,
		      const char *file, uint64_t value)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRIu64, value);
	return set_text(cg, controller, file, text);
}

/* v1 counts memory and swap together. */
static int set_memory(struct cgroup *cg, const struct cgroup_group *g,
		      const struct cgroup_limits *l)
{
	bool v1 = g->at[CGROUP_MEMORY].home == CGROUP_V1;
	uint64_t swap = l->swap, sum;
	int ret = 0;

	/* What is limited must not go on in swap, unless somebody says so. */
	if (swap == CGROUP_NO_LIMIT && l->memory != CGROUP_NO_LIMIT)
		swap = 0;
	if (l->memory != CGROUP_NO_LIMIT)
		ret = set_number(cg, "memory", v1 ? "memory.limit_in_bytes" :
				 "memory.max", l->memory);
	if (ret || !g->swap || swap == CGROUP_NO_LIMIT)
		return ret;
	if (!v1)
		return set_number(cg, "memory", "memory.swap.max", swap);
	if (__builtin_add_overflow(l->memory, swap, &sum))
		return 0;
	return set_number(cg, "memory", "memory.memsw.limit_in_bytes", sum);
}

static int set_cpu(struct cgroup *cg, const struct cgroup_group *g,
		   uint64_t percent)
{
	uint64_t quota = percent * (CPU_PERIOD_US / 100);
	char text[64];
	int ret;

	if (g->at[CGROUP_CPU].home == CGROUP_V2) {
		snprintf(text, sizeof(text), "%" PRIu64 " %d", quota,
			 CPU_PERIOD_US);
		return set_text(cg, "cpu", "cpu.max", text);
	}
	ret = set_number(cg, "cpu", "cpu.cfs_period_us", CPU_PERIOD_US);
	return ret ? ret : set_number(cg, "cpu", "cpu.cfs_quota_us", quota);
}

/* Of each disk that is there now, each way. */
static int set_io(struct cgroup *cg, const struct cgroup_group *g,
		  uint64_t rate)
{
	bool v1 = g->at[CGROUP_IO].home == CGROUP_V1;
	char disk[DISKS_MAX][CGROUP_DISK], text[DISKS_MAX * 64];
	size_t count = cgroup_disks(disk, DISKS_MAX), i, n = 0;
	int ret;

	for (i = 0; i < count; i++)
		n += snprintf(text + n, sizeof(text) - n, v1 ?
			      "%s%s %" PRIu64 : "%s%s rbps=%" PRIu64
			      " wbps=%" PRIu64, i ? "\n" : "", disk[i], rate,
			      rate);
	if (!count)
		return 0;
	if (!v1)
		return set_text(cg, "io", "io.max", text);
	ret = set_text(cg, "blkio", "blkio.throttle.read_bps_device", text);
	return ret ? ret : set_text(cg, "blkio",
				    "blkio.throttle.write_bps_device", text);
}

static int set_limits(struct cgroup *cg, const struct cgroup_group *g,
		      enum cgroup_home home, const struct cgroup_limits *l)
{
	int ret = 0;

#define HERE(control, limit) (!ret && g->at[control].home == home && \
			      (limit) != CGROUP_NO_LIMIT)
	if (!ret && g->at[CGROUP_MEMORY].home == home)
		ret = set_memory(cg, g, l);
	if (HERE(CGROUP_PIDS, l->pids))
		ret = set_number(cg, "pids", "pids.max", l->pids);
	if (HERE(CGROUP_CPU, l->cpu))
		ret = set_cpu(cg, g, l->cpu);
	if (HERE(CGROUP_IO, l->io))
		ret = set_io(cg, g, l->io);
#undef HERE
	return ret;
}

/*
 * The group @name in all hierarchies of one version; free it. Without a
 * controller libcgroup would not know which: any will do.
 */
static struct cgroup *describe(const char *name, const struct cgroup_group *g,
			       enum cgroup_home home)
{
	struct cgroup *cg = cgroup_new_cgroup(name);
	char other[64];
	bool any = false;
	int c;

	for (c = 0; cg && c < CGROUP_CONTROLS; c++) {
		if (g->at[c].home != home)
			continue;
		any = true;
		if (!cgroup_add_controller(cg, cgroup_control_name(c, home)))
			cgroup_free(&cg);
	}
	if (cg && !any && home == CGROUP_V2 &&
	    cgroup_any(g->root, other, sizeof(other)) &&
	    !cgroup_add_controller(cg, other))
		cgroup_free(&cg);
	return cg;
}

static bool uses(const struct cgroup_group *g, enum cgroup_home home)
{
	int c;

	for (c = 0; c < CGROUP_CONTROLS; c++)
		if (g->at[c].home == home)
			return true;
	return false;
}

/*
 * One level. libcgroup enables a controller in the parent alone, so the group
 * above the sessions is made by a call of its own.
 */
static int make_level(const char *name, const struct cgroup_group *g,
		      enum cgroup_home home, const struct cgroup_limits *l,
		      struct err *e)
{
	struct cgroup *cg = describe(name, g, home);
	int ret = cg ? 0 : -ENOMEM;

	if (!ret && l)
		ret = set_limits(cg, g, home, l);
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

/* Of what the host has: what usage is read from, and what a limit needs. */
static void choose(struct cgroup_group *g, const struct cgroup_limits *l)
{
	const uint64_t limit[CGROUP_CONTROLS] = {
		[CGROUP_MEMORY] = l->memory & l->swap, [CGROUP_PIDS] = l->pids,
		[CGROUP_CPU] = l->cpu, [CGROUP_IO] = l->io,
	};
	struct cgroup_host h;
	int c;

	cgroup_look(g->root, &h);
	for (c = 0; c < CGROUP_CONTROLS; c++) {
		bool usage = h.at[c].home == CGROUP_V2 &&
			     (c == CGROUP_MEMORY || c == CGROUP_PIDS);

		if (usage || limit[c] != CGROUP_NO_LIMIT)
			g->at[c] = h.at[c];
	}
}

static int make_v2(struct cgroup_group *g, const struct cgroup_limits *limits,
		   struct err *e)
{
	char other[64];
	int ret;

	/* A v2 mount without a controller is none to libcgroup. */
	if (!uses(g, CGROUP_V2) && !cgroup_any(g->root, other, sizeof(other))) {
		ret = plain_level(g->root, CGROUP_PARENT, e);
		return ret ? ret : plain_level(g->root, g->name, e);
	}
	ret = make_level(CGROUP_PARENT, g, CGROUP_V2, NULL, e);
	/* No group at the top has it, this one may. */
	if (g->at[CGROUP_MEMORY].home == CGROUP_V2)
		g->swap = cgroup_place_has(&g->at[CGROUP_MEMORY],
					   CGROUP_PARENT, "memory.swap.max");
	return ret ? ret : make_level(g->name, g, CGROUP_V2, limits, e);
}

static int make_v1(struct cgroup_group *g, const struct cgroup_limits *limits,
		   struct err *e)
{
	if (!uses(g, CGROUP_V1))
		return 0;
	if (g->at[CGROUP_MEMORY].home == CGROUP_V1)
		/* It counts memory and swap together. */
		g->swap = limits->memory != CGROUP_NO_LIMIT &&
			  cgroup_place_has(&g->at[CGROUP_MEMORY], "",
					   "memory.memsw.limit_in_bytes");
	return make_level(g->name, g, CGROUP_V1, limits, e);
}

int cgroup_make(const char *root, const char *session,
		const struct cgroup_limits *limits, struct cgroup_group *g,
		struct err *e)
{
	mode_t mask;
	int ret;

	if (access(root, W_OK))
		return err_sys(e, -errno, "cgroup v2 at %s (a container must "
			       "be given one that it can write to)", root);
	mask = umask(022);
	set_names(root, session, g);
	choose(g, limits);
	ret = make_v2(g, limits, e);
	if (!ret)
		ret = make_v1(g, limits, e);
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
	struct cgroup_host h;
	int c;

	set_names(root, session, g);
	cgroup_look(root, &h);
	for (c = 0; c < CGROUP_CONTROLS; c++)
		if (cgroup_place_has(&h.at[c], g->name, ""))
			g->at[c] = h.at[c];
	return open_files(g);
}

int cgroup_attach(const struct cgroup_group *g, pid_t pid, struct err *e)
{
	struct cgroup *cg;
	int ret;

	if (!uses(g, CGROUP_V1))
		return 0;
	cg = describe(g->name, g, CGROUP_V1);
	if (!cg)
		return err_set(e, -ENOMEM, "cgroup %s: out of memory", g->name);
	ret = cgroup_attach_task_pid(cg, pid);
	cgroup_free(&cg);
	return ret ? lib_error(e, "cannot put the command into it", g->name,
			       ret) : 0;
}

/* Also what libcgroup takes for another hierarchy's. */
static bool is_gone(const char *path)
{
	return !rmdir(path) || errno == ENOENT;
}

static bool all_gone(const struct cgroup_group *g)
{
	bool all = is_gone(g->path);
	char path[600];
	int c;

	for (c = 0; c < CGROUP_CONTROLS; c++) {
		if (g->at[c].home != CGROUP_V1)
			continue;
		snprintf(path, sizeof(path), "%s/%s", g->at[c].dir, g->name);
		all &= is_gone(path);
	}
	return all;
}

int cgroup_remove(struct cgroup_group *g, struct err *e)
{
	enum cgroup_home home;
	int ret = 0, tries;
	bool gone = false;

	if (!g->name[0])
		return 0;
	cgroup_close(g);
	/* Tasks that are past their end may hold it for a moment. */
	for (tries = 0; !gone && tries < 100; tries++) {
		if (tries)
			poll(NULL, 0, 10);
		/* v1's first: a group of v2 is what a sweep would find. */
		for (home = CGROUP_V1; home <= CGROUP_V2; home++) {
			struct cgroup *cg;

			if (home == CGROUP_V1 && !uses(g, home))
				continue;
			cg = describe(g->name, g, home);
			if (!cg)
				continue;
			ret = cgroup_delete_cgroup_ext(cg,
						CGFLAG_DELETE_EMPTY_ONLY);
			cgroup_free(&cg);
		}
		gone = all_gone(g);
	}
	if (!gone)
		return lib_error(e, "cannot remove it", g->name, ret);
	g->name[0] = 0;
	return 0;
}
