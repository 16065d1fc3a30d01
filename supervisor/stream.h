/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Bytes that flow one way through the supervisor: kept up to a limit, or
 * passed on. What is kept takes no more memory than came; what is passed on
 * waits in one part, so that a reader who does not read stops the writer and
 * nothing else.
 */
#ifndef LH_STREAM_H
#define LH_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define STREAM_PART 16384	/* read at a time */

struct stream {
	int from;		/* not blocking; owned; -1: at its end */
	bool keep;		/* in .data, the first .most bytes */
	uint64_t most;
	char *data;
	size_t room, len;
	uint64_t total;		/* bytes that came */
};

#define STREAM_NONE { .from = -1 }

/* Read what is there, one part: true if something came. */
bool stream_take(struct stream *s);
/* Was some of it not kept? */
bool stream_cut(const struct stream *s);
/* The length of what is kept without half a character at its cut. */
size_t stream_text(const struct stream *s);
void stream_free(struct stream *s);

#endif
