/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The decision, once: how the roots and names met on the way from an object to
 * the top turn into a verdict. Pure inline C over abi.h, no helper, no map; the
 * kernel programs, `lh-policy explain` and the tests all run this text. The
 * fall-through is a refusal.
 */
#ifndef LH_DECIDE_H
#define LH_DECIDE_H

#include "abi.h"

#ifndef __always_inline
#define __always_inline inline __attribute__((__always_inline__))
#endif

/* lh_trail.found */
#define LH_FOUND_DENY 0x1u
#define LH_FOUND_PROTECT 0x2u	/* anchored: not even removed */
#define LH_FOUND_WILD 0x4u	/* PARENT/NAME: may be removed */
#define LH_FOUND_PIN 0x8u	/* the object itself is a root or above one */
#define LH_FOUND_PARTIAL 0x10u	/* the object may lead to a named rule */
#define LH_FOUND_MINE 0x20u	/* this session made the object, or would */
#define LH_FOUND_FILE 0x40u	/* this name may be a regular file's alone */
#define LH_FOUND_BIND 0x80u	/* no read-only root is below the SOCKET */
#define LH_FOUND_UNNAMED 0x10000u	/* MINE, and it has no name */
#define LH_FOUND_SELF(rights) ((rights) << 8)	/* what .self has granted */

/*
 * What a walk has met so far, from the object up. Zero is the empty trail,
 * which grants nothing.
 */
struct lh_trail {
	__u32 rights;		/* LH_ROOT_READ|EXEC|WRITE|DELETE|RDONLY|
				 * SOCKET */
	__u32 found;		/* LH_FOUND_* */
	__u16 rule_read;	/* the deepest rule that granted reading */
	__u16 rule_write;	/* the rule that decides about writing */
	__u16 rule_deny;	/* the first deny or protection met */
	__u16 rule_pin;
	__u16 rule_socket;	/* the deepest rule that granted sockets */
	__u16 pad;
};

struct lh_verdict {
	__u16 why;		/* enum lh_why; LH_WHY_ALLOW is 0 */
	__u16 rule;
};

#define LH_SELF_RIGHTS (LH_ROOT_READ | LH_ROOT_EXEC | LH_ROOT_WRITE)
#define LH_TRAIL_GRANTS (LH_SELF_RIGHTS | LH_ROOT_DELETE | LH_ROOT_SOCKET)
#define LH_TRAIL_WRITES (LH_ROOT_WRITE | LH_ROOT_DELETE | LH_ROOT_RDONLY)
/* What changes a name or what is behind it. */
#define LH_CHANGES (LH_WRITE | LH_REMOVE | LH_MOVE | LH_BECOME | LH_BIND)

static __always_inline void lh_trail_deny(struct lh_trail *t, __u32 found,
					  __u16 rule)
{
	if (!(t->found & (LH_FOUND_DENY | LH_FOUND_PROTECT | LH_FOUND_WILD)))
		t->rule_deny = rule;
	else if ((found & LH_FOUND_DENY) && !(t->found & LH_FOUND_DENY))
		t->rule_deny = rule;
	t->found |= found;
}

/*
 * Where a bind mount's source lies, nothing is granted; that it is never
 * written holds there too, unless a root between here and there says that it
 * is.
 */
static __always_inline void lh_trail_aside(struct lh_trail *t, __u32 flags,
					   __u16 rule)
{
	if (!(flags & LH_ROOT_RDONLY) || (t->rights & LH_TRAIL_WRITES))
		return;
	t->rights |= LH_ROOT_RDONLY;
	t->rule_write = rule;
}

/* A socket file may be made where no read-only root lies deeper. */
static __always_inline void lh_trail_socket(struct lh_trail *t, __u16 rule)
{
	if (!(t->rights & LH_ROOT_SOCKET))
		t->rule_socket = rule;
	t->rights |= LH_ROOT_SOCKET;
	if (!(t->rights & LH_ROOT_RDONLY))
		t->found |= LH_FOUND_BIND;
}

/*
 * Meet one root. @self: it is the object itself. @aside: it was met on the
 * dentry chain beyond a bind mount, where what forbids holds and grants do not.
 */
