/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Diagnostics: what is wrong with a policy, each with its place. They are
 * collected, never printed here; one error, even one that could not be kept,
 * refuses the whole policy.
 */
#ifndef LH_DIAG_H
#define LH_DIAG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "excerpt.h"

#define DIAGS_MAX 100u		/* kept; the rest is counted */

/* Where something was said. Borrowed strings. */
struct place {
	const char *file;	/* display name, or a flag */
	unsigned int line;	/* from 1; 0: no line */
	unsigned int column;	/* from 1, in characters */
	const char *pointer;	/* JSON pointer; "" or NULL: the whole */
	const char *text;	/* of the file, with a NUL; NULL: not at hand */
	bool unsure;		/* what is behind it may be no JSON */
};

/* All strings are escaped, one line each, and malloc'd. */
struct diag {
	unsigned int line, column;
	bool warning;
	char *text;		/* place and message in one */
	size_t spot;		/* bytes of .text that say where */
	char *file, *pointer, *message;
	char *instead;		/* what should stand there, or NULL */
	struct excerpt excerpt;
};

/* Zero is the empty collection; the caller owns it. */
struct diags {
	struct diag *list;
	size_t count;
	unsigned int errors, warnings;	/* also those that were not kept */
	struct diag *last;	/* NULL: it was not kept */
};

__attribute__((format(printf, 3, 4)))
void diag_error(struct diags *d, const struct place *at, const char *fmt, ...);
__attribute__((format(printf, 3, 4)))
void diag_warn(struct diags *d, const struct place *at, const char *fmt, ...);
/* @word belongs where the last diagnostic points. NULL: nothing. */
void diag_instead(struct diags *d, const char *word);

/* By file, line and column; those of one place in the order they came. */
void diags_sort(struct diags *d);
/*
 * All of them, sorted, each beginning with @prefix and followed by its line of
 * the file; in colour where @f is a terminal and NO_COLOR is not set.
 */
void diags_print(struct diags *d, FILE *f, const char *prefix);
/* The first error in one line, NULL: none. */
const char *diags_error(const struct diags *d);
void diags_free(struct diags *d);

#endif
