// SPDX-License-Identifier: GPL-2.0-only
/*
 * The records: one for each refusal and none besides, in order, and each says
 * which call, why, by which rule, and where. A refusal whose name is unique is
 * the mark that all before it has been told.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "game.h"

void told_expect(struct game *g, const struct expected *e)
{
	if (g->expected_count == EXPECTED)
		told_check(g);
	g->expected[g->expected_count++] = *e;
}

static bool is_path(const struct expected *e, const char *path)
{
	size_t n = strlen(e->path);

	/* "#" and the number of the inode */
	return e->unnamed ? !strncmp(path, e->path, n) : !strcmp(path, e->path);
}

static bool fits(const struct expected *e, const struct denial *d)
{
	return !strcmp(e->operation, d->operation) &&
	       !strcmp(e->reason, d->reason) && !strcmp(e->rule, d->rule) &&
	       is_path(e, d->path) &&
	       (!*e->other || !strcmp(e->other, d->other));
}

static void differ(struct game *g, const struct expected *e,
		   const struct denial *d)
{
	fail(g, "the record of: %s", e ? e->call : "nothing that was refused");
	if (e)
		fprintf(stderr, "#   expected %s %s by %s: %s other %s\n",
			e->operation, e->reason, e->rule, e->path, e->other);
	fprintf(stderr, "#   record   %s %s by %s: %s other %s, seq %lld\n",
		d->operation, d->reason, d->rule, d->path, d->other, d->seq);
}

void told_check(struct game *g)
{
	unsigned int at_ = 0;
	char mark[TEXT];
	struct denial d;

	/* The log of the world is no root. */
	snprintf(mark, sizeof(mark), "%s", at(g->w, "log/mark%lu", g->marks++));
	if (ask(&g->s, "random", "m", mark) != EACCES) {
		fail(g, "the mark was not refused");
		return;
	}
	for (;;) {
		if (denial_next(&g->s, &d)) {
			fail(g, "no record of: %s", at_ < g->expected_count ?
			     g->expected[at_].call : mark);
			break;
		}
		if (d.lost) {
			fail(g, "%lld records were lost", d.lost);
			break;
		}
		if (!strcmp(d.path, mark)) {
			if (at_ != g->expected_count)
				fail(g, "no record of: %s",
				     g->expected[at_].call);
			break;
		}
		/* A run of equal ones is one line. */
		for (long long n = 0; n < d.count; n++, at_++) {
			if (at_ < g->expected_count &&
			    fits(&g->expected[at_], &d))
				continue;
			differ(g, at_ < g->expected_count ?
			       &g->expected[at_] : NULL, &d);
			break;
		}
		if (g->failed)
			break;
	}
	g->expected_count = 0;
}
