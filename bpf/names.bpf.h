/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Names on the way of a walk: those below an anchor, by hash, down the way it
 * came up; and protected pairs at any depth. A dentry holds the spelling that
 * was looked up first, so where a directory folds names they are compared as
 * fold.h folds them: what is not known to differ is taken for the same.
 * Part of walk.bpf.c.
 */
#ifndef LH_NAMES_BPF_H
#define LH_NAMES_BPF_H

#include "walk.bpf.h"
#include "fold.h"

#define S_CASEFOLD 0x8000
#define MSDOS_MAGIC 0x4d44

#define DCACHE_OP_COMPARE 0x2

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
	__u64 above, over;	/* hashes: the name above, what it covers */
	struct lh_fold fold;
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
	__u8 over_folds;	/* the name of .over is in a folding one */
	__u8 layer;		/* enum walk_layer */
	__u8 layers;		/* looked at so far, for LAYER_EACH */
	__u8 layers_outer;	/* .layers of .layer_outer */
	__u64 layer_at;		/* what has them: a dentry of the overlay */
	__u64 layer_outer;	/* in the one above, of which it is a layer */
	__u32 rights;		/* that were met above, and not in a layer */
	__u32 special;		/* LH_SPECIAL_* */
};

_Static_assert(sizeof(struct lh_walk) <=
	       (LH_SCRATCH_WORDS - LH_MOUNTS_WORDS) * 8, "scratch");

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

static __always_inline bool name_read(struct lh_walk *w, __u64 dentry,
				      __u32 len)
{
	const unsigned char *name;

	if (!len || len > LH_NAME_MAX)
		return false;
	name = LH_READ_AS(struct dentry, dentry, d_name.name);
	return !bpf_probe_read_kernel(w->name, len & 255, name);
}

/* Can its name be spelled in more than one way? Where not, this is all. */
static __always_inline bool name_may_fold(__u64 dentry)
{
	return LH_READ_AS(struct dentry, dentry, d_flags) & DCACHE_OP_COMPARE;
}

/*
 * Does the directory that the dentry lies in fold names? Up to 6.8 ext4 says so
 * of a dentry when it looks it up, and an O_CREAT is judged before: of @self,
 * the object, the directory is asked in any case.
 */
static __always_inline bool name_folds(__u64 dentry, bool self)
{
	struct super_block *sb;
	__u64 dir, inode;

	if (name_may_fold(dentry)) {
		sb = LH_READ_AS(struct dentry, dentry, d_sb);
		if (!bpf_core_field_exists(sb->s_encoding) ||
		    !LH_READ_AS(struct super_block, sb, s_encoding))
			return true;
	} else if (!self) {
		return false;
	}
	dir = (__u64)LH_READ_AS(struct dentry, dentry, d_parent);
	inode = (__u64)LH_READ_AS(struct dentry, dir, d_inode);
	return inode &&
	       (LH_READ_AS(struct inode, inode, i_flags) & S_CASEFOLD);
}

static long fold_step(__u32 i, struct lh_label **l)
{
	struct lh_walk *w = WALK(*l);

	return lh_fold_step((unsigned char *)w->name, &w->fold);
}

/* Of the two on FAT the one that has no long names. */
static __always_inline bool is_msdos(struct super_block *sb)
{
	__u64 type = 0;

	if (LH_READ_AS(struct super_block, sb, s_magic) != MSDOS_MAGIC)
		return false;
	bpf_probe_read_kernel_str(&type, sizeof(type),
				  BPF_CORE_READ(sb, s_type, name));
	return type == ('m' | 's' << 8 | 'd' << 16 | (__u64)'o' << 24 |
			(__u64)'s' << 32);
}

/*
 * Hash of a dentry's name as a directory that folds has it; 0: not read. Short
 * names are vfat's, which has no encoding in the superblock.
 */
static __always_inline __u64 name_fold(struct lh_label *l, __u64 dentry)
{
	struct lh_walk *w = WALK(l);
	__u32 len = LH_READ_AS(struct dentry, dentry, d_name.len);
	struct super_block *sb;
	__u32 end;

	if (!name_read(w, dentry, len))
		return 0;
	__builtin_memset(&w->fold, 0, sizeof(w->fold));
	w->fold.len = len;
	sb = LH_READ_AS(struct dentry, dentry, d_sb);
	w->fold.cut = is_msdos(sb);
	bpf_loop(LH_NAME_MAX, fold_step, &l, 0);
	if (w->fold.tilde &&
	    LH_READ_AS(struct super_block, sb, s_magic) == MSDOS_MAGIC)
		return LH_HASH_SHORT;
	if (w->fold.wide)
		return LH_HASH_WIDE;
	end = w->fold.end;
	if (!end || end > LH_NAME_MAX)
		return 0;
	return lh_component_hash((struct lh_component *)w->name, end);
}

