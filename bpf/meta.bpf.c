// SPDX-License-Identifier: GPL-2.0-only
/*
 * Times, attributes, access lists and link targets. Their hooks are given a
 * dentry and no mount: mounts.bpf.h.
 *   inode_setattr                           times; the rest has path hooks
 *   inode_{set,remove}xattr, inode_{set,remove}_acl  to change
 *   inode_{get,list}xattr, inode_get_acl, inode_readlink  to look
 */
#include "mounts.bpf.h"

#define ATTR_SIZE 0x8
#define ATTR_ATIME 0x10
#define ATTR_MTIME 0x20
#define ATTR_FORCE 0x200

/* Judge over the mounts and record; 1: refuse. */
static __always_inline int meta_refuses(struct lh_label *l, struct lh_ask *q,
					struct dentry *d)
{
	struct task_struct *t = bpf_get_current_task_btf();
	__u32 verdict, access = q->access;

	if (!lh_session_of(l))
		return 1;
	if (access == LH_WRITE && q->op != LH_OP_SETATTR &&
	    is_shared_node(d, q->mine))
		return fs_refuses_kind(l, q, LH_WHY_DEVICE);
	/*
	 * With other credentials than its own a task asks for overlayfs, which
	 * works below a file that was judged already.
	 */
	if (t->cred != t->real_cred)
		return fs_record(l, q, lh_judge(l, q));
	/* Is it denied where it lies, however it is reached? */
	q->access = LH_STAT;
	verdict = lh_judge(l, q);
	q->access = access;
	verdict = mounts_judge(l, q, (__u64)BPF_CORE_READ(d, d_sb), verdict);
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
