// SPDX-License-Identifier: GPL-2.0-only
/*
 * cgroup v2: a group is made, tried and removed. A controller that is not yet
 * on for the groups below the top is put on for the trial, and off again.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <linux/bpf.h>

#include "../../supervisor/cgroup.h"
#include "../../supervisor/cleanup.h"
#include "doctor.h"

static const struct controller {
	const char *name;
	enum cgroup_control control;
	const char *file;	/* that a group has with it */
	enum need need;
} controllers[] = {
	{ "memory", CGROUP_MEMORY, "memory.max", NEED_LIMIT },
	{ "pids", CGROUP_PIDS, "pids.max", NEED_LIMIT },
	{ "cpu", CGROUP_CPU, "cpu.max", NEED_LIMIT },
	{ "io", CGROUP_IO, "io.max", NEED_LIMIT },
};

#define CONTROLLERS (sizeof(controllers) / sizeof(*controllers))

static int put(int dir, const char *file, const char *text)
{
	_cleanup_close_ int fd = openat(dir, file, O_WRONLY | O_CLOEXEC);

	return fd < 0 || write(fd, text, strlen(text)) < 0 ? -errno : 0;
}

static bool is_on(int top, const char *name)
{
	_cleanup_close_ int fd = openat(top, "cgroup.subtree_control",
					O_RDONLY | O_CLOEXEC);
	char text[1024] = "", *p = text, *word;

	if (fd < 0 || read(fd, text, sizeof(text) - 1) <= 0)
		return false;
	while ((word = strsep(&p, " \n")))
		if (!strcmp(word, name))
			return true;
	return false;
}

/* Is the trial group of @top given the controller? 0 or negative errno. */
static int try_controller(int top, const struct controller *c)
{
	bool on = is_on(top, c->name);
	char word[32], file[128];
	int err = 0;

	snprintf(word, sizeof(word), "+%s", c->name);
	if (!on)
		err = put(top, "cgroup.subtree_control", word);
	if (err)
		return err;
	snprintf(file, sizeof(file), "lh-doctor-%d/%s", getpid(), c->file);
	if (faccessat(top, file, W_OK, 0))
		err = -errno;
	word[0] = '-';
	if (!on)
		put(top, "cgroup.subtree_control", word);
	return err;
}

/* What v2 does not have: v1 holds the limit, part of it, or nobody does. */
static void check_v1(struct doctor *d, const struct controller *c)
{
	bool whole = c->control != CGROUP_IO;
	struct cgroup_host h;
	struct finding *f;
	char arg[64];

	cgroup_look(d->cgroup_root, &h);
	if (h.at[c->control].home == CGROUP_NOWHERE) {
		f = find(d, c->name, c->need, V_MISSING, "no %s controller",
			 c->name);
		effect(f, "limits.%s does not hold: os_hardened refuses a "
		       "policy that sets it, worktree goes on without",
		       c->name);
		remedy(f, "a kernel that has it, a v1 hierarchy that is "
		       "mounted with it, or a container that is given it");
		return;
	}
	f = find(d, c->name, c->need, whole ? V_OK : V_LIMITED, "cgroup v1 "
		 "takes limits of %s, at %s (a hybrid host)", c->name,
		 h.at[c->control].dir);
	if (whole)
		return;
	effect(f, "limits.io holds for reads and direct writes alone: "
	       "os_hardened refuses a policy that sets it, worktree says so");
	snprintf(arg, sizeof(arg), "cgroup_no_v1=%s",
		 cgroup_control_name(c->control, CGROUP_V1));
	boot_with(f, arg);
}

static void check_controller(struct doctor *d, int top,
			     const struct controller *c)
{
	struct finding *f;
	int err;

	if (!cgroup_has(d->cgroup_root, c->name)) {
		check_v1(d, c);
		return;
	}
	if (top < 0) {
		find(d, c->name, c->need, V_UNTRIED, "cgroup v2 has the "
		     "controller");
		return;
	}
	err = try_controller(top, c);
	if (!err) {
		find(d, c->name, c->need, V_OK, "a cgroup takes limits of %s",
		     c->name);
		return;
	}
	f = find(d, c->name, c->need, V_MISSING, "%s does not pass the "
		 "controller on: %s", d->cgroup_root, strerror(-err));
	effect(f, "limits.%s does not hold: os_hardened refuses a policy that "
	       "sets it, worktree goes on without", c->name);
	if (err == -EBUSY)
		remedy(f, "move the processes in it to a group below it (a "
		       "container: start it with an init that does)");
}