static __always_inline void lh_trail_root(struct lh_trail *t,
					  const struct lh_root *r,
					  int self, int aside)
{
	__u32 flags = r->flags;

	if (flags & LH_ROOT_DENY)
		lh_trail_deny(t, LH_FOUND_DENY, r->rule_deny);
	if (flags & LH_ROOT_PROTECT)
		lh_trail_deny(t, LH_FOUND_PROTECT, r->rule_deny);
	if (aside) {
		lh_trail_aside(t, flags, r->rule_write);
		return;
	}
	if (self) {
		if (flags & LH_ROOT_PIN) {
			t->found |= LH_FOUND_PIN;
			t->rule_pin = r->rule_self;
		}
		if (r->self) {
			t->rights |= r->self & LH_SELF_RIGHTS;
			t->found |= LH_FOUND_SELF(r->self & LH_SELF_RIGHTS);
			t->rule_read = r->rule_self;
			t->rule_write = r->rule_self;
		}
	}
	if ((flags & LH_ROOT_APART) && !self && !(t->rights & LH_TRAIL_GRANTS))
		lh_trail_deny(t, LH_FOUND_DENY, r->rule_deny);
	if ((flags & LH_ROOT_OWN) && (t->found & LH_FOUND_MINE) && !self) {
		t->rights |= LH_ROOT_READ | LH_ROOT_WRITE | LH_ROOT_EXEC;
		t->rule_read = r->rule_read;
		t->rule_write = r->rule_read;
	}
	if ((flags & LH_ROOT_UNNAMED) && (t->found & LH_FOUND_UNNAMED) &&
	    !self) {
		t->rights |= LH_ROOT_READ | LH_ROOT_WRITE;
		t->rule_read = r->rule_read;
		t->rule_write = r->rule_read;
	}
	if (flags & (LH_ROOT_READ | LH_ROOT_EXEC)) {
		if (!(t->rights & (LH_ROOT_READ | LH_ROOT_EXEC)))
			t->rule_read = r->rule_read;
		t->rights |= flags & (LH_ROOT_READ | LH_ROOT_EXEC);
	}
	if ((flags & LH_TRAIL_WRITES) && !(t->rights & LH_TRAIL_WRITES)) {
		t->rights |= flags & LH_TRAIL_WRITES;
		t->rule_write = r->rule_write;
	}
	if (flags & LH_ROOT_SOCKET)
		lh_trail_socket(t, r->rule_socket);
}

/*
 * Meet one name rule: @flags are its .flags or, where names are folded, its
 * .folded. @self: it names the object itself.
 */
static __always_inline void lh_trail_name(struct lh_trail *t, __u32 flags,
					  __u16 rule, int self, int aside)
{
	if (flags & LH_NAME_DENY)
		lh_trail_deny(t, LH_FOUND_DENY, rule);
	if (flags & LH_NAME_PROTECT)
		lh_trail_deny(t, LH_FOUND_PROTECT, rule);
	if (aside) {
		lh_trail_aside(t, flags, rule);
		return;
	}
	if ((flags & LH_NAME_RDONLY) && !(t->rights & LH_TRAIL_WRITES)) {
		t->rights |= LH_ROOT_RDONLY;
		t->rule_write = rule;
	}
	if (flags & LH_NAME_SOCKET)
		lh_trail_socket(t, rule);
	if (self && (flags & LH_NAME_WRITE) &&
	    !(t->rights & LH_TRAIL_WRITES)) {
		t->rights |= LH_ROOT_WRITE;
		t->rule_write = rule;
	}
	/* Else the host, which reads it, would be led astray, or wait. */
	if (self && (flags & LH_NAME_WRITE))
		t->found |= LH_FOUND_FILE;
	if (self && (flags & (LH_NAME_PARTIAL | LH_NAME_WRITE))) {
		t->found |= LH_FOUND_PARTIAL;
		if (!(t->found & LH_FOUND_PIN))
			t->rule_pin = rule;
	}
}

/*
 * Does the object's own grant, which holds wherever it is reached, give all
 * that is wanted? LH_READ, LH_WRITE and LH_EXEC are the rights' own bits.
 */
static __always_inline int lh_trail_self(const struct lh_trail *t,
					 __u32 access)
{
	return !(access & ~(t->found >> 8 & LH_SELF_RIGHTS));
}

/* Meet a protected pair: the object is at or below PARENT/NAME. */
static __always_inline void lh_trail_wild(struct lh_trail *t,
					  const struct lh_wild *w)
{
	lh_trail_deny(t, LH_FOUND_WILD, w->rule);
}

