/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * conform, inside: what is being played, and what came of it so far.
 */
#ifndef LH_CONFORM_H
#define LH_CONFORM_H

#include "../lsm/session.h"

#define WORDS 24
#define GONE_MS 10000

/* From what is said about a row the first of these wins. */
enum verdict { ESCAPED, OVERREFUSED, CONTRADICTION, NOT_MEASURED,
	       NOT_APPLICABLE, CONFORMS };

enum kind {
	BOTH,		/* two sessions and a twin outside */
	BARE,		/* likewise; what refuses is the engine alone */
	ALONE,		/* none: runs alone */
};

struct play {
	struct world *w;
	struct session in, other, host;
	bool on;		/* what its kind has is there */
	char *policy;
	enum kind kind;
	struct session *silent;	/* it gave no answer */
	bool kept;		/* its keeper was hit first */
	char cannot[512];	/* why no session starts here */
	char group[32];

	char row[48], promise[256];
	enum verdict verdict;
	char decided[512], why[512];
	bool quiet;		/* nothing in it is to be refused */
	bool skip;		/* it is not played */

	const char *file;
	int line;
	char name[16][16];	/* variables and their values */
	long value[16];
	int names;
	int failed, loaded;
};

/* conform itself was told something that makes no sense. */
__attribute__((noreturn, format(printf, 2, 3)))
void stop(const struct play *p, const char *format, ...);
/* The worst that is said of a row counts, and why it was. */
__attribute__((format(printf, 4, 5)))
void say(struct play *p, enum verdict v, const char *step, const char *format,
	 ...);
/* One line of a row, which is changed. */
void step(struct play *p, char *line);

#endif
