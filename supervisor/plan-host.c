// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the files say that every user may read: the LSM list, the kernel's
 * types, the controllers of cgroup v2. That all of it is there does not mean
 * that the engine loads: only loading it proves that.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "cleanup.h"
#include "confine.h"
#include "plan.h"

#define LSM_LIST "/sys/kernel/security/lsm"
#define BTF "/sys/kernel/btf/vmlinux"

/* Whether the comma-separated @list has @word. */
static bool has_word(char *list, const char *word)
{
	char *next;

	while ((next = strsep(&list, ",\n")))
		if (!strcmp(next, word))
			return true;
	return false;
}

static const char *no_engine(void)
{
	_cleanup_file_ FILE *f = fopen(LSM_LIST, "re");
	unsigned int major, minor;
	struct utsname u;
	char list[1024];

	if (!uname(&u) && sscanf(u.release, "%u.%u", &major, &minor) == 2 &&
	    (major < 6 || (major == 6 && minor < 1)))
		return "the kernel is older than 6.1";
	if (access(BTF, F_OK))
		return BTF " is not there: the kernel has no BTF "
			"(CONFIG_DEBUG_INFO_BTF)";
	if (!f || !fgets(list, sizeof(list), f))
		return LSM_LIST " cannot be read: no BPF LSM, or securityfs "
			"is not mounted";
	if (!has_word(list, "bpf"))
		return "bpf is not in " LSM_LIST ": boot with lsm=...,bpf";
	return NULL;
}

void plan_lacks(const struct run *r,
		void (*each)(const char *what, const char *why, void *arg),
		void *arg)
{
	_cleanup_free_ char *root = NULL;
	struct err e = {};
	const char *why = no_engine();

	if (why && r->result.confinement == CONFINE_FULL)
		each("linux_bpf_lsm", why, arg);
	why = confine_no_tracing();
	if (why && (r->load.im->flags & IMAGE_PTRACE) &&
	    r->result.confinement == CONFINE_FULL)
		each("linux_ptrace", why, arg);
	root = cgroup_root(&e);
	if (!root) {
		each("linux_cgroup_v2", e.msg, arg);
		return;
	}
	confine_each_lack(&r->load.im->limits, root, each, arg);
}
