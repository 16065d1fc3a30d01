// SPDX-License-Identifier: GPL-2.0-only
/*
 * The walk: from an object over dentries and mounts to the top. It meets roots
 * by the address of their inode, which the supervisor's descriptor keeps in
 * place, and names below an anchor by hash, down the way it came up. A walk
 * that raced with a rename or a mount is made again; an unfinished one refuses.
 */
#include "walk.bpf.h"

/* Both begin with a struct seqcount: odd while a change is under way. */
extern const void rename_lock __ksym;
extern const void mount_lock __ksym;

/*
 * A walk under way. It lives in the task's label, not on the stack: to the
 * verifier what is read from there is a number it knows nothing of, so one
 * look at a step covers them all.
 */
struct lh_walk {
	__u64 start_dentry, start_mnt;
	__u64 dentry;		/* where the walk is */
	__u64 parent;
	__u64 inode;
	__u64 root;		/* mnt_root of the mount it is in */
	__u64 mount;		/* struct mount it is in */
	__u64 chain[LH_NAME_DEPTH];	/* last names of the mount chain */
	__u64 beside[LH_NAME_DEPTH];	/* last names of the dentry chain */
	__u64 name[32];		/* one component, for hashing */
	struct lh_trail trail;
	__u32 access;
	__u32 count;		/* names below, in chain */
	__u32 beside_count;
	__u32 renames, mounts;	/* the kernel's counters at the start */
	__u16 tries;
	__u8 aside;		/* beyond the root of a bind mount */
	__u8 self;		/* at the object itself */
	__u8 done;
	__u8 mine;		/* this session made the object, or would */
	__u8 strayed;		/* left a mount without meeting its root */
	__u8 ungranted;		/* no grant counts from here on */
	__u8 pad[4];
	__u32 special;		/* LH_SPECIAL_* */
	__u32 pad2;
};

_Static_assert(sizeof(struct lh_walk) <= LH_SCRATCH_WORDS * 8, "scratch");

#define WALK(l) ((struct lh_walk *)(l)->scratch)

struct lh_component {
	__u64 word[32];
};

__noinline __u64 lh_component_hash(struct lh_component *c, __u32 len)
{
	if (!c)
		return 0;
	return lh_name_hash(c->word, len);
}

/* Hash of a dentry's name if some rule's name is as long, else 0. */
static __always_inline __u64 name_hash(struct lh_walk *w, __u64 dentry,
				       __u64 lens)
{
	const unsigned char *name;
	__u32 len = LH_READ_AS(struct dentry, dentry, d_name.len);

	if (!len || len > LH_NAME_MAX || !(lens & lh_len_bit(len)))
		return 0;
	name = LH_READ_AS(struct dentry, dentry, d_name.name);
	if (bpf_probe_read_kernel(w->name, len & 255, name))
		return 0;
	return lh_component_hash((struct lh_component *)w->name, len);
}

struct names_walk {
	struct lh_label *l;
	struct lh_name_key key;
	__u64 lens;
	__u32 count;		/* names between the anchor and the object */
	__u32 pad;
};

static long names_step(__u32 k, struct names_walk *n)
{
	struct lh_walk *w = WALK(n->l);
	__u32 at = n->count - 1 - k;
	struct lh_name *name;
	__u64 child;

	if (k >= n->count)
		return 1;
	child = w->aside ? w->beside[at & (LH_NAME_DEPTH - 1)] :
		w->chain[at & (LH_NAME_DEPTH - 1)];
	n->key.hash = name_hash(w, child, n->lens);
	if (!n->key.hash)
		return 1;
	name = bpf_map_lookup_elem(&lh_names, &n->key);
	if (!name)
		return 1;
	lh_trail_name(&w->trail, name, at == 0, w->aside | w->ungranted);
	n->key.parent = name->node;
	n->lens = name->name_lens;
	return !name->node;
}

/*
 * The root that w->inode is, if it is one; and before it, since they lie
 * deeper, the names below it, from the component under it down to the object
 * as far as some rule goes along.
 */
__noinline int lh_meet_root(struct lh_label *l)
{
	struct lh_root_key key = {};
	struct names_walk n = {};
	struct lh_walk *w;
	struct lh_root *r;

	if (!l)
		return 0;
	w = WALK(l);
	key.inode = w->inode;
	key.serial = l->serial;
	r = bpf_map_lookup_elem(&lh_roots, &key);
	if (!r)
		return 0;
	if (r->flags & LH_ROOT_ANCHOR) {
		n.l = l;
		n.key.parent = key.inode;
		n.key.serial = key.serial;
		n.lens = r->name_lens;
		n.count = w->aside ? w->beside_count : w->count;
		bpf_loop(LH_NAME_DEPTH, names_step, &n, 0);
	}
	lh_trail_root(&w->trail, r, w->self, w->aside | w->ungranted);
	return 0;
}

