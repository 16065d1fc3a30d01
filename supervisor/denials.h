/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What becomes of a session's records: JSON Lines in a file, counts for the
 * result, and those that most likely made the command fail. A record that
 * cannot be kept is counted; a line is written whole or not at all.
 */
#ifndef LH_DENIALS_H
#define LH_DENIALS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../policy-compiler/resolve.h"
#include "event.h"
#include "identity.h"

#define DENIALS_DIR "/var/log/lh"
#define DENIALS_CULPRITS 3
#define DENIALS_FIRST 5
#define DENIALS_MOST (64u << 20)	/* bytes of the default file */

struct denials {
	/* Set before the first record. Borrowed, but for fd. */
	const char *session;
	const struct identity *id;
	const struct image *im;
	const struct table *table;
	__u64 serial;
	int fd;			/* owned; -1: not open (yet) */
	bool given;		/* by --denials: no default file */
	const char *named;	/* the file that was given, borrowed; or NULL */

	char path[4096];	/* of the file, once there is one, or "" */
	int error;		/* of the first record that was not kept */
	uint64_t received;	/* refusals that came with a record */
	uint64_t unwritten;	/* of these, not in the file */
	uint64_t written;	/* bytes */
	uint64_t foreign;	/* not ours, or not a record */
	uint64_t by_mechanism[MECHANISM_COUNT];
	uint64_t alerts;	/* that were no expected probes */
	struct denials_raw *raw;	/* of this drain */
	size_t raw_count, raw_room;
	struct event *last;	/* pending line, or NULL */
	uint64_t last_count;
	/* The last matters that were no probes, the latest first. */
	struct denials_culprit {
		struct event *ev;	/* the last of it; NULL: no more */
		uint64_t count;
	} culprit[DENIALS_CULPRITS];
	/* The first of them, equal ones in a row as one. */
	struct denials_first {
		struct event *ev;
		uint64_t count;
	} first[DENIALS_FIRST];
	unsigned int first_count;
};

/* A record of @count equal refusals. Kept back until the flush. */
void denials_add(struct denials *d, const void *data, size_t size,
		 uint64_t count);
/*
 * At the end of each drain: write what is kept back, in the order of its
 * numbers. Processors may have put them into the ring in another.
 */
void denials_flush(struct denials *d);
void denials_free(struct denials *d);
/* Text of @ev's rule. */
const char *denials_rule(const struct denials *d, const struct event *ev);

/*
 * Line @number, from 0, for people: what was refused, why, and what would grant
 * it. false: there is no such line.
 */
bool denials_summary(const struct denials *d, unsigned int number, char *text,
		     size_t size);

#endif
