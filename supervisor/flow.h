/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What flows between the command and its caller by way of the supervisor; by
 * default nothing does, and the command has the caller's own descriptors.
 */
#ifndef LH_FLOW_H
#define LH_FLOW_H

#include <poll.h>
#include <stdbool.h>
#include <stdint.h>

#include "../policy-compiler/err.h"
#include "identity.h"
#include "stream.h"
#include "terminal.h"
#include "writer.h"

#define FLOW_CAPTURE (64u << 10)	/* bytes kept, where nobody says */

enum { FLOW_OUT, FLOW_ERR, FLOW_IN, FLOW_STREAMS };
#define FLOW_OUTPUTS FLOW_IN

struct flow {
	bool kept;		/* for the result */
	bool shown;		/* on a terminal of the session's own */
	struct stream stream[FLOW_STREAMS];
	struct terminal terminal;
	bool listens;		/* to standard input: it is ours to read */
	bool told_end;		/* of it, to the terminal */
	int command[3];		/* to be its 0 to 2; -1: the caller's own */
	struct terminal_shared shared;
};

#define FLOW_NONE {							\
	.stream = { STREAM_NONE, STREAM_NONE, STREAM_NONE },		\
	.terminal = TERMINAL_NONE, .command = { -1, -1, -1 },		\
	.shared = { .fd = -1 },						\
}

/* Standard output and error are kept, @most bytes of each. */
int flow_capture(struct flow *f, const struct identity *id, uint64_t most,
		 struct err *e);
/* They are passed on to the caller's. */
int flow_pass(struct flow *f, const struct identity *id, struct err *e);
/*
 * The command has a terminal of its own for all three, or, if not @all, in the
 * place of those that are terminals; @most bytes of what it shows are kept, or,
 * if 0, it is passed on.
 */
int flow_terminal(struct flow *f, const struct identity *id, bool all,
		  uint64_t most, struct err *e);
/* The caller's terminal may be ours from now on; it is not any more. */
void flow_enter(struct flow *f);
void flow_leave(struct flow *f);
/* The session was ended, and could not put a shared terminal right itself. */
void flow_put_right(struct flow *f);
/* The command has its ends. */
void flow_started(struct flow *f);
/* What to wait for, and, after poll(), what to do: true if output moved. */
void flow_wait(const struct flow *f, struct pollfd p[FLOW_STREAMS]);
bool flow_go(struct flow *f, const struct pollfd p[FLOW_STREAMS]);
/* Output came that the caller has not taken yet. */
bool flow_waits(const struct flow *f);
/*
 * After the session's last process: take what it wrote, as far as nobody has
 * to be waited for; true when that is all.
 */
bool flow_finish(struct flow *f);
/* Say what the caller did not get, and why. */
void flow_say(const struct flow *f);
/* Members of the result; @f may be NULL. */
void flow_write(const struct flow *f, struct writer *w);
void flow_free(struct flow *f);

#endif
