/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Bytes that flow one way through the supervisor: kept up to a limit, or
 * passed on. What is kept takes no more memory than came; what is passed on
 * waits in one part, so that a reader who does not read stops the writer and
 * nothing else.
 */
#ifndef LH_STREAM_H
#define LH_STREAM_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define STREAM_PART 16384	/* read at a time */

struct stream {
	int from;		/* owned; -1: at its end */
	int to;			/* owned; -1: kept */
	bool from_socket, to_socket;
	bool to_blocks;		/* in a write longer than PIPE_BUF */
	bool last;		/* no more than .end, and what is there */
	uint64_t end;
	int error;		/* why nobody takes it any more; 0: they do */
	uint64_t most;		/* that is kept */
	char *data;		/* the first bytes; or what waits */
	size_t room, at, len;
	uint64_t total;		/* bytes that came */
};

#define STREAM_NONE { .from = -1, .to = -1 }

/* A copy of @fd that does not block, or as good a one as there can be. */
void stream_from(struct stream *s, int fd);
void stream_to(struct stream *s, int fd);
/* Something was read that nobody has taken yet. */
bool stream_waits(const struct stream *s);
/* What to wait for, and, where that came, to do: true if bytes moved. */
struct pollfd stream_poll(const struct stream *s);
bool stream_move(struct stream *s);
/* Put @n bytes behind what was read, when its source is at its end. */
void stream_add(struct stream *s, const char *bytes, size_t n);
/* Nobody inside writes any more: no more than what is there already. */
void stream_end(struct stream *s);
/* Was some of it not kept? */
bool stream_cut(const struct stream *s);
/* The length of what is kept without half a character at its cut. */
size_t stream_text(const struct stream *s);
void stream_free(struct stream *s);

#endif
