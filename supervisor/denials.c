// SPDX-License-Identifier: GPL-2.0-only
/*
 * Records to lines, counts and a file. The default file is made at the first
 * denial, by root, so that the session cannot write it; the session's user may
 * read it by an ACL, which names him and no group.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "acl.h"
#include "cleanup.h"
#include "denials.h"
#include "limits.h"
#include "summary.h"

#define WRITE_WAIT_MS 1000	/* for a reader of --denials fd:N */
#define CHUNK 4096		/* PIPE_BUF: such a write does not block */

const char *denials_rule(const struct denials *d, const struct event *ev)
{
	/* No policy opens any of them. */
	if (ev->d.op == LH_OP_SYSCALL)
		return "builtin:seccomp";
	if (ev->d.op == LH_OP_LIMIT && ev->d.arg < LIMITS)
		return limits[ev->d.arg].rule;
	return table_rule(d->im, d->table, ev->d.rule);
}

static int open_default(struct denials *d)
{
	_cleanup_close_ int dir = -1;
	_cleanup_close_ int fd = -1;
	struct stat st;
	char name[64];

	if (mkdir(DENIALS_DIR, 0711) && errno != EEXIST)
		return -errno;
	dir = open(DENIALS_DIR, O_RDONLY | O_DIRECTORY | O_NOFOLLOW |
		   O_CLOEXEC);
	if (dir < 0 || fstat(dir, &st))
		return -errno;
	if (st.st_uid || (st.st_mode & 022))
		return -EPERM;
	snprintf(name, sizeof(name), "%s.jsonl", d->session);
	fd = openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW |
		    O_APPEND | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	if (d->id->user.uid)
		acl_allow_reading(fd, d->id->user.uid);	/* else: root alone */
	snprintf(d->path, sizeof(d->path), DENIALS_DIR "/%s", name);
	d->fd = take_fd(&fd);
	return 0;
}

/* All of it, or a negative errno and nothing that looks like a line. */
static int write_line(int fd, const char *line, size_t len)
{
	struct stat st;
	size_t done = 0;
	int err = 0;

	if (fstat(fd, &st))
		return -errno;
	while (!err && done < len) {
		struct pollfd p = { .fd = fd, .events = POLLOUT };
		size_t n = len - done < CHUNK ? len - done : CHUNK;
		ssize_t w;

		if (!S_ISREG(st.st_mode) && poll(&p, 1, WRITE_WAIT_MS) != 1) {
			err = -ETIMEDOUT;
			break;
		}
		if (S_ISREG(st.st_mode))
			n = len - done;
		w = write(fd, line + done, n);
		if (w > 0)
			done += w;
		else if (!w || (errno != EINTR && errno != EAGAIN))
			err = w ? -errno : -EIO;
	}
	if (err && done && S_ISREG(st.st_mode) && !ftruncate(fd, st.st_size))
		done = 0;
	/* Half a line in a pipe cannot be taken back: the last one there. */
	return err && done ? -EPIPE : err;
}

static void keep(struct denials *d, const struct event *ev, uint64_t count)
{
	struct event_context c = {
		.session = d->session, .rule = denials_rule(d, ev),
		.count = count,
	};
	_cleanup_writer_ struct writer *w = writer_new();
	_cleanup_free_ char *line = NULL;
	size_t len;
	int err = 0;

	if (d->fd < 0 && d->given)
		err = -EPIPE;
	else if (d->fd < 0)
		err = open_default(d);
	if (!err) {
		event_write(ev, &c, w);
		line = writer_line(w, &len);
		/* Where nobody chose the place, nobody watches it either. */
		err = !d->given && d->written + len > DENIALS_MOST ? -EFBIG :
		      write_line(d->fd, line, len);
		if (err == -EPIPE)
			close_fd(&d->fd);
		if (!err)
			d->written += len;
	}
	if (err) {
		d->unwritten += count;
		if (!d->error)
			d->error = err;
	}
}

static void keep_last(struct denials *d)
{
	if (!d->last)
		return;
	keep(d, d->last, d->last_count);
	free(d->last);
	d->last = NULL;
	d->last_count = 0;
}

