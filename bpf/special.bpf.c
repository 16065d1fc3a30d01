// SPDX-License-Identifier: GPL-2.0-only
/*
 * What is judged by the file system that it is of, before the walk and after:
 * processes in /proc, the kernel's own knobs, devices, and what has no place
 * in the tree. What is not named here the walk decides.
 */
#include "walk.bpf.h"

#define MNT_INTERNAL 0x4000
#define MNT_NS_NONE (-22)	/* mnt_ns of a mount that is in no namespace */
#define PROC_NET_DEPTH 6	/* of what lies below /proc/<pid>/net */

/* Eight characters as memory has them; to compare names without a call. */
#define LH_WORD(s) \
	((__u64)s[0] | (__u64)s[1] << 8 | (__u64)s[2] << 16 | \
	 (__u64)s[3] << 24 | (__u64)s[4] << 32 | (__u64)s[5] << 40 | \
	 (__u64)s[6] << 48 | (__u64)s[7] << 56)

/* Is the process behind a file of /proc in this session? */
static __noinline int proc_is_own(struct lh_session *s, struct pid *pid)
{
	struct hlist_node *n;
	struct task_struct *t;
	__u64 links = bpf_core_field_offset(struct task_struct, pid_links);

	/* tasks[1]: a thread group; tasks[0]: one thread */
	n = BPF_CORE_READ(pid, tasks[1].first);
	if (n) {
		t = (void *)((__u64)n - links - sizeof(struct hlist_node));
	} else {
		n = BPF_CORE_READ(pid, tasks[0].first);
		if (!n)
			return 0;
		t = (void *)((__u64)n - links);
	}
	/* Itself, wherever somebody outside may have moved it. */
	if (BPF_CORE_READ(t, tgid) == (int)(bpf_get_current_pid_tgid() >> 32))
		return 1;
	return (__u64)BPF_CORE_READ(t, cgroups, dfl_cgrp) == s->cgroup;
}

static __always_inline struct pid *proc_pid(__u64 inode)
{
	struct proc_inode *p = (void *)(inode -
		bpf_core_field_offset(struct proc_inode, vfs_inode));

	return inode ? BPF_CORE_READ(p, pid) : NULL;
}

/*
 * Own files that reach beyond the session: whom the audit trail takes it for,
 * and the weight of a terminal's tasks, which its caller's are too.
 */
static __noinline int proc_reaches_out(__u64 dentry)
{
	struct dentry *d = (struct dentry *)dentry;
	__u64 name[2] = {};

	bpf_probe_read_kernel_str(name, sizeof(name),
				  BPF_CORE_READ(d, d_name.name));
	return (name[0] == LH_WORD("loginuid") && !name[1]) ||
	       (name[0] == LH_WORD("autogrou") && name[1] == 'p');
}

/* Is it net/@want of a process? */
static __noinline int proc_is_net(__u64 dentry, __u64 want)
{
	struct dentry *d = (struct dentry *)dentry;
	__u64 name[2] = {}, above = 0;

	bpf_probe_read_kernel_str(name, sizeof(name),
				  BPF_CORE_READ(d, d_name.name));
	bpf_probe_read_kernel_str(&above, sizeof(above),
				  BPF_CORE_READ(d, d_parent, d_name.name));
	return name[0] == want && !name[1] &&
	       above == ('n' | 'e' << 8 | 't' << 16);
}

/*
 * net/if_inet6 of an own process: a JVM holds that there is no IPv6 if it
 * cannot read it. It tells what netlink tells too; its neighbours tell of the
 * host's connections.
 */
static __always_inline int proc_is_interfaces(struct lh_session *s,
					      __u64 dentry)
{
	return (s->flags & LH_SESSION_INET) &&
	       proc_is_net(dentry, LH_WORD("if_inet6"));
}

/* Names the host's socket files, also those in places that are denied. */
static __always_inline int proc_is_sockets(__u64 dentry)
{
	return proc_is_net(dentry, 'u' | 'n' << 8 | 'i' << 16 | 'x' << 24);
}

/*
 * What lies in /proc/<pid>/net is of no process, but tells of the network that
 * this one has.
 */
static __noinline struct pid *proc_pid_above(__u64 dentry)
{
	struct dentry *d = (struct dentry *)dentry;
	struct pid *pid;
	int i;

	for (i = 0; i < PROC_NET_DEPTH; i++) {
		struct dentry *up = BPF_CORE_READ(d, d_parent);

		if (up == d)
			break;
		d = up;
		pid = proc_pid((__u64)BPF_CORE_READ(d, d_inode));
		if (pid)
			return pid;
	}
	return NULL;
}

static __noinline __u32 proc_special(struct lh_session *s, struct lh_ask *q)
{
	struct pid *pid = proc_pid(q->inode);
	struct pid *above = pid ? NULL : proc_pid_above(q->at.dentry);

	if (above && !proc_is_own(s, above))
		return LH_SPECIAL_DECIDED | LH_WHY_PROCESS;
	if (above && !(q->access & LH_CHANGES) &&
	    proc_is_interfaces(s, q->at.dentry))
		return LH_SPECIAL_FREE;
	if (above && q->access != LH_STAT && proc_is_sockets(q->at.dentry))
		return LH_SPECIAL_DECIDED | LH_WHY_NEVER;
	if (!pid)	/* a knob is written where a rule names it, or above */
		return q->access & LH_CHANGES ? LH_SPECIAL_SHUT : 0;
	if (!proc_is_own(s, pid))
		return LH_SPECIAL_DECIDED | LH_WHY_PROCESS;
	if ((q->access & LH_WRITE) && proc_reaches_out(q->at.dentry))
		return LH_SPECIAL_DECIDED | LH_WHY_NEVER;
	return LH_SPECIAL_FREE;
}

