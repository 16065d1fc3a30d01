/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One question, one judge: what a hook asks about an object that is reached by
 * dentry and mount. walk.bpf.c answers it.
 */
#ifndef LH_WALK_BPF_H
#define LH_WALK_BPF_H

#include "core.bpf.h"

#define LH_CHANGE (LH_WRITE | LH_REMOVE | LH_MOVE | LH_BECOME)

struct lh_ask {
	struct lh_place at;	/* no mount: is it denied in its file system? */
	struct lh_place other;	/* for the record alone */
	__u64 magic;		/* of the object's superblock */
	__u64 inode;		/* 0: the name does not exist yet */
	__u32 access;		/* LH_READ… */
	__u32 flags;		/* LH_DENIAL_* */
	__u16 op, hook;
	__u32 mine;		/* this session made the object, or would */
};

/*
 * enum lh_why in the low 16 bits (0: allow), the rule above them. Global:
 * verified once, whatever asks.
 */
__u32 lh_judge(struct lh_label *l, struct lh_ask *q);

/* Odd while a mount comes or goes, and another number after it. */
__u32 lh_mounts_seq(void);

#endif
