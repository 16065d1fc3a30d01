/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What hostexec.c finds, hostexec-git.c adds to and hostexec-say.c tells.
 */
#ifndef LH_HOSTEXEC_INNER_H
#define LH_HOSTEXEC_INNER_H

#include <time.h>

#include "hostexec.h"
#include "look.h"

#define PLACES_MAX 64		/* directories that are looked into */
#define FOLD_ABOVE 16		/* changes of one name: more are one */
#define CHANGES_MAX 256
#define UNSEEN_MAX 64

enum change_kind { CREATED, MODIFIED, REMOVED };

/* A directory that names are sought in; kept open, so it stays the same. */
struct place {
	const char *path;
	int fd;
	bool root;		/* a writable root */
	bool repository;	/* has a .git/HEAD at the start */
};

/* One name of the list, where it may stand. */
struct name {
	uint32_t place;
	const char *path;	/* below it */
	const char *kind;
};

struct change {
	const char *path;	/* absolute */
	const char *kind;
	enum change_kind change;
	bool by_time;
	unsigned int count;	/* that this one stands for */
};

struct hostexec {
	struct arena mem;
	struct place place[PLACES_MAX];
	uint32_t place_count;
	struct name *name;
	uint32_t name_count, name_room;
	struct picture before, after;
	bool ended;
	int error;
	struct change change[CHANGES_MAX];
	unsigned int change_count, more;
	struct timespec real, boot;	/* clocks at the start */
	const char *unseen[UNSEEN_MAX];	/* absolute */
	unsigned int unseen_count;
};

/* Each path once, the first that is told of it. */
void hostexec_change(struct hostexec *h, struct change c);
/* @path, absolute: what changed in it is not known. Kept as it is. */
void hostexec_unseen(struct hostexec *h, const char *path);

/* To read: a file of at most @most bytes, and nothing that waits or acts. */
int hostexec_open(const struct place *top, const char *path, uint64_t most);
/* Note the clocks, and what is a repository already. */
void hostexec_git_begin(struct hostexec *h);
/*
 * Where the repository at the top of a root says that its hooks are, below it;
 * NULL: it does not, or elsewhere. Freed by the caller.
 */
char *hostexec_git_hooks(const struct place *top);
/* What the host's git would obey, of what changed since; @inside a file too. */
void hostexec_git_end(struct hostexec *h, bool inside);

#endif
