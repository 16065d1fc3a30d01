/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A terminal of the session's own, and what becomes of the caller's meanwhile:
 * its bytes are passed on as they are (raw), and its modes come back whatever
 * ends us. Nothing that the session has leads to the caller's terminal.
 */
#ifndef LH_TERMINAL_H
#define LH_TERMINAL_H

#include <stdbool.h>
#include <termios.h>

#include "../policy-compiler/err.h"
#include "identity.h"

/* In memory that the keeper shares. */
struct terminal_modes {
	struct termios was;
	bool raw;
};

struct terminal {
	int master, slave;	/* -1: the session has none of its own */
	int outer;		/* the caller's, to be made raw; -1: none */
	int size;		/* 0 to 2, whose size it takes; -1: none */
	struct terminal_modes *modes;
};

/* The caller's, where the command has none of its own. */
struct terminal_shared {
	int fd;			/* 0 to 2; -1: it was not ours to begin with */
	struct termios was;
};

#define TERMINAL_NONE { .master = -1, .slave = -1, .outer = -1, .size = -1 }

/* @raw: standard input is a terminal, and what it shows is passed on to it. */
int terminal_open(struct terminal *t, const struct identity *id, bool raw,
		  struct err *e);
/* Is @fd no terminal of ours, or are we in its foreground? */
bool terminal_is_ours(int fd);
/* Make the caller's raw, if it is ours now; give it back as it was. */
void terminal_enter(struct terminal *t);
void terminal_leave(struct terminal *t);
/* How is it now, if it is ours? The first time counts. */
void terminal_share(struct terminal_shared *s);
/*
 * Who was killed leaves it in the modes of an editor, and in the hands of a
 * group that is no more: so again, unless somebody else has it.
 */
void terminal_put_right(const struct terminal_shared *s);
/* Take over the caller's size. */
void terminal_resize(struct terminal *t);
/* The session's terminal is gone: who is left in it gets SIGHUP. */
void terminal_hang_up(struct terminal *t);
void terminal_free(struct terminal *t);

#endif
