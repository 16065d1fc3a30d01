/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The line of a policy that a diagnostic is about, made fit for a terminal,
 * with a caret below. It may end in a log, so no value of a variable is in it:
 * neither below "set", nor where a name stands that the language does not know.
 */
#ifndef LH_EXCERPT_H
#define LH_EXCERPT_H

#include <stdbool.h>

/* Both strings malloc'd, one line each; or NULL, where memory is short. */
struct excerpt {
	char *line;
	char *caret;		/* blanks, then ^~~~ under the token */
	unsigned int end;	/* column behind the token, 0: unknown */
};

/*
 * Cut @line out of @text, which is NUL-terminated, around @column; both from
 * 1. @unsure: what stands behind that place may be no JSON, and is left out.
 */
struct excerpt excerpt_make(const char *text, unsigned int line,
			    unsigned int column, bool unsure);
void excerpt_free(struct excerpt *x);

#endif
