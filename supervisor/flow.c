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
#include <unistd.h>

#include "cleanup.h"
#include "flow.h"

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
		f->stream[i].keep = true;
		f->stream[i].most = most;
		ret = make_pipe(f, STDOUT_FILENO + i, &f->stream[i], id);
	}
	return ret ? err_sys(e, ret, "--capture") : 0;
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
		p[i] = (struct pollfd){ f->stream[i].from, POLLIN, 0 };
}

bool flow_go(struct flow *f, const struct pollfd p[FLOW_STREAMS])
{
	bool came = false;
	int i;

	for (i = 0; i < FLOW_STREAMS; i++)
		if (p[i].revents)
			came |= stream_take(&f->stream[i]);
	return came;
}

/* Whoever is outside and goes on writing is not listened to for ever. */
static void take_rest(struct stream *s)
{
	int held = fcntl(s->from, F_GETPIPE_SZ);
	uint64_t end = s->total + (held > 0 ? held : 0);

	while (s->from >= 0 && s->total < end)
		if (!stream_take(s))
			return;
}

void flow_finish(struct flow *f)
{
	int i;

	for (i = 0; i < FLOW_STREAMS; i++)
		if (f->stream[i].from >= 0)
			take_rest(&f->stream[i]);
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
