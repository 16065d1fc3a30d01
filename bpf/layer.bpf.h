/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What overlayfs, a module whose types no program has, keeps of an object: the
 * dentries that it has in the layers. Part of walk.bpf.c.
 */
#ifndef LH_LAYER_BPF_H
#define LH_LAYER_BPF_H

#include "walk.bpf.h"

#define LAYERS_MAX 200		/* looked at: more than people stack */

static __always_inline __u64 layer_word(__u64 at)
{
	__u64 word = 0;

	bpf_probe_read_kernel(&word, sizeof(word), (void *)at);
	return word;
}

/* @d if it is a dentry: were it anything else, this would hardly be so. */
static __always_inline __u64 layer_dentry(__u64 d)
{
	__u64 up = d ? (__u64)LH_READ_AS(struct dentry, d, d_parent) : 0;
	__u64 dir = up ? (__u64)LH_READ_AS(struct dentry, up, d_inode) : 0;

	return dir && LH_READ_AS(struct inode, dir, i_sb) ==
	       LH_READ_AS(struct dentry, d, d_sb) ? d : 0;
}

static __always_inline bool layer_is_overlay(__u64 dentry)
{
	__u64 sb = (__u64)LH_READ_AS(struct dentry, dentry, d_sb);

	return LH_READ_AS(struct super_block, sb, s_magic) == OVERLAY_MAGIC;
}

/*
 * The dentry in the upper layer of what this one of an overlay is, or 0. It
 * comes after the inode in what overlayfs allocates for both.
 */
static __always_inline __u64 layer_above(__u64 dentry)
{
	__u64 inode = (__u64)LH_READ_AS(struct dentry, dentry, d_inode);

	return inode ? layer_dentry(layer_word(inode +
			bpf_core_type_size(struct inode))) : 0;
}

/*
 * The same in the @n-th layer below. Behind the upper one comes the pair of a
 * layer and the dentry in it, the first of these; there are more in a list of
 * the dentry's, behind two words. From 6.5 there is a list alone. It begins
 * with their number.
 */
static __always_inline __u64 layer_below(__u64 dentry, __u32 n)
{
	__u64 at = (__u64)LH_READ_AS(struct dentry, dentry, d_inode), d, list;

	if (!at)
		return 0;
	at += bpf_core_type_size(struct inode) + 8;
	d = layer_dentry(layer_word(at + 8));
	if (d && !n)
		return d;
	list = d ? (__u64)LH_READ_AS(struct dentry, dentry, d_fsdata) + 16 :
	       layer_word(at);
	if (!list || n >= (__u32)layer_word(list))
		return 0;
	return layer_dentry(layer_word(list + 16 + 16 * n));
}

#endif
