// SPDX-License-Identifier: GPL-2.0-only
/*
 * What flows between the command and its caller. The command gets pipes of its
 * user's, so that it can open /dev/stdout like any other; their other ends
 * never block us.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cleanup.h"
#include "flow.h"
#include "say.h"

/* A pipe from the command's descriptor @fd to @s. */
static int make_pipe(struct flow *f, int fd, struct stream *s,
		     const struct identity *id)
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC))
		return -errno;
	s->from = ends[0];
	f->command[fd] = ends[1];
	/* Both ends have one owner: who may open the other one anew. */
	if (fchown(ends[1], id->user.uid, id->user.gid) ||
	    fcntl(ends[0], F_SETFL, O_NONBLOCK))
		return -errno;
	return 0;
}

int flow_capture(struct flow *f, const struct identity *id, uint64_t most,
		 struct err *e)
{
	int i, ret = 0;

	f->kept = true;
	for (i = 0; !ret && i < FLOW_STREAMS; i++) {
		f->stream[i].most = most;
		ret = make_pipe(f, STDOUT_FILENO + i, &f->stream[i], id);
	}
	return ret ? err_sys(e, ret, "--capture") : 0;
}

/* Then what is written to them keeps its order. */
static bool are_one(int fd, int other)
{
	struct stat a, b;

	return !fstat(fd, &a) && !fstat(other, &b) && a.st_dev == b.st_dev &&
	       a.st_ino == b.st_ino;
}

static int pass(struct flow *f, int fd, const struct identity *id)
{
	struct stream *s = &f->stream[fd - STDOUT_FILENO];

	stream_to(s, fd);
	return s->to < 0 ? -errno : make_pipe(f, fd, s, id);
}

int flow_pass(struct flow *f, const struct identity *id, struct err *e)
{
	int ret = pass(f, STDOUT_FILENO, id);

	if (!ret && are_one(STDOUT_FILENO, STDERR_FILENO)) {
		f->command[2] = fcntl(f->command[1], F_DUPFD_CLOEXEC, 3);
		ret = f->command[2] < 0 ? -errno : 0;
	} else if (!ret) {
		ret = pass(f, STDERR_FILENO, id);
	}
	return ret ? err_sys(e, ret, "the command's output") : 0;
}

void flow_started(struct flow *f)
{
	int i;

	for (i = 0; i < 3; i++)
		close_fd(&f->command[i]);
}

void flow_wait(const struct flow *f, struct pollfd p[FLOW_STREAMS])
{
	int i;

	for (i = 0; i < FLOW_STREAMS; i++)
		p[i] = stream_poll(&f->stream[i]);
}

bool flow_go(struct flow *f, const struct pollfd p[FLOW_STREAMS])
{
	bool moved = false;
	int i;

	for (i = 0; i < FLOW_STREAMS; i++)
		if (p[i].revents)
			moved |= stream_move(&f->stream[i]);
	return moved;
}

bool flow_waits(const struct flow *f)
{
	return stream_waits(&f->stream[FLOW_OUT]) ||
	       stream_waits(&f->stream[FLOW_ERR]);
}

bool flow_finish(struct flow *f)
{
	bool all = true;
	int i;

	for (i = 0; i < FLOW_STREAMS; i++) {
		struct stream *s = &f->stream[i];

		if (!s->last)
			stream_end(s);
		while (stream_move(s))
			;
		all &= s->from < 0 && !stream_waits(s);
	}
	return all;
}

void flow_say(const struct flow *f)
{
	static const char *const names[] = {
		[FLOW_OUT] = "standard output", [FLOW_ERR] = "standard error",
	};
	int i;

	for (i = 0; i < FLOW_STREAMS; i++) {
		const struct stream *s = &f->stream[i];

		/* Who closed it knows. */
		if (s->error && s->error != EPIPE)
			say("%s: %s", names[i], strerror(s->error));
		else if (stream_waits(s))
			say("%s: nobody read the rest of it", names[i]);
	}
}

static void write_stream(const struct stream *s, const char *name,
			 struct writer *w)
{
	char key[32];

	if (s)
		writer_bytes(w, name, s->data ? s->data : "", stream_text(s));
	else
		writer_null(w, name);
	snprintf(key, sizeof(key), "%s_bytes", name);
	if (s)
		writer_uint(w, key, s->total);
	else
		writer_null(w, key);
	snprintf(key, sizeof(key), "%s_cut", name);
	writer_bool(w, key, s && stream_cut(s));
}

void flow_write(const struct flow *f, struct writer *w)
{
	bool kept = f && f->kept;

	write_stream(kept ? &f->stream[FLOW_OUT] : NULL, "stdout", w);
	write_stream(kept ? &f->stream[FLOW_ERR] : NULL, "stderr", w);
}

void flow_free(struct flow *f)
{
	int i;

	flow_started(f);
	for (i = 0; i < FLOW_STREAMS; i++)
		stream_free(&f->stream[i]);
}
