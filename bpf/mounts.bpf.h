/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * For hooks that are given a dentry and no mount: the question is put over the
 * mounts of its file system that the caller's mount namespace has. Denied if it
 * is below any of them, granted if it is below one.
 */
#ifndef LH_MOUNTS_BPF_H
#define LH_MOUNTS_BPF_H

#include "fs.bpf.h"

#define MNT_INTERNAL 0x4000
#define MOUNTS_MAX 65536	/* looked at for one question, all tries */
#define MOUNTS_TRIES 64
#define MOUNTS_COVER 64

/* From 6.18 a file system's mounts are a plain chain. */
struct mount___chain {
	struct mount *mnt_next_for_sb;
};

struct super_block___chain {
	struct mount *s_mounts;
};

/*
 * A round over the mounts. It lives in the task's label: up to 6.6 a verifier
 * looks at one step of a loop alone, and takes what one step leaves on the
 * stack for all that can be there after it.
 */
struct mounts_walk {
	__u64 sb;		/* whose mounts */
	__u64 next;		/* as the list has them: nodes, or mounts */
	__u64 end;		/* what comes after the last */
	__u64 ns;		/* the caller's mount namespace */
	__u64 mnt;		/* that the verdict below was reached by */
	__u32 verdict;		/* of those that refused */
	__u32 seq;		/* of mount_lock, at the start */
	__u16 tries;
	__u8 allowed, denied, seen, done;
	__u8 pad[2];
};

_Static_assert(sizeof(struct mounts_walk) <= LH_MOUNTS_WORDS * 8, "scratch");

#define MOUNTS(l) \
	((struct mounts_walk *)&(l)->scratch[LH_SCRATCH_WORDS - \
					     LH_MOUNTS_WORDS])

struct mounts_stride {
	struct lh_label *l;
	struct lh_ask *q;
};

static __always_inline bool mounts_are_nodes(void)
{
	return bpf_core_field_exists(struct mount, mnt_instance);
}

/* From the head, which the counter must be older than. */
static __always_inline void mounts_begin(struct mounts_walk *m)
{
	struct super_block *sb = (struct super_block *)m->sb;

	if (lh_mounts_seq() & 1)
		lh_settle();
	m->seq = lh_mounts_seq();
	if (mounts_are_nodes()) {
		m->end = m->sb + bpf_core_field_offset(sb->s_mounts);
		m->next = (__u64)BPF_CORE_READ(sb, s_mounts.next);
	} else {
		struct super_block___chain *c = (void *)sb;

		m->end = 0;
		m->next = (__u64)BPF_CORE_READ(c, s_mounts);
	}
	m->allowed = 0;
	m->seen = 0;
}

/* The mount that is next, and on; 0: there is none, or the list broke off. */
static __always_inline __u64 mounts_take(struct mounts_walk *m)
{
	__u64 mount = m->next;

	if (mount == m->end || !mount)
		return 0;
	if (mounts_are_nodes()) {
		struct list_head *node = (struct list_head *)mount;

		m->next = (__u64)BPF_CORE_READ(node, next);
		mount -= bpf_core_field_offset(struct mount, mnt_instance);
	} else {
		struct mount___chain *c = (struct mount___chain *)mount;

		m->next = (__u64)BPF_CORE_READ(c, mnt_next_for_sb);
	}
	return mount;
}

/* The list has ended: did it stay as it was? 1: over; 0: once more. */
static __always_inline long mounts_finish(struct mounts_walk *m)
{
	if (!(m->seq & 1) && lh_mounts_seq() == m->seq) {
		m->done = 1;
		return 1;
	}
	if (++m->tries >= MOUNTS_TRIES)
		return 1;
	mounts_begin(m);
	return 0;
}

/*
 * A mount of the caller's, or the kernel's own of what has no name. Others,
 * such as overlayfs's private ones, are none that the caller could have used.
 */
static __always_inline bool mounts_count(const struct mounts_walk *m,
					 __u64 mount)
{
	struct mount *p = (struct mount *)mount;

	return (__u64)BPF_CORE_READ(p, mnt_ns) == m->ns ||
	       (BPF_CORE_READ(p, mnt.mnt_flags) & MNT_INTERNAL);
}

/* Has the object a path there? Farther up than that nobody looks. */
static __noinline long mounts_cover(__u64 dentry, __u64 mnt)
{
	struct vfsmount *v = (struct vfsmount *)mnt;
	__u64 root = (__u64)BPF_CORE_READ(v, mnt_root);

	for (int i = 0; i < MOUNTS_COVER && dentry; i++) {
		struct dentry *d = (struct dentry *)dentry;

		if (dentry == root)
			return 1;
		dentry = (__u64)BPF_CORE_READ(d, d_parent);
	}
	return 0;
}

static long mounts_step(__u32 i, struct mounts_stride *c)
{
	struct mounts_walk *m = MOUNTS(c->l);
	__u64 mount = mounts_take(m);
	__u32 verdict, why;

	if (!mount)
		return mounts_finish(m);
	if (!mounts_count(m, mount))
		return 0;
	mount += bpf_core_field_offset(struct mount, mnt);
	if (m->denied) {	/* known already: only for the record's path */
		m->mnt = mount;
		return mounts_cover(c->q->at.dentry, mount);
	}
	c->q->at.mnt = mount;
	verdict = lh_judge(c->l, c->q);
	why = verdict & 0xffff;
	if (why == LH_WHY_ALLOW) {
		m->allowed = 1;
		return 0;
	}
	/* Of several refusals the one that says most. */
	if (!m->seen || why != LH_WHY_OUTSIDE_MOUNT) {
		m->verdict = verdict;
		m->mnt = mount;
	}
	m->seen = 1;
	m->denied = why == LH_WHY_DENIED;
	return m->denied;
}

/*
 * The verdict over the mounts on what is not denied where it lies, however it
 * is reached: @chain, by lh_judge() with no mount. Of the refusals that say
 * most the path is in *q.
 */
static __always_inline __u32 mounts_judge(struct lh_label *l, struct lh_ask *q,
					  __u64 sb, __u32 chain)
{
	struct task_struct *t = bpf_get_current_task_btf();
	struct mounts_stride c = { .l = l, .q = q };
	struct mounts_walk *m = MOUNTS(l);

	__builtin_memset(m, 0, sizeof(*m));
	m->denied = (chain & 0xffff) != LH_WHY_ALLOW;
	m->ns = (__u64)BPF_CORE_READ(t, nsproxy, mnt_ns);
	m->sb = sb;
	mounts_begin(m);
	bpf_loop(MOUNTS_MAX, mounts_step, &c, 0);
	q->at.mnt = m->mnt;
	if ((chain & 0xffff) != LH_WHY_ALLOW)
		return chain;
	if (m->denied)
		return m->verdict;
	if (!m->done)
		return m->tries >= MOUNTS_TRIES ? LH_WHY_RACED :
		       LH_WHY_UNFINISHED;
	if (m->allowed)
		return LH_WHY_ALLOW;
	if (m->seen)
		return m->verdict;
	/* Mounted nowhere: what is not denied may be looked at. */
	return q->access == LH_STAT ? LH_WHY_ALLOW : LH_WHY_OUTSIDE_MOUNT;
}

#endif
