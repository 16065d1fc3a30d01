/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the hooks on files share: how a question is put, and how a refusal is
 * recorded. fs.bpf.c asks by path, meta.bpf.c by dentry alone.
 */
#ifndef LH_FS_BPF_H
#define LH_FS_BPF_H

#include "walk.bpf.h"

#define AF_UNIX 1

#define FMODE_READ 0x1
#define FMODE_WRITE 0x2
#define FMODE_PATH 0x4000
#define OPEN_FOR_EXEC 0x20	/* __FMODE_EXEC in f_flags */
#define OPEN_EXCL 0200
#define OPEN_TRUNC 01000
#define OPEN_TMPFILE 020000000	/* __O_TMPFILE */

#define S_IFLNK 0120000
#define S_IFCHR 0020000
#define S_IFBLK 0060000
#define S_IFSOCK 0140000
#define S_ISUID 04000
#define S_ISGID 02000
#define S_IXGRP 010
#define S_SETID (S_ISUID | S_ISGID)

static __always_inline bool made_matters(__u64 magic)
{
	return magic == TMPFS_MAGIC || magic == DEVPTS_MAGIC ||
	       magic == MQUEUE_MAGIC || magic == PIPEFS_MAGIC ||
	       magic == HUGETLBFS_MAGIC || magic == SECRETMEM_MAGIC;
}

static __always_inline bool made_by(struct lh_label *l, struct inode *i)
{
	__u64 *maker = i ? bpf_inode_storage_get(&lh_made, i, 0, 0) : NULL;

	return maker && *maker == l->serial;
}

/*
 * A dentry's inode, or 0 for a name that is not there yet. Some verifiers hold
 * that it cannot be NULL and drop the test of it: out of the scratch it comes
 * as a number, of which they know nothing.
 */
static __always_inline __u64 inode_number(struct lh_label *l, struct dentry *d)
{
	*(volatile __u64 *)&l->scratch[0] = (__u64)d->d_inode;
	return *(volatile __u64 *)&l->scratch[0];
}

/* What has no name is looked at wherever it is: tmpfile(3) made it in /tmp. */
static __always_inline __u16 is_my_inode(struct lh_label *l, struct inode *i,
					 __u64 magic)
{
	int unnamed;

	if (!i)		/* others hold that it can be, see inode_number() */
		return 0;
	unnamed = !i->i_nlink;
	if (!unnamed && !made_matters(magic))
		return 0;
	if (!made_by(l, i))
		return 0;
	return unnamed ? LH_MINE_UNNAMED : 1;
}

static __always_inline __u16 is_mine(struct lh_label *l, struct dentry *d)
{
	__u64 magic = d->d_sb->s_magic;

	if (inode_number(l, d))
		return is_my_inode(l, d->d_inode, magic);
	if (!made_matters(magic))
		return 0;
	return made_by(l, d->d_parent->d_inode) ? 1 : LH_MINE_NEW;
}

static __always_inline __u16 is_my_file(struct lh_label *l, struct file *file)
{
	return is_my_inode(l, file->f_inode,
			   file->f_path.dentry->d_sb->s_magic);
}

/*
 * Record what lh_judge() said, unless it allows; 1: refuse. Not inline: a walk
 * needs all of the stack that its callers leave it.
 */
static __noinline int fs_record(struct lh_label *l, struct lh_ask *q,
				__u32 verdict)
{
	struct lh_report r = {};

	if ((verdict & 0xffff) == LH_WHY_ALLOW)
		return 0;
	r.slot = l->slot;
	r.op = q->op;
	r.hook = q->hook;
	r.why = verdict;
	r.rule = verdict >> 16;
	r.err = -EACCES;
	r.access = q->access;
	r.flags = q->flags;
	r.path = q->at;
	r.other = q->other;
	if (q->access & (LH_CONNECT | LH_BIND))
		r.family = AF_UNIX;
	lh_record(&r);
	return 1;
}

/* Judge and record; 1: refuse. Unused where there are mounts to ask over. */
static __noinline __attribute__((unused)) int fs_refuses(struct lh_label *l,
							  struct lh_ask *q)
{
	if (!lh_session_of(l))
		return 1;
	return fs_record(l, q, lh_judge(l, q));
}

