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
	for (i = 0; !ret && i < FLOW_OUTPUTS; i++) {
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

/* The session's terminal has two ends for us, and the command up to three. */
static int connect_terminal(struct flow *f, bool replaced[3], uint64_t most)
{
	struct stream *out = &f->stream[FLOW_OUT], *in = &f->stream[FLOW_IN];
	int fd;

	for (fd = 0; fd < 3; fd++) {
		if (!replaced[fd])
			continue;
		f->command[fd] = fcntl(f->terminal.slave, F_DUPFD_CLOEXEC, 3);
		if (f->command[fd] < 0)
			return -errno;
	}
	out->from = fcntl(f->terminal.master, F_DUPFD_CLOEXEC, 3);
	out->most = most;
	if (!most)
		stream_to(out, STDOUT_FILENO);
	if (out->from < 0 || (!most && out->to < 0))
		return -errno;
	if (!replaced[0])
		return 0;
	stream_from(in, STDIN_FILENO);
	in->to = fcntl(f->terminal.master, F_DUPFD_CLOEXEC, 3);
	return in->from < 0 || in->to < 0 ? -errno : 0;
}

int flow_terminal(struct flow *f, const struct identity *id, bool all,
		  uint64_t most, struct err *e)
{
	bool replaced[3], raw;
	int fd, ret;

	for (fd = 0; fd < 3; fd++)
		replaced[fd] = all || isatty(fd);
	raw = !most && isatty(STDIN_FILENO) && isatty(STDOUT_FILENO);
	ret = terminal_open(&f->terminal, id, raw, e);
	if (ret)
		return ret;
	f->kept = most;
	f->shown = true;
	ret = connect_terminal(f, replaced, most);
	if (!ret && !replaced[STDERR_FILENO])
		ret = pass(f, STDERR_FILENO, id);
	return ret ? err_sys(e, ret, "the session's terminal") : 0;
}

void flow_enter(struct flow *f)
{
	if (f->terminal.master < 0)
		terminal_share(&f->shared);
	terminal_enter(&f->terminal);
	f->listens = !isatty(STDIN_FILENO) || terminal_is_ours(STDIN_FILENO);
}

void flow_leave(struct flow *f)
{
	terminal_leave(&f->terminal);
	f->listens = false;
}

void flow_started(struct flow *f)
{
	int i;

	for (i = 0; i < 3; i++)
		close_fd(&f->command[i]);
}

void flow_put_right(struct flow *f)
{
	terminal_put_right(&f->shared);
}

void flow_wait(const struct flow *f, struct pollfd p[FLOW_STREAMS])
{
	int i;

	for (i = 0; i < FLOW_STREAMS; i++)
		p[i] = stream_poll(&f->stream[i]);
	if (!f->listens && !stream_waits(&f->stream[FLOW_IN]))
		p[FLOW_IN].fd = -1;
}

/* What a user would type there, who has nothing more to say. */
static void tell_end(struct flow *f)
{
	struct stream *in = &f->stream[FLOW_IN];
	struct termios modes;
	char keys[2];
	bool open_line = in->total && in->data[in->len - 1] != '\n';

	f->told_end = true;
	if (tcgetattr(f->terminal.master, &modes))
		return;
	keys[0] = keys[1] = modes.c_cc[VEOF];
	/* The first one only ends a line that was begun. */
	stream_add(in, keys, open_line && (modes.c_lflag & ICANON) ? 2 : 1);
}

bool flow_go(struct flow *f, const struct pollfd p[FLOW_STREAMS])
{
	struct stream *in = &f->stream[FLOW_IN];
	bool moved = false;
	int i;

	for (i = 0; i < FLOW_STREAMS; i++)
		if (p[i].revents)
			moved |= stream_move(&f->stream[i]) && i != FLOW_IN;
	if (in->to >= 0 && in->from < 0 && !stream_waits(in) && !f->told_end)
		tell_end(f);
	if (f->terminal.master >= 0 && f->stream[FLOW_OUT].error) {
		stream_free(in);
		terminal_hang_up(&f->terminal);
	}
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

	stream_free(&f->stream[FLOW_IN]);
	for (i = 0; i < FLOW_OUTPUTS; i++) {
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

	for (i = 0; i < FLOW_OUTPUTS; i++) {
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
	/* A terminal shows both, and nobody knows which was which. */
	write_stream(kept && !f->shown ?
		     &f->stream[FLOW_ERR] : NULL, "stderr", w);
}

void flow_free(struct flow *f)
{
	int i;

	flow_started(f);
	terminal_free(&f->terminal);
	for (i = 0; i < FLOW_STREAMS; i++)
		stream_free(&f->stream[i]);
}