/* The same but for its number, its time and the thread. */
static bool equal(const struct event *a, const struct event *b)
{
	struct lh_denial x = a->d, y = b->d;

	x.seq = y.seq = 0;
	x.time = y.time = 0;
	x.lost = y.lost = 0;	/* the last one of a run says how many */
	x.tid = y.tid = 0;
	/* A look at all processes is one thing, however many there are. */
	if (a->probe && b->probe && x.why == LH_WHY_PROCESS) {
		x.path_len = y.path_len = 0;
		return !memcmp(&x, &y, sizeof(x)) && !strcmp(a->exe, b->exe);
	}
	return !memcmp(&x, &y, sizeof(x)) && !strcmp(a->path, b->path) &&
	       !strcmp(a->other, b->other) && !strcmp(a->exe, b->exe) &&
	       !memcmp(a->args, b->args, sizeof(a->args));
}

static void remember(struct denials *d, const struct event *ev,
		     uint64_t count)
{
	struct denials_first *last = &d->first[d->first_count];

	if (d->first_count && equal(last[-1].ev, ev)) {
		last[-1].count += count;
		return;
	}
	if (d->first_count == DENIALS_FIRST)
		return;
	last->ev = malloc(sizeof(*last->ev));
	if (!last->ev)
		return;
	*last->ev = *ev;
	last->count = count;
	d->first_count++;
}

static void take(struct denials *d, const void *data, size_t size,
		 uint64_t count)
{
	struct event *ev = malloc(sizeof(*ev));

	if (!ev || event_parse(data, size, d->id->home, ev) ||
	    ev->d.serial != d->serial) {
		d->foreign++;
		free(ev);
		return;
	}
	d->received += count;
	d->by_mechanism[ev->mechanism] += count;
	/* A limit explains an end by itself, and is no alert. */
	if (!ev->probe && ev->d.op != LH_OP_LIMIT) {
		remember(d, ev, count);
		d->alerts += count;
		summary_take(d, ev, count);
	}
	if (d->last && equal(d->last, ev)) {
		d->last_count += count;
	} else {
		keep_last(d);
		d->last_count = count;
	}
	free(d->last);
	d->last = ev;
}

struct denials_raw {
	__u64 seq, count;
	size_t size;
	void *data;
};

static int by_number(const void *a, const void *b)
{
	const struct denials_raw *x = a, *y = b;

	return x->seq < y->seq ? -1 : x->seq > y->seq;
}

static bool room_for_one(struct denials *d)
{
	size_t room = d->raw_room ? d->raw_room * 2 : 64;
	struct denials_raw *raw;

	if (d->raw_count < d->raw_room)
		return true;
	raw = realloc(d->raw, room * sizeof(*raw));
	if (!raw)
		return false;
	d->raw = raw;
	d->raw_room = room;
	return true;
}

void denials_add(struct denials *d, const void *data, size_t size,
		 uint64_t count)
{
	struct denials_raw r = {
		.count = count, .size = size, .data = malloc(size),
	};

	/* Short of memory: out of order is better than lost. */
	if (!r.data || size < sizeof(struct lh_denial) || !room_for_one(d)) {
		free(r.data);
		take(d, data, size, count);
		return;
	}
	memcpy(r.data, data, size);
	r.seq = ((const struct lh_denial *)r.data)->seq;
	d->raw[d->raw_count++] = r;
}

void denials_flush(struct denials *d)
{
	size_t i;

	if (d->raw_count > 1)
		qsort(d->raw, d->raw_count, sizeof(*d->raw), by_number);
	for (i = 0; i < d->raw_count; i++) {
		take(d, d->raw[i].data, d->raw[i].size, d->raw[i].count);
		free(d->raw[i].data);
	}
	d->raw_count = 0;
	keep_last(d);
}

void denials_free(struct denials *d)
{
	denials_flush(d);
	free(d->raw);
	d->raw = NULL;
	summary_free(d);
	while (d->first_count)
		free(d->first[--d->first_count].ev);
	close_fd(&d->fd);
}
