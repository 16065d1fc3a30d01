/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the host may run later by itself, and an honest session changes too:
 * each writable root's names of data/host-exec, looked at before the session
 * and after its end. Compared by content, so what was only rewritten is none.
 */
#ifndef LH_HOSTEXEC_H
#define LH_HOSTEXEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "identity.h"
#include "writer.h"

struct hostexec;

/*
 * Look at @count roots, absolute and resolved, as @id's user; @skip (may be
 * NULL) is none of them. NULL: there is no root to look at.
 */
struct hostexec *hostexec_begin(const struct identity *id,
				char *const *roots, size_t count,
				const char *skip);
/*
 * Look again, once nothing of the session lives; where it @touched that,
 * LH_TOUCHED_*, for all that the host's git would obey too. @h may be NULL.
 */
void hostexec_end(struct hostexec *h, const struct identity *id,
		  uint64_t touched);
void hostexec_free(struct hostexec *h);

/* The members host_exec_* of the result; null without a comparison. */
void hostexec_write(const struct hostexec *h, struct writer *w);
/* One line for people, paths below @cwd shortened. false: nothing changed. */
bool hostexec_summary(const struct hostexec *h, const char *cwd,
		      char *text, size_t size);

#endif
