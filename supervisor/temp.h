/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The session's temp directory, /tmp/lh-UID/SESSION, and the tool cache in the
 * workspace. Both are made and removed as the session's user, without
 * following a link, so a name in them can never reach what the user cannot.
 */
#ifndef LH_TEMP_H
#define LH_TEMP_H

#include "../policy-compiler/err.h"
#include "identity.h"

#define TEMP_CACHE ".lh-toolchain-cache"

#define TEMP_BASE_LEN 32

/* Where the temp directories of all sessions of the user @uid lie. */
void temp_base(uid_t uid, char out[TEMP_BASE_LEN]);
/* It is theirs, or not there yet; not a link or directory of somebody else. */
bool temp_base_may_be(uid_t uid);
/* Path of the made directory, or NULL with *e; the caller frees it. */
char *temp_make(const struct identity *id, const char *session,
		struct err *e);
/*
 * Remove it and all below it as @c. 0 also if there is none. Directories of
 * any depth take a bounded number of descriptors.
 */
int temp_remove(const struct identity *id, const struct credentials *c,
		const char *session);
/* Call @each for every session's name in @c's part of /tmp. */
void temp_each(const struct identity *id, const struct credentials *c,
	       void (*each)(const char *session, void *arg), void *arg);

/*
 * The tool cache in the workspace @root, with its own .gitignore. Returns its
 * path (the caller frees it) or NULL: it cannot be made, which is no error.
 */
char *temp_cache_make(const struct identity *id, const char *root);
/* Take it away again if nothing was put into it. */
void temp_cache_prune(const struct identity *id, const char *path);

#endif
