/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A command line with no more in it than --json, --version and --help, by one
 * table, and the words for what goes wrong. Shared by the small tools.
 */
#ifndef LH_PLAIN_H
#define LH_PLAIN_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define PLAIN_FAILED 125	/* exit status of an error of our own */
#define PLAIN_GO (-1)
#define PLAIN_SHORT 24

struct plain {
	const char *name;	/* of the program */
	const char *does;	/* one line for --help */
	const char *json;	/* what --json prints */
	const char *status;	/* lines on the exit status, for --help */
	bool wants_json;	/* out */
};

/* PLAIN_GO, or the exit status: --help was printed, or a word is wrong. */
int plain_parse(struct plain *p, int argc, char **argv);
/* "NAME: WORDS" on stderr, escaped, one line; returns PLAIN_FAILED. */
__attribute__((format(printf, 2, 3)))
int plain_fail(const struct plain *p, const char *fmt, ...);
/* @status, unless what was printed did not arrive. */
int plain_finish(const struct plain *p, int status);

/*
 * Any bytes as at most @width cells of one line, cut with a '+', and filled up
 * to @width with blanks, before them where @width is negative. NULL: "-".
 */
void plain_cell(FILE *f, const char *text, int width);
/* Short texts: "312s", "47m", "1.5G", "12M". */
void plain_age(uint64_t seconds, char out[PLAIN_SHORT]);
void plain_size(uint64_t bytes, char out[PLAIN_SHORT]);
void plain_count(uint64_t n, char out[PLAIN_SHORT]);

#endif
