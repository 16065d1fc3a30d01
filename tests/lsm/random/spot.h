/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A place in the tree, with all that stands on the way up from it.
 */
#ifndef LH_RANDOM_SPOT_H
#define LH_RANDOM_SPOT_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

#define TEXT 1024	/* bytes of a path, with its NUL */
#define LEVELS 64

struct id {
	dev_t dev;
	ino_t ino;		/* 0: nothing is there */
};

/* One directory entry on the way from an object up. */
struct level {
	struct id id;
	char name[256];
	const char *below;	/* from here down to the object, "" for itself */
	bool aside;		/* a name that only a bind mount's source has */
	bool mounted;		/* root of a mount: the next one is covered */
};

/* What a path leads to now, as the host sees it. */
struct spot {
	int err;		/* of the way there: no such place */
	bool there;
	bool hidden;		/* the name shows something else: no judging */
	struct stat st;
	char path[TEXT];
	int mount;		/* the one that its directory is in, -1: none */
	unsigned int count;
	struct level level[LEVELS];
	char text[4 * TEXT];
	size_t used;
};

/* What a call wants of an object, in the words of the design. */
#define NEED_READ 0x01u
#define NEED_WRITE 0x02u
#define NEED_RUN 0x04u
#define NEED_REMOVE 0x08u
#define NEED_CARRY 0x10u	/* away, with what lies below */
#define NEED_ARRIVE 0x20u	/* here, with what lies below */
#define NEED_LOOK 0x40u
#define NEED_CHANGE (NEED_WRITE | NEED_REMOVE | NEED_CARRY | NEED_ARRIVE)

#endif
