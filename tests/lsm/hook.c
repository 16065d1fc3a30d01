// SPDX-License-Identifier: GPL-2.0-only
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>

#include "hook.h"

/* Its link, from where the engine has pinned it; or -errno. */
static int pinned(const char *name, char *pin, size_t size)
{
	char pattern[128];
	glob_t g = { 0 };
	int fd = -ENOENT;

	snprintf(pattern, sizeof(pattern), "/sys/fs/bpf/lh/*/link_%s", name);
	if (!glob(pattern, 0, NULL, &g) && g.gl_pathc == 1) {
		snprintf(pin, size, "%s", g.gl_pathv[0]);
		fd = bpf_obj_get(pin);
	}
	globfree(&g);
	return fd;
}

static int look(int link, struct bpf_link_info *info)
{
	__u32 len = sizeof(*info);

	memset(info, 0, len);
	return bpf_obj_get_info_by_fd(link, info, &len) ? -errno : 0;
}

static int attach_type(const struct bpf_link_info *info)
{
	return info->type == BPF_LINK_TYPE_CGROUP ? info->cgroup.attach_type :
	       info->type == BPF_LINK_TYPE_TRACING ?
	       info->tracing.attach_type : BPF_TRACE_RAW_TP;
}

static int attach(int prog, int type)
{
	int cgroup, fd;

	if (type == BPF_LSM_MAC || type == BPF_TRACE_RAW_TP) {
		fd = bpf_raw_tracepoint_open(NULL, prog);
		return fd < 0 ? -errno : fd;
	}
	cgroup = open(HOOK_PARENT, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	fd = bpf_link_create(prog, cgroup, type, NULL);
	if (fd < 0)
		fd = -errno;
	close(cgroup);
	return fd;
}

/*
 * The pin's share in a link goes in the kernel's own time. Once the program can
 * be attached again it has gone; that link is ours alone, and ends with its
 * descriptor. A tracepoint takes a program twice, so there the link's number
 * tells.
 */
static int wait_off(const struct hook *h, __u32 id)
{
	int link = -EBUSY;

	for (int i = 0; link == -EBUSY && i < 6000; i++) {
		int old = h->attach == BPF_LSM_MAC ? -1 :
			  bpf_link_get_fd_by_id(id);

		if (i)
			usleep(10000);
		if (old >= 0)
			close(old);
		else
			link = attach(h->prog, h->attach);
	}
	if (link < 0)
		return link;
	close(link);
	return 0;
}

int hook_off(struct hook *h)
{
	struct bpf_link_info info;
	int link = pinned(h->name, h->pin, sizeof(h->pin)), ret;

	if (link < 0)
		return link;
	ret = look(link, &info);
	h->attach = attach_type(&info);
	h->prog = ret ? -1 : bpf_prog_get_fd_by_id(info.prog_id);
	if (!ret && (h->prog < 0 || unlink(h->pin)))
		ret = -errno;
	if (!ret && info.type == BPF_LINK_TYPE_CGROUP && bpf_link_detach(link))
		ret = -errno;
	close(link);
	if (ret || info.type == BPF_LINK_TYPE_CGROUP)
		return ret;
	return wait_off(h, info.id);
}

int hook_on(struct hook *h)
{
	int link, ret = 0;

	if (!h->prog)
		return 0;
	link = attach(h->prog, h->attach);
	if (link < 0 || bpf_obj_pin(link, h->pin))
		ret = link < 0 ? link : -errno;
	close(link);
	close(h->prog);
	h->prog = 0;
	return ret;
}

/* Is what the hook's programs return looked at? */
static bool judges(const struct btf *btf, int func)
{
	const struct btf_type *t = btf__type_by_id(btf, func);

	t = t ? btf__type_by_id(btf, t->type) : NULL;
	return t && t->type;
}

#define SET(reg, value) { BPF_ALU64 | BPF_MOV | BPF_K, reg, 0, 0, value }
#define EXIT { BPF_JMP | BPF_EXIT, 0, 0, 0, 0 }

/* For tasks of sessions: below the cgroup that is element 0 of @map. */
static int strict_lsm(int map, int func)
{
	const struct bpf_insn insns[] = {
		{ BPF_LD | BPF_DW | BPF_IMM, 1, BPF_PSEUDO_MAP_FD, 0, map },
		{ 0, 0, 0, 0, 0 },
		SET(2, 0),
		{ BPF_JMP | BPF_CALL, 0, 0, 0,
		  BPF_FUNC_current_task_under_cgroup },
		{ BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 2, 1 },
		SET(0, 0), EXIT, SET(0, -EPERM), EXIT,
	};
	LIBBPF_OPTS(bpf_prog_load_opts, opts,
		    .expected_attach_type = BPF_LSM_MAC,
		    .attach_btf_id = func);

	return bpf_prog_load(BPF_PROG_TYPE_LSM, "strict", "GPL", insns,
			     sizeof(insns) / sizeof(*insns), &opts);
}

static int strict_cgroup(enum bpf_prog_type type, int attach_as)
{
	const struct bpf_insn insns[] = { SET(0, 0), EXIT };
	LIBBPF_OPTS(bpf_prog_load_opts, opts,
		    .expected_attach_type = attach_as);

	return bpf_prog_load(type, "strict", "GPL", insns,
			     sizeof(insns) / sizeof(*insns), &opts);
}

static int cgroup_map(void)
{
	int map = bpf_map_create(BPF_MAP_TYPE_CGROUP_ARRAY, "strict", 4, 4, 1,
				 NULL);
	int cgroup = open(HOOK_PARENT, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	__u32 zero = 0;

	if (map >= 0 && bpf_map_update_elem(map, &zero, &cgroup, BPF_ANY)) {
		close(map);
		map = -1;
	}
	close(cgroup);
	return map;
}

static int load_lsm(int func)
{
	struct btf *btf = btf__load_vmlinux_btf();
	int map = cgroup_map(), prog;

	if (!btf || map < 0)
		prog = -errno;
	else if (!judges(btf, func))
		prog = -EDOM;
	else if ((prog = strict_lsm(map, func)) < 0)
		prog = -errno;
	btf__free(btf);
	close(map);
	return prog;
}

int hook_strict(const char *name)
{
	struct bpf_link_info info;
	struct bpf_prog_info about = { 0 };
	__u32 len = sizeof(about);
	char pin[256];
	int link = pinned(name, pin, sizeof(pin)), prog, fd, type;

	if (link < 0)
		return link;
	fd = look(link, &info);
	close(link);
	type = attach_type(&info);
	if (fd || type == BPF_TRACE_RAW_TP)
		return fd ? fd : -EDOM;
	fd = bpf_prog_get_fd_by_id(info.prog_id);
	if (fd < 0 || bpf_obj_get_info_by_fd(fd, &about, &len))
		return -errno;
	close(fd);
	prog = type == BPF_LSM_MAC ? load_lsm(about.attach_btf_id) :
	       strict_cgroup(about.type, type);
	if (prog < 0)
		return prog;
	fd = attach(prog, type);
	close(prog);
	return fd;
}