/* Refuse for what the request is, not for where the object lies. */
static __noinline __attribute__((unused)) int
fs_refuses_kind(struct lh_label *l, struct lh_ask *q, __u16 why)
{
	struct lh_report r = {
		.slot = l->slot, .op = q->op, .hook = q->hook, .why = why,
		.err = -EACCES, .access = q->access, .path = q->at,
	};

	if (lh_session_of(l))
		lh_record(&r);
	return 1;
}

#define FS_ASK_OF(dentry_, mnt_, op_, hook_, access_, mine_)		\
	{								\
		.at = { (__u64)(dentry_), (__u64)(mnt_) },		\
		.magic = (dentry_)->d_sb->s_magic,			\
		.inode = (__u64)(dentry_)->d_inode,			\
		.access = (access_),					\
		.mine = (mine_),					\
		.op = LH_OP_##op_, .hook = LH_HOOK_##hook_,		\
	}

#define FS_ASK(dentry_, mnt_, op_, hook_, access_)			\
	FS_ASK_OF(dentry_, mnt_, op_, hook_, access_, is_mine(l, dentry_))

/* From 6.18 on a file's path is in a union, whose members no helper takes. */
#define FS_ASK_FILE(file_, op_, hook_)					\
	FS_ASK_OF((file_)->f_path.dentry, (file_)->f_path.mnt, op_, hook_, \
		  open_access(file_), is_my_file(l, file_))

/*
 * A device that others use too. What may be read and written is what it does;
 * its mode and owner are the host's, and root's even without a capability.
 */
static __always_inline int is_shared_node(struct dentry *d, __u16 mine)
{
	struct inode *i = d->d_inode;
	__u32 type = i ? i->i_mode & S_IFMT : 0;

	return !mine && (type == S_IFCHR || type == S_IFBLK);
}

/* A device other than null, zero, full, random, urandom, tty and ptmx. */
static __always_inline __u16 is_device(struct inode *i)
{
	__u32 type = i->i_mode & S_IFMT, dev = i->i_rdev;

	if (type == S_IFBLK)
		return 1;
	if (type != S_IFCHR)
		return 0;
	/* Numbers within the kernel: twenty bits of minor. */
	return !(dev == (1 << 20 | 3) || dev == (1 << 20 | 5) ||
		 (dev >= (1 << 20 | 7) && dev <= (1 << 20 | 9)) ||
		 dev == (5 << 20) || dev == (5 << 20 | 2));
}

static __always_inline int is_dir(struct dentry *d)
{
	struct inode *i = d->d_inode;

	return i && (i->i_mode & S_IFMT) == S_IFDIR;
}

/*
 * What arrives where it gets another name. A directory, or a link to one, takes
 * one somewhere else.
 */
static __always_inline __u32 arrives(struct dentry *d)
{
	struct inode *i = d->d_inode;
	__u32 type = i ? i->i_mode & S_IFMT : S_IFREG;

	if (type == S_IFDIR || type == S_IFLNK)
		return LH_BECOME | LH_ODD;
	return type == S_IFREG ? 0 : LH_ODD;
}

/*
 * The kernel takes such a bit away when the file is written, but not when a
 * shared map of it is: what the session writes would run as another user.
 */
static __always_inline int keeps_setid(struct inode *i)
{
	__u32 mode = i->i_mode;

	if ((mode & S_IFMT) != S_IFREG)
		return 0;
	return (mode & S_ISUID) ||
	       (mode & (S_ISGID | S_IXGRP)) == (S_ISGID | S_IXGRP);
}

/* Could it be, or carry with it, a socket that somebody listens at? */
static __always_inline int may_listen(struct dentry *d)
{
	struct inode *i = d->d_inode;

	return i && ((i->i_mode & S_IFMT) == S_IFDIR ||
		     (i->i_mode & S_IFMT) == S_IFSOCK);
}

/* What may be done through an open file. */
static __always_inline __u32 open_access(struct file *file)
{
	__u32 access = 0;

	if (file->f_flags & OPEN_FOR_EXEC)
		return LH_EXEC;
	if (file->f_mode & FMODE_READ)
		access |= LH_READ;
	/* O_RDONLY | O_TRUNC empties it, and no path hook sees it from 6.2. */
	if ((file->f_mode & FMODE_WRITE) || (file->f_flags & OPEN_TRUNC))
		access |= LH_WRITE;
	/* Neither (O_ACCMODE 3): for ioctl, which can do both. */
	return access ? access : LH_READ | LH_WRITE;
}

#endif
