// SPDX-License-Identifier: GPL-2.0-only
/*
 * Bytes that flow one way through the supervisor. Whoever is at the other end
 * of a descriptor that the caller gave shares its flags with us, so none is
 * changed: what can be is opened anew, without blocking.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "cleanup.h"
#include "stream.h"

/* Opened anew it would be another terminal. */
static bool is_ptmx(const struct stat *st)
{
	return S_ISCHR(st->st_mode) && st->st_rdev == makedev(5, 2);
}

/* We may open anything; who gave it opened it for less, perhaps. */
static bool may(int fd, int mode)
{
	int got = fcntl(fd, F_GETFL);

	return got >= 0 && ((got & O_ACCMODE) == O_RDWR ||
			    (got & O_ACCMODE) == mode);
}

/* *anew: it does not block. */
static int copy(int fd, int mode, bool *socket, bool *anew)
{
	struct stat st = {};
	char path[32];
	int own = -1;

	fstat(fd, &st);
	*socket = S_ISSOCK(st.st_mode);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (may(fd, mode) && (S_ISFIFO(st.st_mode) ||
			      (S_ISCHR(st.st_mode) && !is_ptmx(&st))))
		own = open(path, mode | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
	*anew = own >= 0;
	return *anew ? own : fcntl(fd, F_DUPFD_CLOEXEC, 3);
}

void stream_from(struct stream *s, int fd)
{
	bool anew;

	s->from = copy(fd, O_RDONLY, &s->from_socket, &anew);
}

void stream_to(struct stream *s, int fd)
{
	bool anew;

	/* Where nothing can be written it says so at once, and not never. */
	if (!may(fd, O_WRONLY)) {
		s->to = open("/dev/null", O_RDONLY | O_CLOEXEC);
		return;
	}
	s->to = copy(fd, O_WRONLY, &s->to_socket, &anew);
	s->to_blocks = !anew && !s->to_socket;
}

bool stream_waits(const struct stream *s)
{
	return s->to >= 0 && s->at < s->len;
}

struct pollfd stream_poll(const struct stream *s)
{
	return stream_waits(s) ? (struct pollfd){ s->to, POLLOUT, 0 } :
				 (struct pollfd){ s->from, POLLIN, 0 };
}

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

/* Nobody takes it: who writes shall see it, as if there were none of us. */
static void give_up(struct stream *s, int error)
{
	s->error = error;
	s->at = s->len = 0;
	close_fd(&s->from);
	close_fd(&s->to);
}

static ssize_t get(const struct stream *s, char *part, size_t n)
{
	return s->from_socket ? recv(s->from, part, n, MSG_DONTWAIT) :
				read(s->from, part, n);
}

static ssize_t put(const struct stream *s, const char *part, size_t n)
{
	struct pollfd ready = { s->to, POLLOUT, 0 };

	if (s->to_socket)
		return send(s->to, part, n, MSG_DONTWAIT | MSG_NOSIGNAL);
	if (s->to_blocks && poll(&ready, 1, 0) != 1) {
		errno = EAGAIN;
		return -1;
	}
	return write(s->to, part, s->to_blocks && n > PIPE_BUF ? PIPE_BUF : n);
}

static bool is_for_now(int err)
{
	return err == EAGAIN || err == EINTR;
}

static bool take(struct stream *s)
{
	char part[STREAM_PART];
	ssize_t n = s->last && s->total >= s->end ? 0 :
		    get(s, part, sizeof(part));

	if (n < 0 && is_for_now(errno) && !s->last)
		return false;
	if (n <= 0) {
		close_fd(&s->from);
		return false;
	}
	if (s->to >= 0) {
		s->most = STREAM_PART;
		s->at = s->len = 0;
		keep(s, part, n);
		if (s->len < (size_t)n)
			give_up(s, ENOMEM);
	} else if (!stream_cut(s)) {
		/* What follows a gap is no part of what is kept. */
		keep(s, part, n);
	}
	s->total += n;
	return true;
}

static bool give(struct stream *s)
{
	ssize_t n = put(s, s->data + s->at, s->len - s->at);

	if (n < 0 && !is_for_now(errno))
		give_up(s, errno);
	if (n > 0)
		s->at += n;
	return n > 0;
}

bool stream_move(struct stream *s)
{
	if (stream_waits(s))
		return give(s);
	return s->from >= 0 && take(s);
}

void stream_add(struct stream *s, const char *bytes, size_t n)
{
	s->most = STREAM_PART;
	s->at = s->len = 0;
	keep(s, bytes, n);
}

void stream_end(struct stream *s)
{
	int held = fcntl(s->from, F_GETPIPE_SZ);

	/* Whoever is outside and writes on is not listened to for ever. */
	s->last = true;
	s->end = s->total + (held > 0 ? held : 1 << 16);
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
	close_fd(&s->to);
	free(s->data);
	s->data = NULL;
	s->at = s->len = s->room = 0;
}