/* Hash of a dentry's name if some rule's name is as long, else 0. */
static __always_inline __u64 name_hash(struct lh_walk *w, __u64 dentry,
				       __u64 lens)
{
	__u32 len = LH_READ_AS(struct dentry, dentry, d_name.len);

	if (!(lens & lh_len_bit(len)) || !name_read(w, dentry, len))
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
	__u32 at = n->count - 1 - k, flags;
	struct lh_name *name;
	__u64 child;
	bool folds;

	if (k >= n->count)
		return 1;
	child = w->aside ? w->beside[at & (LH_NAME_DEPTH - 1)] :
		w->chain[at & (LH_NAME_DEPTH - 1)];
	folds = name_folds(child, at == 0);
	n->key.hash = folds ? name_fold(n->l, child) :
		name_hash(w, child, n->lens);
	if (!n->key.hash)
		return 1;
	name = bpf_map_lookup_elem(&lh_names, &n->key);
	if (!name)
		return 1;
	flags = folds ? name->folded : name->flags;
	if (!flags)
		return 1;	/* known in the other way alone */
	lh_trail_name(&w->trail, flags, name->rule, at == 0,
		      w->aside | w->ungranted);
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

/* One name against one rule's, which has two hashes. */
static __always_inline bool wild_is(__u64 hash, bool folds, __u64 name,
				    __u64 fold)
{
	return folds ? hash == fold || hash == LH_HASH_SHORT : hash == name;
}

/* Hash of the dentry's name as the directory that it is in has names. */
static __always_inline __u64 name_either(struct lh_label *l, __u64 dentry,
					 bool folds)
{
	return folds ? name_fold(l, dentry) :
		name_hash(WALK(l), dentry, ~0ULL);
}

/*
 * Name of what the mount covers whose root w->parent is; 0: it is none. Apart
 * from the next, for the stack's sake.
 */
__noinline int lh_meet_covered(struct lh_label *l)
{
	struct lh_walk *w;
	struct mount *m;
	__u64 under;

	if (!l)
		return 0;
	w = WALK(l);
	m = (struct mount *)w->mount;
	w->over = 0;
	if (!m || w->aside || w->parent != w->root || w->parent == w->dentry ||
	    (__u64)LH_READ_AS(struct mount, m, mnt_parent) == w->mount)
		return 0;
	under = (__u64)LH_READ_AS(struct mount, m, mnt_mountpoint);
	w->over_folds = name_folds(under, false);
	w->over = name_either(l, under, w->over_folds);
	return 0;
}

/* The protected pair that w->parent / w->dentry is, if it is one. */
__noinline int lh_meet_wild(struct lh_label *l)
{
	struct lh_session *s;
	struct lh_walk *w;
	bool folds, above_folds;
	__u32 i, becomes, slot;
	__u64 name;

	if (!l)
		return 0;
	slot = l->slot;
	s = bpf_map_lookup_elem(&lh_sessions, &slot);
	if (!s)
		return 0;
	w = WALK(l);
	folds = name_folds(w->dentry, w->self);
	above_folds = name_folds(w->parent, false);
	name = name_either(l, w->dentry, folds);
	w->above = name_either(l, w->parent, above_folds);
	becomes = w->self && (w->access & LH_BECOME);
	for (i = 0; i < LH_WILD_MAX; i++) {
		struct lh_wild *p = &s->wild[i];

		if (i >= s->wild_count)
			break;
		if (wild_is(name, folds, p->name_hash, p->name_fold) &&
		    (wild_is(w->above, above_folds, p->parent_hash,
			     p->parent_fold) ||
		     (w->over && wild_is(w->over, w->over_folds,
					 p->parent_hash, p->parent_fold)))) {
			lh_trail_wild(&w->trail, p);
			break;
		}
		/* A directory that arrives as PARENT brings its NAME along. */
		if (becomes &&
		    wild_is(name, folds, p->parent_hash, p->parent_fold)) {
			w->trail.found |= LH_FOUND_PARTIAL;
			w->trail.rule_pin = p->rule;
			break;
		}
	}
	return 0;
}

#endif
