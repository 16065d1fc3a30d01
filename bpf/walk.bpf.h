/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One question, one judge: what a hook asks about an object that is reached by
 * dentry and mount. walk.bpf.c answers it.
 */
#ifndef LH_WALK_BPF_H
#define LH_WALK_BPF_H

#include "core.bpf.h"

struct lh_ask {
	struct lh_place at;	/* no mount: is it denied in its file system? */
	struct lh_place other;	/* for the record alone */
	__u64 magic;		/* of the object's superblock */
	__u64 inode;		/* 0: the name does not exist yet */
	__u32 access;		/* LH_READ… */
	__u32 flags;		/* LH_DENIAL_* */
	__u16 op, hook;
	__u16 mine;		/* this session made the object, or would */
	__u16 device;		/* opened, and none of the harmless ones */
};

/* lh_ask.mine of a new name: only where it lies directly below an OWN root. */
#define LH_MINE_NEW 2
/* It made it, and it has no name: also where it lies in an UNNAMED one. */
#define LH_MINE_UNNAMED 3

/*
 * enum lh_why in the low 16 bits (0: allow), the rule above them. Global:
 * verified once, whatever asks.
 */
__u32 lh_judge(struct lh_label *l, struct lh_ask *q);
/* LH_ROOT_* that were met when it last judged. */
__u32 lh_rights(struct lh_label *l);

/* Odd while a mount comes or goes, and another number after it. */
__u32 lh_mounts_seq(void);
int lh_settle(void);

/* A rule says so, and not only that none grants. */
static __always_inline int lh_forbids(__u16 why)
{
	return why == LH_WHY_DENIED || why == LH_WHY_PROTECTED ||
	       why == LH_WHY_READ_ONLY || why == LH_WHY_PINNED;
}

/*
 * special.bpf.c. Before the walk: a verdict with DECIDED, or which rules the
 * walk may count, or FREE: granted, where nothing denies it. After it: the
 * verdict on what lies in none of the session's mounts.
 */
#define LH_SPECIAL_DECIDED 0x10000u
#define LH_SPECIAL_FREE 0x20000u
#define LH_SPECIAL_SHUT 0x40000u	/* no grant by the fs's top or above */
#define LH_SPECIAL_BARE 0x80000u	/* no grant but the object's own */

__u32 lh_special(struct lh_label *l, struct lh_ask *q);
__u32 lh_elsewhere(struct lh_ask *q, __u64 mount, __u32 verdict);

#define S_IFMT 0170000
#define S_IFDIR 0040000
#define S_IFREG 0100000

#define PROC_MAGIC 0x9fa0
#define SYSFS_MAGIC 0x62656572
#define CGROUP_MAGIC 0x27e0eb
#define CGROUP2_MAGIC 0x63677270
#define BPFFS_MAGIC 0xcafe4a11
#define BINFMT_MAGIC 0x42494e4d
#define CONFIGFS_MAGIC 0x62656570
#define DEBUGFS_MAGIC 0x64626720
#define EFIVARFS_MAGIC 0xde5e81e4
#define FUSECTL_MAGIC 0x65735543
#define PSTORE_MAGIC 0x6165676c
#define SECURITYFS_MAGIC 0x73636673
#define TRACEFS_MAGIC 0x74726163
#define DEVPTS_MAGIC 0x1cd1
#define TMPFS_MAGIC 0x01021994
#define HUGETLBFS_MAGIC 0x958458f6
#define SECRETMEM_MAGIC 0x5345434d
#define OVERLAY_MAGIC 0x794c7630
#define MQUEUE_MAGIC 0x19800202
#define PIPEFS_MAGIC 0x50495045
#define SOCKFS_MAGIC 0x534f434b
#define ANON_INODE_FS_MAGIC 0x09041934
#define PID_FS_MAGIC 0x50494446
#define NSFS_MAGIC 0x6e736673

#endif
