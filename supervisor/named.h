/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Files that a user names: read and opened with that user's credentials, never
 * waited for without end, and, where we write to them, never where the session
 * could write too.
 */
#ifndef LH_NAMED_H
#define LH_NAMED_H

#include <stddef.h>
#include <sys/types.h>

#include "../policy-compiler/err.h"
#include "../policy-compiler/resolve.h"
#include "identity.h"

/*
 * The whole file or pipe @path, at most @max bytes; *buf is malloc'd, with a
 * NUL behind. @what: the option, for messages.
 */
int named_read(const struct identity *id, const char *what, const char *path,
	       size_t max, char **buf, size_t *len, struct err *e);

/*
 * Open the regular file @path to append to it, make it if need be. The last
 * component is not followed if it is a link. Refused in or below @t's writable
 * roots. Returns a descriptor.
 */
int named_output(const struct identity *id, const char *what,
		 const char *path, const struct table *t, struct err *e);
/*
 * A regular file that is written whole or not at all: put in place by a rename
 * once all of it is there. Until then there is none, whatever was there before.
 */
struct named_whole {
	int dir;		/* O_PATH; -1: none */
	char *base;
	mode_t mode;
};

#define NAMED_WHOLE_NONE { .dir = -1 }

/*
 * The place of such a file: refused as named_output() does, and where no file
 * can be made. What is there is removed.
 */
int named_whole(const struct identity *id, const char *what, const char *path,
		const struct table *t, struct named_whole *w, struct err *e);
/* Write it; whatever fails, nothing is left of it. */
int named_whole_put(const struct identity *id, const struct named_whole *w,
		    const char *text, size_t len);
void named_whole_free(struct named_whole *w);
/* May descriptor @fd, opened by our caller, take what we write? A copy. */
int named_descriptor(const char *what, int fd, const struct table *t,
		     struct err *e);
/* A directory to start in; O_PATH, opened as the user. */
int named_directory(const struct identity *id, const char *what,
		    const char *path, struct err *e);

#endif