/* The protected pair that w->parent / w->dentry is, if it is one. */
__noinline int lh_meet_wild(struct lh_label *l)
{
	struct lh_session *s;
	struct lh_walk *w;
	__u64 name, above;
	__u32 i, becomes, slot;

	if (!l)
		return 0;
	slot = l->slot;
	s = bpf_map_lookup_elem(&lh_sessions, &slot);
	if (!s)
		return 0;
	w = WALK(l);
	name = name_hash(w, w->dentry, ~0ULL);
	above = name_hash(w, w->parent, ~0ULL);
	becomes = w->self && (w->access & LH_BECOME);
	for (i = 0; i < LH_WILD_MAX; i++) {
		struct lh_wild *p = &s->wild[i];

		if (i >= s->wild_count)
			break;
		if (p->name_hash == name && p->parent_hash == above) {
			lh_trail_wild(&w->trail, p);
			break;
		}
		/* A directory that arrives as PARENT brings its NAME along. */
		if (becomes && p->parent_hash == name) {
			w->trail.found |= LH_FOUND_PARTIAL;
			w->trail.rule_pin = p->rule;
			break;
		}
	}
	return 0;
}

static __always_inline void walk_restart(struct lh_walk *w)
{
	struct vfsmount *mnt = (struct vfsmount *)w->start_mnt;

	w->renames = LH_READ_AS(struct seqcount, &rename_lock, sequence);
	w->mounts = LH_READ_AS(struct seqcount, &mount_lock, sequence);
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
	w->count = 0;
	w->beside_count = 0;
	w->aside = 0;
	w->strayed = 0;
	w->ungranted = 0;
	w->self = 1;
}

/* The chain has ended. 1: the walk is over; 0: it raced, once more. */
static __always_inline long walk_finish(struct lh_walk *w)
{
	__u32 renames = LH_READ_AS(struct seqcount, &rename_lock, sequence);
	__u32 mounts = LH_READ_AS(struct seqcount, &mount_lock, sequence);

	if (renames == w->renames && mounts == w->mounts &&
	    !((renames | mounts) & 1)) {
		w->done = 1;
		return 1;
	}
	if (++w->tries >= LH_WALK_TRIES)
		return 1;
	walk_restart(w);
	return 0;
}

/* From the top of a file system to where it is mounted. */
static __always_inline long walk_hop(struct lh_walk *w)
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
	if (up == w->mount)
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

struct lh_stride {
	struct lh_session *s;
	struct lh_label *l;
};

static long walk_step(__u32 i, struct lh_stride *c)
{
	struct lh_walk *w = WALK(c->l);
	__u64 here = w->dentry, inode, parent;
	__u32 bit, len;

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
	if ((w->access & LH_CHANGE) && c->s->wild_count) {
		len = LH_READ_AS(struct dentry, here, d_name.len);
		if (w->self || (c->s->wild_lens & lh_len_bit(len)))
			lh_meet_wild(c->l);
	}
	if (!w->self && w->mine == LH_MINE_NEW)
		w->trail.found &= ~LH_FOUND_MINE;
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

__noinline __u32 lh_mounts_seq(void)
{
	return LH_READ_AS(struct seqcount, &mount_lock, sequence);
}

__noinline __u32 lh_judge(struct lh_label *l, struct lh_ask *q)
{
	struct lh_stride c = { .l = l };
	struct lh_verdict v = {};
	struct lh_walk *w;
	__u32 slot, special;

	if (!l || !q)
		return LH_WHY_INTERNAL;
	slot = l->slot;
	c.s = bpf_map_lookup_elem(&lh_sessions, &slot);
	if (!c.s)
		return LH_WHY_INTERNAL;
	special = lh_special(l, q);
	if (special & LH_SPECIAL_DECIDED)
		return special & 0xffff;
	w = WALK(l);
	w->special = special;
	w->access = q->access;
	w->mine = q->mine;
	w->start_dentry = q->at.dentry;
	w->start_mnt = q->at.mnt;
	w->tries = 0;
	w->done = 0;
	walk_restart(w);
	bpf_loop(LH_WALK_MAX, walk_step, &c, 0);
	if (!w->done)
		return w->tries >= LH_WALK_TRIES ? LH_WHY_RACED :
			LH_WHY_UNFINISHED;
	if (q->access == LH_STAT || !q->at.mnt ||
	    (w->special & LH_SPECIAL_FREE)) {
		/* Only what is denied is hidden. */
		if (!(w->trail.found & LH_FOUND_DENY))
			return LH_WHY_ALLOW;
		return LH_WHY_DENIED | (__u32)w->trail.rule_deny << 16;
	}
	v = lh_trail_judge(&w->trail, q->access);
	/* First: a memfd and its like have no parent, and so always stray. */
	if (w->mount != c.s->top && v.why != LH_WHY_DENIED)
		return lh_elsewhere(q, w->mount, v.why | (__u32)v.rule << 16);
	if (w->strayed && v.why != LH_WHY_DENIED)
		return LH_WHY_OUTSIDE_MOUNT;
	return v.why | (__u32)v.rule << 16;
}
