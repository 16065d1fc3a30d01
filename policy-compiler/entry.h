/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What paths lead to: each directory entry opened once, O_PATH and
 * relative to the one above it, links followed here and not by the kernel.
 * So no name is looked at twice, and every link on a way is known.
 */
#ifndef LH_ENTRY_H
#define LH_ENTRY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "arena.h"
#include "resolve.h"
#include "slots.h"

#define ENTRY_TOP 0u		/* "/", its own parent */
#define ENTRY_NONE UINT32_MAX
#define ROUTE_LINKS_MAX 40	/* as the kernel's MAXSYMLINKS */

struct entry {
	int fd;			/* O_PATH|O_NOFOLLOW; -1: handed over */
	uint32_t parent;
	uint32_t object;	/* the table's, or ENTRY_NONE */
	dev_t dev;
	ino_t ino;
	mode_t mode;
	bool self;		/* out of the user's own reach */
	bool leads;		/* to a writable root below */
	const char *name;	/* one component; "" for the top */
};

struct entries {
	struct entry *entry;
	uint32_t count, room;
	struct slots slots;	/* by parent and name */
	struct arena arena;	/* names, routes' rests */
	int (*as)(enum resolve_as who, void *arg);
	void *arg;
	int who;		/* enum resolve_as now; -1: not switched yet */
	int failed;		/* a switch that failed: nothing goes on */
	uint64_t open_files;	/* soft limit before it was raised, or 0 */
};

/* A link met on a way, and the components that were to follow it. */
struct route_link {
	uint32_t entry;
	const char *rest;	/* "": it was the last; NULL: leads upwards */
};

/* Where a path leads. */
struct route {
	uint32_t entry;		/* what it names, or the deepest that exists */
	int error;		/* 0: all is there; else why the rest is not */
	const char *rest;	/* components missing below, without . and .. */
	size_t links;
	struct route_link link[ROUTE_LINKS_MAX];
};

#define ROUTE_SELF 0x1u		/* where the user may not look, look as root */
#define ROUTE_NOFOLLOW 0x2u	/* the last component itself, if it is a link */
#define ROUTE_NO_LINKS 0x4u	/* any link is -ELOOP */

int entries_init(struct entries *es, int (*as)(enum resolve_as, void *),
		 void *arg);
void entries_free(struct entries *es);
/* Switch credentials, if that is not what they are. */
int entries_as(struct entries *es, enum resolve_as who);
/*
 * Follow @path from @base (or the top, if absolute). 0 if *r tells, also when
 * something is missing; -ENAMETOOLONG for a component or path that cannot be;
 * -EMFILE, -ENOMEM; what a switch of credentials gave.
 */
int entries_route(struct entries *es, uint32_t base, const char *path,
		  unsigned int flags, struct route *r);
/* The same path as text; malloc'd, or NULL without memory. */
char *entries_path(const struct entries *es, uint32_t entry);
/* Whether two descriptors that agree in device and number are one inode. */
bool entry_same_inode(int a, int b);
/* lh_name_hash() of one component of at most LH_NAME_MAX bytes. */
uint64_t entry_name_hash(const char *name, size_t len);
/*
 * How a directory takes names: as they are; folded; folded, and long ones have
 * a short one with a tilde besides, or one that is just the beginning; cut.
 */
enum entry_folds { FOLDS_NOT, FOLDS, FOLDS_SHORT, FOLDS_PLAIN, FOLDS_CUT };

enum entry_folds entry_folds(const struct entry *dir);
/* The same at less cost; FOLDS_NOT: it is not on FAT. */
enum entry_folds entry_fat(const struct entry *dir);
/* lh_name_hash() of the folded form, or what fold.h has in its place. */
uint64_t entry_fold_hash(const char *name, size_t len, enum entry_folds how);
/*
 * The same of the other name that @name has or may get in such a directory; 0:
 * none but those with a tilde.
 */
uint64_t entry_short_hash(const char *name, size_t len, enum entry_folds how);

#endif
