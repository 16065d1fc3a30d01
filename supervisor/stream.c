// SPDX-License-Identifier: GPL-2.0-only
/*
 * Bytes that flow one way through the supervisor.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cleanup.h"
#include "stream.h"

/* Room for @want bytes, as far as there may be and is. */
static size_t make_room(struct stream *s, size_t want)
{
	size_t room = s->room ? s->room : STREAM_PART;
	char *data;

	if (want > s->most)
		want = s->most;
	while (room < want)
		room *= 2;
	if (room > s->most)
		room = s->most;
	if (want > s->room) {
		data = realloc(s->data, room);
		if (!data)
			return s->room;
		s->data = data;
		s->room = room;
	}
	return want;
}

static void keep(struct stream *s, const char *part, size_t n)
{
	size_t end = make_room(s, s->len + n);

	if (end <= s->len)
		return;
	if (n > end - s->len)
		n = end - s->len;
	memcpy(s->data + s->len, part, n);
	s->len += n;
}

bool stream_take(struct stream *s)
{
	char part[STREAM_PART];
	ssize_t n = read(s->from, part, sizeof(part));

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return false;
	if (n <= 0) {
		close_fd(&s->from);
		return false;
	}
	/* What follows a gap is no part of what is kept. */
	if (!stream_cut(s))
		keep(s, part, n);
	s->total += n;
	return true;
}

bool stream_cut(const struct stream *s)
{
	return s->total > s->len;
}

size_t stream_text(const struct stream *s)
{
	size_t from = s->len, back, need;

	if (!stream_cut(s))
		return s->len;
	/* The last byte that begins a character, if it wants more than is. */
	for (back = 1; back <= 3 && back <= s->len; back++) {
		unsigned char c = s->data[--from];

		if ((c & 0xc0) == 0x80)
			continue;
		need = c < 0xc0 ? 1 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : 4;
		return need > back ? from : s->len;
	}
	return s->len;
}

void stream_free(struct stream *s)
{
	close_fd(&s->from);
	free(s->data);
	s->data = NULL;
}
