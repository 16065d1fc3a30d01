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

#define DIAGS_MAX 100u		/* kept; the rest is counted */

/* Where something was said. Borrowed strings. */
struct place {
	const char *file;	/* display name, or a flag */
	unsigned int line;	/* from 1; 0: no line */
	unsigned int column;	/* from 1, in characters */
	const char *pointer;	/* JSON pointer; "" or NULL: the whole */
};

struct diag {
	unsigned int line, column;
	bool warning;
	char *text;		/* escaped, one line, place included */
};

/* Zero is the empty collection; the caller owns it. */
struct diags {
	struct diag *list;
	size_t count;
	unsigned int errors, warnings;	/* also those that were not kept */
};

__attribute__((format(printf, 3, 4)))
void diag_error(struct diags *d, const struct place *at, const char *fmt, ...);
__attribute__((format(printf, 3, 4)))
void diag_warn(struct diags *d, const struct place *at, const char *fmt, ...);

/* All of them in the order of the file, a line each, after @prefix. */
void diags_print(const struct diags *d, FILE *f, const char *prefix);
void diags_free(struct diags *d);

#endif
