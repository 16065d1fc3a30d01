// SPDX-License-Identifier: GPL-2.0-only
/*
 * Times, attributes, access lists and link targets. Their hooks are given a
 * dentry and no mount, so the question is put over the mounts of its file
 * system that the caller's mount namespace has: denied if it is below any of
 * them, granted if it is below one.
 *   inode_setattr                           times; the rest has path hooks
 *   inode_{set,remove}xattr, inode_{set,remove}_acl  to change
 *   inode_{get,list}xattr, inode_get_acl, inode_readlink  to look
 */
#include "fs.bpf.h"

#define ATTR_SIZE 0x8
#define ATTR_ATIME 0x10
#define ATTR_MTIME 0x20
#define ATTR_FORCE 0x200

#define MNT_INTERNAL 0x4000
#define MOUNTS_MAX 65536	/* looked at for one question, all tries */
#define MOUNTS_TRIES 64

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
		return 1;
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

/* Judge over the mounts and record; 1: refuse. */
static __always_inline int meta_refuses(struct lh_label *l, struct lh_ask *q,
					struct dentry *d)
{
	struct task_struct *t = bpf_get_current_task_btf();
	struct mounts_stride c = { .l = l, .q = q };
	struct mounts_walk *m = MOUNTS(l);
	__u32 verdict;

	if (!lh_session_of(l))
		return 1;
	/* Is it denied where it lies, however it is reached? */
	verdict = lh_judge(l, q);
	/*
	 * With other credentials than its own a task asks for overlayfs, which
	 * works below a file that was judged already.
	 */
	if (t->cred != t->real_cred)
		return fs_record(l, q, verdict);
	__builtin_memset(m, 0, sizeof(*m));
	m->denied = (verdict & 0xffff) != LH_WHY_ALLOW;
	m->ns = (__u64)BPF_CORE_READ(t, nsproxy, mnt_ns);
	m->sb = (__u64)BPF_CORE_READ(d, d_sb);
	mounts_begin(m);
	bpf_loop(MOUNTS_MAX, mounts_step, &c, 0);
	q->at.mnt = m->mnt;
	if ((verdict & 0xffff) != LH_WHY_ALLOW)
		return fs_record(l, q, verdict);
	if (m->denied)
		verdict = m->verdict;
	else if (!m->done)
		verdict = m->tries >= MOUNTS_TRIES ? LH_WHY_RACED :
			  LH_WHY_UNFINISHED;
	else if (m->allowed)
		verdict = LH_WHY_ALLOW;
	else if (m->seen)
		verdict = m->verdict;
	else
		/* Mounted nowhere: what is not denied may be looked at. */
		verdict = q->access == LH_STAT ? LH_WHY_ALLOW :
			  LH_WHY_OUTSIDE_MOUNT;
	return fs_record(l, q, verdict);
}

#define META(name, hook, op, access, params...)				\
SEC("lsm/" #hook)							\
int BPF_PROG(meta_##name, ##params)					\
{									\
	struct lh_label *l;						\
									\
	if (lh_outside())						\
		return 0;						\
	l = lh_label_current();						\
	if (!l)								\
		return 0;						\
	struct lh_ask q = FS_ASK(dentry, 0, op, hook, access);		\
									\
	return LH_RESULT(meta_refuses(l, &q, dentry), EACCES);		\
}

META(getxattr, inode_getxattr, XATTR, LH_STAT, struct dentry *dentry,
     const char *name)
META(listxattr, inode_listxattr, XATTR, LH_STAT, struct dentry *dentry)
META(get_acl, inode_get_acl, ACL, LH_STAT, struct mnt_idmap *idmap,
     struct dentry *dentry, const char *name)
META(set_acl, inode_set_acl, ACL, LH_WRITE, struct mnt_idmap *idmap,
     struct dentry *dentry, const char *name, struct posix_acl *acl)
META(remove_acl, inode_remove_acl, ACL, LH_WRITE, struct mnt_idmap *idmap,
     struct dentry *dentry, const char *name)
META(readlink, inode_readlink, READLINK, LH_STAT, struct dentry *dentry)

static __always_inline int setattr_refused(struct dentry *dentry,
					   struct iattr *attr)
{
	const unsigned int times = ATTR_ATIME | ATTR_MTIME;
	unsigned int valid = attr->ia_valid;
	struct lh_label *l;

	/* Size, mode and owner were judged by path; FORCE is the kernel's. */
	if (!(valid & times) || (valid & (ATTR_SIZE | ATTR_FORCE)))
		return 0;
	l = lh_label_current();
	if (!l)
		return 0;
	struct lh_ask q = FS_ASK(dentry, 0, SETATTR, inode_setattr, LH_WRITE);

	return meta_refuses(l, &q, dentry);
}

/* Until 6.2, or from 6.3: the loader counts the hook's arguments. */
SEC("lsm/inode_setattr")
int BPF_PROG(meta_setattr_2, struct dentry *dentry, struct iattr *attr)
{
	if (lh_outside())
		return 0;
	return LH_RESULT(setattr_refused(dentry, attr), EACCES);
}

SEC("lsm/inode_setattr")
int BPF_PROG(meta_setattr_3, struct mnt_idmap *idmap, struct dentry *dentry,
	     struct iattr *attr)
{
	if (lh_outside())
		return 0;
	return LH_RESULT(setattr_refused(dentry, attr), EACCES);
}

/* security.*: capabilities and labels, which no session gives or takes. */
static __always_inline int xattr_is_never(const char *name)
{
	static const char never[] = "security.";
	char begin[sizeof(never)] = {};
	int i;

	bpf_probe_read_kernel_str(begin, sizeof(begin), name);
	for (i = 0; i < (int)sizeof(never) - 1; i++)
		if (begin[i] != never[i])
			return 0;
	return 1;
}

static __always_inline int xattr_refused(struct dentry *dentry,
					 const char *name, __u16 hook)
{
	struct lh_label *l = lh_label_current();

	if (!l)
		return 0;
	struct lh_ask q = FS_ASK(dentry, 0, XATTR, inode_setxattr, LH_WRITE);

	q.hook = hook;
	if (xattr_is_never(name))
		return fs_refuses_kind(l, &q, LH_WHY_NEVER);
	return meta_refuses(l, &q, dentry);
}

/* idmap is a user namespace on older kernels; neither is looked at. */
SEC("lsm/inode_setxattr")
int BPF_PROG(meta_setxattr, void *idmap, struct dentry *dentry,
	     const char *name)
{
	if (lh_outside())
		return 0;
	return LH_RESULT(xattr_refused(dentry, name, LH_HOOK_inode_setxattr),
			 EACCES);
}

SEC("lsm/inode_removexattr")
int BPF_PROG(meta_removexattr, void *idmap, struct dentry *dentry,
	     const char *name)
{
	if (lh_outside())
		return 0;
	return LH_RESULT(xattr_refused(dentry, name,
				       LH_HOOK_inode_removexattr), EACCES);
}
