/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A picture of a few names below a directory, without following a link out of
 * it, waiting for a FIFO or opening a device, whatever somebody put there. What
 * it costs is bounded; what exceeds the bound is in it by size and times.
 */
#ifndef LH_LOOK_H
#define LH_LOOK_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "../policy-compiler/arena.h"

/* Bounds of one name, and of a whole picture. */
#define LOOK_FILE_MAX (256u << 10)	/* bytes of a file that are read */
#define LOOK_BYTES (1u << 20)
#define LOOK_ENTRIES 1024u
#define LOOK_DEPTH 8
#define LOOK_ALL_BYTES (8u << 20)
#define LOOK_ALL_ENTRIES 8192u

struct view {
	const char *path;	/* below the directory */
	uint32_t name;		/* the caller's number of what was asked for */
	bool behind;		/* what the link at @path leads to */
	bool hashed;		/* .hash is of all its content */
	bool partial;		/* a directory, and not all in it was seen;
				 * or something that could not be looked at */
	bool exec;		/* may be run, by its mode */
	mode_t type;		/* S_IFMT of it; 0: not looked at */
	uint64_t size;
	struct timespec ctime;
	uint64_t ino, dev, rdev;
	uint8_t hash[32];
};

/* Zero is the empty picture. */
struct picture {
	struct arena mem;
	struct view *view;
	size_t count, room;
	unsigned int entries;	/* looked at so far */
	uint64_t bytes;		/* read so far */
	int error;		/* -ENOMEM: of no use */
};

/*
 * Open @path below @dir, and nowhere else, also by an absolute link that leads
 * there; -errno.
 */
int look_open(int dir, const char *path, int flags);
/* Add what @path, of the directory @dir (O_PATH), is: number @name. */
void look(struct picture *p, int dir, const char *path, uint32_t name);
void look_free(struct picture *p);
/* Of the same name: false if there is no telling them apart. */
bool look_differs(const struct view *a, const struct view *b, bool *by_time);

#endif