/* A program at a group, as the engine has some at all sessions' group. */
static void check_programs(struct doctor *d, int group)
{
	static const struct bpf_insn pass[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .imm = 1 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	int prog, link, err = 0;
	struct finding *f;

	prog = bpf_prog_load(BPF_PROG_TYPE_CGROUP_SKB, "lh_doctor", "GPL", pass,
			     2, NULL);
	if (prog < 0)
		err = -errno;
	link = err ? -1 : bpf_link_create(prog, group, BPF_CGROUP_INET_EGRESS,
					  NULL);
	if (!err && link < 0)
		err = -errno;
	if (link >= 0)
		close(link);
	if (prog >= 0)
		close(prog);
	if (!err) {
		find(d, "cgroup_bpf", NEED_ENGINE, V_OK, "BPF programs load "
		     "and attach to a cgroup");
		return;
	}
	f = find(d, "cgroup_bpf", NEED_ENGINE, V_MISSING, "a BPF program does "
		 "not %s a cgroup: %s", prog < 0 ? "load for" : "attach to",
		 strerror(-err));
	effect(f, "the engine's second look at sockets is missing, so it does "
	       "not load");
	remedy(f, err == -EPERM ? "start it where bpf(2) is not refused "
	       "(outside of the container)" :
	       "a kernel with CONFIG_CGROUP_BPF");
}

/* A group below the top: -1 with a finding, or its descriptor. */
static int make_group(struct doctor *d, const char *path)
{
	struct finding *f;
	int fd, err;

	if (!mkdir(path, 0755)) {
		fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (fd >= 0 && !faccessat(fd, "cgroup.kill", W_OK, 0)) {
			find(d, "cgroup_v2", NEED_ALL, V_OK, "at %s, takes "
			     "groups", d->cgroup_root);
			return fd;
		}
		close_fd(&fd);
		f = find(d, "cgroup_v2", NEED_ALL, V_MISSING, "groups have no "
			 "cgroup.kill");
		remedy(f, "Linux 5.14 or later");
		return -1;
	}
	err = errno;
	f = find(d, "cgroup_v2", NEED_ALL, V_MISSING, "at %s, no group can be "
		 "made: %s", d->cgroup_root, strerror(err));
	if (err == EROFS)
		remedy(f, "mount -o remount,rw %s (a container: start it with "
		       "a writable one)", d->cgroup_root);
	return -1;
}

void check_cgroups(struct doctor *d)
{
	_cleanup_close_ int group = -1;
	_cleanup_close_ int top = -1;
	struct finding *f;
	char path[512];
	size_t i;

	if (!d->cgroup_root) {
		f = find(d, "cgroup_v2", NEED_ALL, V_MISSING, "not mounted");
		effect(f, "no session starts");
		remedy(f, "mount -t cgroup2 none /sys/fs/cgroup");
		return;
	}
	snprintf(path, sizeof(path), "%s/lh-doctor-%d", d->cgroup_root,
		 getpid());
	if (!d->root) {
		find(d, "cgroup_v2", NEED_ALL, V_UNTRIED, "at %s",
		     d->cgroup_root);
		find(d, "cgroup_bpf", NEED_ENGINE, V_UNTRIED, "BPF programs at "
		     "a cgroup");
	} else {
		group = make_group(d, path);
		if (group < 0)
			rmdir(path);
		else
			check_programs(d, group);
	}
	if (group >= 0)
		top = open(d->cgroup_root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	for (i = 0; i < CONTROLLERS; i++)
		check_controller(d, top, &controllers[i]);
	if (group >= 0)
		rmdir(path);
}
