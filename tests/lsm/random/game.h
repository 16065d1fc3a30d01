/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The differential test. A game is one random tree, one random policy and one
 * session, in which random calls are made while the host changes the tree. Of
 * each call three say what comes: the kernel, by its answer and its records;
 * decide.h over the compiled table (executor.c); and a reference (reference.c)
 * that knows paths and the words of the policy, and nothing of the other two.
 */
#ifndef LH_RANDOM_GAME_H
#define LH_RANDOM_GAME_H

#include <stdint.h>
#include <sys/stat.h>

#include "../session.h"
#include "executor.h"

#define MOUNTS 3
#define SLOTS 4
#define RULES 64
#define HOLDS 1024
#define PINS 1024
#define EXPECTED 512

enum look_up {
	FOLLOW,		/* what the path leads to */
	HERE,		/* the same, but a link at the end is itself */
	NAME,		/* the entry: what is mounted there is not asked */
	MAKE,		/* the entry that an O_CREAT would make */
};

enum rule_kind {
	RULE_WRITE, RULE_READ, RULE_ONLY, RULE_DENY, RULE_PROTECT,
	RULE_STAY,	/* grants and forbids nothing, but is not moved */
	RULE_TEMP,	/* the session's own directory: all rights */
};

struct rule {
	enum rule_kind kind;
	char path[TEXT];
	bool itself;		/* a link at the end is not followed */
	struct id id;		/* what it led to at the start */
};

/* "Below this directory, the name REST": how a rule holds without an inode. */
struct hold {
	enum rule_kind kind;
	struct id anchor;
	char rest[TEXT];
};

struct mounted {
	bool used, bind;
	int root, source;	/* O_PATH */
	struct id covered;
	char at[TEXT];
};

/* A refusal that must be on record. */
struct expected {
	const char *operation, *reason;
	char rule[TEXT], path[TEXT], other[TEXT];
	bool unnamed;		/* path ends in a number that nobody knows */
	char call[3 * TEXT];	/* for people */
};

struct game {
	uint64_t seed, dice;
	unsigned long ops;	/* calls made so far */
	struct world *w;
	struct session s;
	struct mounted mount[MOUNTS];
	int slot[SLOTS];	/* the probe's descriptors, -1: none */
	char temp[TEXT];
	/* the policy, as the reference knows it */
	struct rule rule[RULES];
	struct hold hold[HOLDS];
	struct id pin[PINS];
	unsigned int rules, holds, pins;
	bool reads, writes, deletes, runs;	/* capabilities that are left */
	bool wild, wild_own;	/* PARENT/NAME: .git/hooks, and p/q */
	/* and as the compiler made it */
	struct executor library;
	struct expected expected[EXPECTED];
	unsigned int expected_count;
	unsigned long refused, allowed, ordinary, skipped, marks;
	bool failed;
	bool dry;	/* no session: what would be refused is not done */
};

uint64_t roll(struct game *g, uint64_t n);	/* 0 … n - 1 */
#define ONE_OF(g, array) \
	((array)[roll(g, sizeof(array) / sizeof((array)[0]))])
__attribute__((format(printf, 2, 3)))
void fail(struct game *g, const char *fmt, ...);

/* place.c */
void spot_find(struct game *g, const char *path, enum look_up how,
		struct spot *p);
/* An entry of this name in the directory @dir, that is not there. */
void spot_below(struct game *g, const struct spot *dir, const char *name,
		 struct spot *p);
void mounts_refresh(struct game *g);
int mount_at(const struct game *g, const char *path);
bool same(const struct id *a, const struct id *b);
/* What a path of the probe's is to the host: "@0/x", "/proc/self/root". */
void spot_for_host(const struct game *g, const char *path, char *out);

/* tree.c */
int tree_make(struct game *g);
void tree_act(struct game *g);		/* the host does something */
void tree_unmount(struct game *g);
/* A path from @dir down some entries that exist, or not; "" if it does not fit. */
void tree_path(struct game *g, const char *dir, char out[TEXT]);
const char *tree_name(struct game *g);

/* policy.c */
int policy_random(struct game *g);	/* writes the file, fills the rules */

/* reference.c */
int reference_start(struct game *g);
/* NULL: allowed; else why not, as records call it. */
const char *reference_judge(const struct game *g, const struct spot *p,
			    unsigned int need);
/* calls.c */
void call_random(struct game *g);

/* told.c */
void told_expect(struct game *g, const struct expected *e);
void told_check(struct game *g);

#endif
