// SPDX-License-Identifier: GPL-2.0-only
/*
 * The walk: from an object over dentries and mounts to the top. It meets roots
 * by the address of their inode, which the supervisor's descriptor keeps in
 * place, and names (names.bpf.h). A walk that raced with a rename or a mount is
 * made again; an unfinished one refuses.
 */
#include "names.bpf.h"
#include "layer.bpf.h"

/* Both begin with a struct seqcount: odd while a change is under way. */
extern const void rename_lock __ksym;
extern const void mount_lock __ksym;

#define SEQ(lock) LH_READ_AS(struct seqcount, &(lock), sequence)

static long settle_step(__u32 i, void *unused)
{
	return !((SEQ(rename_lock) | SEQ(mount_lock)) & 1);
}

/*
 * Until no change is under way, as the kernel's own readers wait. It lasts as
 * long as whoever makes one may be off its (virtual) processor: a few
 * milliseconds, in which all tries of a walk could be spent.
 */
__noinline int lh_settle(void)
{
	bpf_loop(LH_SETTLE_MAX, settle_step, NULL, 0);
	return 0;
}

/*
 * overlayfs changes its upper layer, of which no hook sees a path. The walk is
 * made again, from the overlay into the layer as soon as it has the place.
 */
enum walk_layer {
	LAYER_NONE,
	LAYER_ABOVE,		/* still in the overlay */
	LAYER_IN,
	LAYER_EACH,		/* from each that has it, one after the other */
};

static __always_inline void walk_restart(struct lh_walk *w)
{
	struct vfsmount *mnt = (struct vfsmount *)w->start_mnt;

	w->renames = SEQ(rename_lock);
	w->mounts = SEQ(mount_lock);
	if ((w->renames | w->mounts) & 1) {
		lh_settle();
		w->renames = SEQ(rename_lock);
		w->mounts = SEQ(mount_lock);
	}
	w->root = 0;
	w->mount = 0;
	if (w->start_mnt) {
		w->root = (__u64)LH_READ_AS(struct vfsmount, mnt, mnt_root);
		w->mount = w->start_mnt -
			   bpf_core_field_offset(struct mount, mnt);
	}
	w->dentry = w->start_dentry;
	__builtin_memset(&w->trail, 0, sizeof(w->trail));
	if (w->mine)
		w->trail.found = LH_FOUND_MINE;
	if (w->mine == LH_MINE_UNNAMED)
		w->trail.found |= LH_FOUND_UNNAMED;
	w->count = 0;
	w->beside_count = 0;
	w->aside = 0;
	w->strayed = 0;
	w->ungranted = 0;
	w->self = 1;
	if (w->layer && w->layer != LAYER_EACH)
		w->layer = LAYER_ABOVE;
}

/* The next layer that has w->layer_at: the upper one, then those below. */
static __always_inline __u64 layer_take(struct lh_walk *w)
{
	__u64 d;

	if (!w->layers++) {
		d = layer_above(w->layer_at);
		if (d)
			return d;
		w->layers++;
	}
	return w->layers > LAYERS_MAX ? 0 :
	       layer_below(w->layer_at, w->layers - 2);
}

/*
 * The next walk is from the next layer that has it: 1; 0: that was the last;
 * -1: not one was found. A layer that is an overlay itself, which the kernel
 * allows once, has layers of its own.
 */
static __noinline int layer_next(struct lh_walk *w)
{
	__u64 here = w->start_dentry;

	if (here && !w->layer_outer && layer_is_overlay(here)) {
		w->layer_outer = w->layer_at;
		w->layers_outer = w->layers;
		w->layer_at = here;
		w->layers = 0;
		w->start_dentry = 0;
	}
	here = layer_take(w);
	if (!here && w->layer_outer && w->start_dentry) {
		w->layer_at = w->layer_outer;
		w->layers = w->layers_outer;
		w->layer_outer = 0;
		here = layer_take(w);
		if (!here)
			return 0;
	}
	if (!here)
		return w->start_dentry ? 0 : -1;
	w->start_dentry = here;
	return 1;
}