/* In devtmpfs, a directory may name its devices; the root of it names none. */
static __always_inline __u32 device_special(struct lh_ask *q)
{
	struct dentry *d = (struct dentry *)q->at.dentry;
	__u64 type[2] = {};

	bpf_probe_read_kernel_str(type, sizeof(type),
				  BPF_CORE_READ(d, d_sb, s_type, name));
	return type[0] == LH_WORD("devtmpfs") && !type[1] ? LH_SPECIAL_SHUT :
	       LH_SPECIAL_BARE;
}

__noinline __u32 lh_special(struct lh_label *l, struct lh_ask *q)
{
	struct lh_session *s;
	__u32 slot;

	if (!l || !q)
		return LH_SPECIAL_DECIDED | LH_WHY_INTERNAL;
	switch (q->magic) {
	case PROC_MAGIC:
		slot = l->slot;
		s = bpf_map_lookup_elem(&lh_sessions, &slot);
		if (!s)
			return LH_SPECIAL_DECIDED | LH_WHY_INTERNAL;
		return proc_special(s, q);
	case SYSFS_MAGIC:
		return q->access & LH_CHANGES ? LH_SPECIAL_SHUT : 0;
	case CGROUP_MAGIC:
	case CGROUP2_MAGIC:
		return q->access & LH_CHANGES ?
			LH_SPECIAL_DECIDED | LH_WHY_GUARD : LH_SPECIAL_SHUT;
	case BPFFS_MAGIC:
		return q->access == LH_STAT ? 0 :
			LH_SPECIAL_DECIDED | LH_WHY_GUARD;
	case BINFMT_MAGIC:
	case CONFIGFS_MAGIC:
	case DEBUGFS_MAGIC:
	case EFIVARFS_MAGIC:
	case FUSECTL_MAGIC:
	case PSTORE_MAGIC:
	case SECURITYFS_MAGIC:
	case TRACEFS_MAGIC:
		return q->access == LH_STAT ? 0 :
			LH_SPECIAL_DECIDED | LH_WHY_NEVER;
	/* Each its own, and no other, whatever grants the place. */
	case DEVPTS_MAGIC:
	case MQUEUE_MAGIC:
		return q->mine ? 0 : LH_SPECIAL_SHUT;
	/*
	 * Only who holds a descriptor gets here. From 6.9 a pidfd is opened as
	 * a file; what it can do to its process the process hooks judge. The
	 * kernel itself refuses to open the others anew, as programs expect.
	 */
	case PID_FS_MAGIC:
	case SOCKFS_MAGIC:
	case ANON_INODE_FS_MAGIC:
		return LH_SPECIAL_DECIDED | LH_WHY_ALLOW;
	/* Its own ends are its own; one that it was given has a mode. */
	case PIPEFS_MAGIC:
		return q->mine || q->access == LH_STAT ?
			LH_SPECIAL_DECIDED | LH_WHY_ALLOW : 0;
	}
	return q->device ? device_special(q) : 0;
}

/*
 * The chain ended in a mount other than the session's top: what is it? A
 * backing file of overlayfs lies on a private mount, after the user's own
 * file was judged; a memory file or a pipe on the kernel's, where it is the
 * session's own or one of the command's descriptors. Anything else is outside.
 */
__noinline __u32 lh_elsewhere(struct lh_ask *q, __u64 mount, __u32 verdict)
{
	struct mount *m = (struct mount *)mount;
	int flags = BPF_CORE_READ(m, mnt.mnt_flags);

	if (!q)
		return LH_WHY_INTERNAL;
	/* These mounts are the kernel's, and yet not marked so. */
	if (q->magic == MQUEUE_MAGIC ||
	    (q->magic == HUGETLBFS_MAGIC && q->mine))
		return (flags & MNT_INTERNAL) && q->mine ? LH_WHY_ALLOW :
		       LH_WHY_OUTSIDE_MOUNT;
	if ((long)BPF_CORE_READ(m, mnt_ns) != MNT_NS_NONE)
		return LH_WHY_OUTSIDE_MOUNT;
	if (!(flags & MNT_INTERNAL))
		return lh_forbids(verdict) ? verdict : LH_WHY_ALLOW;
	switch (q->magic) {
	case TMPFS_MAGIC:
	case HUGETLBFS_MAGIC:
	case SECRETMEM_MAGIC:
	case PIPEFS_MAGIC:
		return q->mine ? LH_WHY_ALLOW : verdict;
	case NSFS_MAGIC:
		if (!(q->access & LH_CHANGES))
			return LH_WHY_ALLOW;
		break;
	}
	return LH_WHY_OUTSIDE_MOUNT;
}