/*
 * The verdict over a finished trail. @access: LH_*, at least one; LH_BECOME and
 * LH_MOVE only of what leads somewhere, a directory or a link; LH_ODD only with
 * LH_WRITE; LH_CONNECT and LH_BIND alone.
 */
static __always_inline struct lh_verdict
lh_trail_judge(const struct lh_trail *t, __u32 access)
{
	struct lh_verdict v = { LH_WHY_NOT_GRANTED, LH_RULE_NONE };

	if (t->found & LH_FOUND_DENY) {
		v.why = LH_WHY_DENIED;
		v.rule = t->rule_deny;
		return v;
	}
	if (((t->found & LH_FOUND_PROTECT) && (access & LH_CHANGES)) ||
	    ((t->found & LH_FOUND_WILD) &&
	     (access & (LH_WRITE | LH_BECOME | LH_BIND)))) {
		v.why = LH_WHY_PROTECTED;
		v.rule = t->rule_deny;
		return v;
	}
	if (((t->found & LH_FOUND_PIN) && (access & (LH_REMOVE | LH_MOVE))) ||
	    ((t->found & LH_FOUND_PARTIAL) &&
	     (access & (LH_MOVE | LH_BECOME))) ||
	    ((t->found & LH_FOUND_FILE) && (access & (LH_ODD | LH_BIND)))) {
		v.why = LH_WHY_PINNED;
		v.rule = t->rule_pin;
		return v;
	}
	if ((access & LH_CONNECT) && !(t->rights & LH_ROOT_SOCKET))
		return v;
	if (access == LH_CONNECT ||
	    (access == LH_BIND && (t->found & LH_FOUND_BIND))) {
		v.why = LH_WHY_ALLOW;
		v.rule = t->rule_socket;
		return v;
	}
	if ((access & LH_CHANGES) && (t->rights & LH_ROOT_RDONLY)) {
		v.why = LH_WHY_READ_ONLY;
		v.rule = t->rule_write;
		return v;
	}
	if ((access & (LH_WRITE | LH_BECOME | LH_BIND)) &&
	    !(t->rights & LH_ROOT_WRITE)) {
		v.rule = t->rights & LH_ROOT_DELETE ? t->rule_write : 0;
		return v;
	}
	if ((access & (LH_REMOVE | LH_MOVE)) &&
	    !(t->rights & (LH_ROOT_WRITE | LH_ROOT_DELETE)))
		return v;
	if ((access & LH_READ) && !(t->rights & LH_ROOT_READ))
		return v;
	if ((access & LH_EXEC) && !(t->rights & LH_ROOT_EXEC)) {
		v.rule = t->rights & LH_ROOT_READ ? t->rule_read : 0;
		return v;
	}
	v.why = LH_WHY_ALLOW;
	v.rule = access & LH_CHANGES ? t->rule_write : t->rule_read;
	return v;
}

static __always_inline __u64 lh_len_bit(__u32 len)
{
	return 1ULL << (len < 63 ? len : 63);
}

/* Where an inode's address (its low half) stands in a session's filter. */
static __always_inline __u32 lh_bloom_bit(__u32 inode)
{
	return ((inode >> 6) ^ (inode >> 18)) & (LH_BLOOM_WORDS * 64 - 1);
}

#define LH_HASH_SEED 0x9e3779b97f4a7c15ULL

static __always_inline __u64 lh_hash_word(__u64 h, __u64 word)
{
	h = (h ^ word) * 0xff51afd7ed558ccdULL;
	return h ^ (h >> 32);
}

/*
 * Hash of one component. @words: its bytes in memory order, the rest of the
 * last word ignored. A miss is impossible; two names that meet in 64 bits
 * refuse too much where a rule stands, or open a name that nobody asks for.
 */
static __always_inline __u64 lh_name_hash(const __u64 *words, __u32 len)
{
	__u64 h = LH_HASH_SEED ^ len;
	__u32 i;

	for (i = 0; i < 32; i++) {
		__u64 w;

		if (i * 8 >= len)
			break;
		w = words[i];
		if (len - i * 8 < 8)
			w &= (1ULL << ((len & 7) * 8)) - 1;
		h = lh_hash_word(h, w);
	}
	return h;
}

#endif