/* The chain has ended. 1: the walk is over; 0: it raced, once more. */
static __always_inline long walk_finish(struct lh_walk *w)
{
	__u32 renames = SEQ(rename_lock), mounts = SEQ(mount_lock);

	if (renames == w->renames && mounts == w->mounts &&
	    !((renames | mounts) & 1)) {
		int more = 0;

		/* What one layer denies is denied in the overlay. */
		if (w->layer == LAYER_EACH &&
		    !(w->trail.found & LH_FOUND_DENY))
			more = layer_next(w);
		if (more > 0) {
			walk_restart(w);
			return 0;
		}
		w->done = !more;
		return 1;
	}
	if (++w->tries >= LH_WALK_TRIES)
		return 1;
	walk_restart(w);
	return 0;
}

/* From the top of a file system to where it is mounted. */
static __noinline long walk_hop(struct lh_walk *w)
{
	struct mount *m = (struct mount *)w->mount;
	__u64 up;
	int i;

	if (!m)			/* asked of the dentry chain alone */
		return walk_finish(w);
	up = (__u64)LH_READ_AS(struct mount, m, mnt_parent);
	/*
	 * Moved out of the tree that a bind mount shows, and still held: where
	 * that is mounted says nothing of it.
	 */
	if (!w->aside && w->dentry != w->root)
		w->strayed = 1;
	if (up == w->mount || w->strayed)
		return walk_finish(w);
	for (i = 0; i < LH_NAME_DEPTH; i++)
		w->beside[i] = w->chain[i];
	w->dentry = (__u64)LH_READ_AS(struct mount, m, mnt_mountpoint);
	w->mount = up;
	w->root = (__u64)LH_READ_AS(struct mount, up, mnt.mnt_root);
	w->aside = 0;
	w->beside_count = w->count;
	return 0;
}

#define SB_RDONLY 1

/*
 * It never came into the layer: right where the overlay has none to change. One
 * that can be written has, and then what was taken for its dentry is not.
 */
static __always_inline int walk_lost_layer(struct lh_walk *w)
{
	__u64 start = w->start_dentry, sb;

	if (w->layer != LAYER_ABOVE)
		return 0;
	sb = (__u64)LH_READ_AS(struct dentry, start, d_sb);
	return !(LH_READ_AS(struct super_block, sb, s_flags) & SB_RDONLY);
}

/* From here on in the layer, if that has what the walk is at. */
static __noinline int walk_into_layer(struct lh_walk *w)
{
	__u64 d = layer_above(w->dentry);

	if (d) {
		w->dentry = d;
		w->layer = LAYER_IN;
	}
	return 0;
}

struct lh_stride {
	struct lh_session *s;
	struct lh_label *l;
};

static long walk_step(__u32 i, struct lh_stride *c)
{
	struct lh_walk *w = WALK(c->l);
	__u64 here, inode, parent;
	__u32 bit, len;

	if (w->layer == LAYER_ABOVE)
		walk_into_layer(w);
	here = w->dentry;
	inode = (__u64)LH_READ_AS(struct dentry, here, d_inode);
	parent = (__u64)LH_READ_AS(struct dentry, here, d_parent);
	w->inode = inode;
	w->parent = parent;
	if ((parent == here && (w->special & LH_SPECIAL_SHUT)) ||
	    (!w->self && (w->special & LH_SPECIAL_BARE)))
		w->ungranted = 1;
	bit = lh_bloom_bit(LH_LOW_HALF(inode));
	if (c->s->bloom[(bit >> 6) & (LH_BLOOM_WORDS - 1)] &
	    (1ULL << (bit & 63)))
		lh_meet_root(c->l);
	if ((w->access & LH_CHANGES) && c->s->wild_count) {
		len = LH_READ_AS(struct dentry, here, d_name.len);
		if (w->self || (c->s->wild_lens & lh_len_bit(len)) ||
		    name_may_fold(here)) {
			lh_meet_covered(c->l);
			lh_meet_wild(c->l);
		}
	}
	if (!w->self && w->mine == LH_MINE_NEW)
		w->trail.found &= ~LH_FOUND_MINE;
	if (!w->self)
		w->trail.found &= ~LH_FOUND_UNNAMED;
	w->self = 0;
	if (w->parent == here)
		return walk_hop(w);
	w->beside[w->beside_count++ & (LH_NAME_DEPTH - 1)] = here;
	if (here == w->root)
		w->aside = 1;
	if (!w->aside)
		w->chain[w->count++ & (LH_NAME_DEPTH - 1)] = here;
	w->dentry = w->parent;
	return 0;
}

__noinline __u32 lh_rights(struct lh_label *l)
{
	return l ? WALK(l)->rights : 0;
}

__noinline __u32 lh_mounts_seq(void)
{
	return SEQ(mount_lock);
}

static __always_inline __u32 walk_verdict(struct lh_walk *w, struct lh_ask *q,
					  __u64 top)
{
	struct lh_verdict v = {};

	if (!w->done)
		return w->tries >= LH_WALK_TRIES ? LH_WHY_RACED :
			LH_WHY_UNFINISHED;
	if (walk_lost_layer(w))
		return LH_WHY_UNFINISHED;
	if (q->access == LH_STAT || (w->special & LH_SPECIAL_FREE)) {
		/* Only what is denied is hidden. */
		if (!(w->trail.found & LH_FOUND_DENY))
			return LH_WHY_ALLOW;
		return LH_WHY_DENIED | (__u32)w->trail.rule_deny << 16;
	}
	v = lh_trail_judge(&w->trail, q->access);
	if (!w->start_mnt)	/* grants are by mount; what forbids is not */
		return lh_forbids(v.why) ? v.why | (__u32)v.rule << 16 :
		       LH_WHY_ALLOW;
	/* A descriptor that was given may come from anywhere. */
	if (v.why == LH_WHY_ALLOW && lh_trail_self(&w->trail, q->access))
		return LH_WHY_ALLOW;
	/* First: a memfd and its like have no parent, and so always stray. */
	if (w->mount != top && v.why != LH_WHY_DENIED)
		return lh_elsewhere(q, w->mount, v.why | (__u32)v.rule << 16);
	if (w->strayed && v.why != LH_WHY_DENIED)
		return LH_WHY_OUTSIDE_MOUNT;
	return v.why | (__u32)v.rule << 16;
}

/*
 * Does overlayfs answer this without a look at the layers that a hook sees? It
 * opens a regular file in its layer, and nothing else: what a file is and what
 * a directory holds it has in memory, a pipe or a socket is what it is, and
 * what is received was opened by somebody else.
 */
static __always_inline bool looks_alone(struct lh_ask *q)
{
	__u64 inode = q->inode;
	__u32 type;

	if (!inode)
		return false;
	if (q->access == LH_STAT || q->op == LH_OP_WATCH ||
	    (q->access & LH_CONNECT))
		return true;
	if (q->op != LH_OP_OPEN && q->op != LH_OP_RECEIVE)
		return false;
	type = LH_READ_AS(struct inode, inode, i_mode) & S_IFMT;
	/* What is written is in the upper layer by then, if it has content. */
	if (type == S_IFREG)
		return q->op == LH_OP_RECEIVE && !(q->access & LH_CHANGES);
	return true;
}

static __noinline int walk_begin(struct lh_walk *w)
{
	w->tries = 0;
	w->done = 0;
	walk_restart(w);
	return 0;
}

static __always_inline void walk_run(struct lh_walk *w, struct lh_stride *c)
{
	walk_begin(w);
	bpf_loop(LH_WALK_MAX, walk_step, c, 0);
}

/* By the dentry chains in its layers, until one of them denies it. */
static __always_inline __u32 judge_each(struct lh_walk *w, struct lh_stride *c,
					struct lh_ask *q)
{
	w->layer = LAYER_EACH;
	w->layer_at = q->at.dentry;
	w->layer_outer = 0;
	w->layers = 0;
	w->start_dentry = 0;
	/* Each object of an overlay has a layer. */
	if (layer_next(w) <= 0)
		return LH_WHY_UNFINISHED;
	walk_run(w, c);
	return walk_verdict(w, q, 0);
}

/* Eight characters of a name in lower case; what follows them counts not. */
#define GIT_WORD(a, b, c, d, e, f, g, h)				\
	((__u64)(a) | (__u64)(b) << 8 | (__u64)(c) << 16 |		\
	 (__u64)(d) << 24 | (__u64)(e) << 32 | (__u64)(f) << 40 |	\
	 (__u64)(g) << 48 | (__u64)(h) << 56)
#define LETTERS 0x2020202020202020ULL

static __always_inline __u64 git_word(__u64 dentry)
{
	__u64 word = 0;

	bpf_probe_read_kernel(&word, sizeof(word),
			      LH_READ_AS(struct dentry, dentry, d_name.name));
	return word;
}

/* Is the word the beginning, @bits of it, of this name? In either case. */
#define GIT_IS(word, bits, ...)						\
	((((word) | LETTERS) << (64 - (bits))) ==			\
	 ((GIT_WORD(__VA_ARGS__) | LETTERS) << (64 - (bits))))

/*
 * What git goes by to find its directory and what is run there, or a file that
 * may be one of these under another name. The supervisor then looks for what
 * the host's git would now obey, and else need not: that is a walk over all
 * that the session may write. A word too many costs no more than that.
 */
static __noinline int touch(struct lh_session *s, struct lh_ask *q)
{
	__u64 d = q->at.dentry, inode = q->inode, word, above;
	bool file, rest;

	if (s->touched == (LH_TOUCHED | LH_TOUCHED_INSIDE))
		return 0;
	word = git_word(d);
	above = git_word((__u64)LH_READ_AS(struct dentry, d, d_parent));
	file = inode && (LH_READ_AS(struct inode, inode, i_mode) & S_IFMT) ==
		S_IFREG;
	rest = GIT_IS(word, 64, 'c', 'o', 'm', 'm', 'o', 'n', 'd', 'i') ||
	       GIT_IS(word, 64, 'a', 't', 't', 'r', 'i', 'b', 'u', 't') ||
	       GIT_IS(above, 48, 'h', 'o', 'o', 'k', 's', 0, 0, 0) ||
	       name_may_fold(d) ||
	       (file && LH_READ_AS(struct inode, inode, i_nlink) > 1);
	/* Of a map of it in memory no time tells, on some file systems. */
	if (file && q->op == LH_OP_OPEN &&
	    LH_READ_AS(struct inode, inode, i_size) &&
	    (rest || GIT_IS(word, 56, 'c', 'o', 'n', 'f', 'i', 'g', 0, 0) ||
	     GIT_IS(word, 64, 'c', 'o', 'n', 'f', 'i', 'g', '.', 'w')))
		s->touched = LH_TOUCHED | LH_TOUCHED_INSIDE;
	if (rest ||
	    GIT_IS(word, 48, 'c', 'o', 'n', 'f', 'i', 'g', 0, 0) ||
	    GIT_IS(word, 40, 'h', 'e', 'a', 'd', 0, 0, 0, 0) ||
	    GIT_IS(word, 40, '.', 'g', 'i', 't', 0, 0, 0, 0) ||
	    GIT_IS(word, 48, 'h', 'o', 'o', 'k', 's', 0, 0, 0))
		s->touched |= LH_TOUCHED;
	return 0;
}

static __always_inline __u32 judge(struct lh_label *l, struct lh_ask *q,
				   struct lh_stride *c)
{
	struct lh_walk *w;
	__u32 verdict;
	bool alone;

	verdict = lh_special(l, q);
	if (verdict & LH_SPECIAL_DECIDED)
		return verdict & 0xffff;
	w = WALK(l);
	w->special = verdict;
	w->access = q->access;
	w->mine = q->mine;
	w->start_dentry = q->at.dentry;
	w->start_mnt = q->at.mnt;
	w->layer = LAYER_NONE;
	walk_run(w, c);
	w->rights = w->trail.rights;
	verdict = walk_verdict(w, q, c->s->top);
	if ((verdict & 0xffff) != LH_WHY_ALLOW || q->magic != OVERLAY_MAGIC ||
	    !q->at.mnt)
		return verdict;
	w->start_mnt = 0;
	alone = looks_alone(q);
	if (!alone && !(q->access & LH_CHANGES))
		return verdict;
	if (alone || q->inode) {
		if (!alone)	/* else judged in the layer that is changed */
			q->access = LH_STAT;
		verdict = judge_each(w, c, q);
		q->access = w->access;
		if (alone || (verdict & 0xffff) != LH_WHY_ALLOW)
			return verdict;
	}
	w->layer = LAYER_ABOVE;
	w->start_dentry = q->at.dentry;
	walk_run(w, c);
	return walk_verdict(w, q, c->s->top);
}

__noinline __u32 lh_judge(struct lh_label *l, struct lh_ask *q)
{
	struct lh_stride c = { .l = l };
	__u32 slot, verdict;

	if (!l || !q)
		return LH_WHY_INTERNAL;
	slot = l->slot;
	c.s = bpf_map_lookup_elem(&lh_sessions, &slot);
	if (!c.s)
		return LH_WHY_INTERNAL;
	verdict = judge(l, q, &c);
	if ((q->access & LH_CHANGES) && (verdict & 0xffff) == LH_WHY_ALLOW)
		touch(c.s, q);
	return verdict;
}
