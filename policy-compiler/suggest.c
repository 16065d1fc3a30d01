// SPDX-License-Identifier: GPL-2.0-only
/*
 * Edit distance with swaps of neighbours (optimal string alignment), over
 * words that are short by nature; a long one is near to nothing.
 */
#include <string.h>

#include "suggest.h"

#define WORD_MAX 48u

static unsigned int least(unsigned int a, unsigned int b)
{
	return a < b ? a : b;
}

static unsigned int distance(const char *a, const char *b)
{
	unsigned int row[3][WORD_MAX + 1], *old = row[0], *prev = row[1];
	unsigned int *now = row[2], *spare;
	size_t n = strlen(a), m = strlen(b), i, k;

	for (k = 0; k <= m; k++)
		prev[k] = k;
	for (i = 1; i <= n; i++) {
		now[0] = i;
		for (k = 1; k <= m; k++) {
			now[k] = least(prev[k - 1] + (a[i - 1] != b[k - 1]),
				       least(prev[k], now[k - 1]) + 1);
			if (i > 1 && k > 1 && a[i - 1] == b[k - 2] &&
			    a[i - 2] == b[k - 1])
				now[k] = least(now[k], old[k - 2] + 1);
		}
		spare = old;
		old = prev;
		prev = now;
		now = spare;
	}
	return prev[m];
}

const char *suggest(const char *word, const void *first, size_t stride,
		    size_t n)
{
	const char *best = NULL, *s;
	size_t len = strlen(word), i;
	unsigned int limit = len < 4 ? 1 : len < 8 ? 2 : 3, k;

	if (!len || len > WORD_MAX)
		return NULL;
	for (i = 0; i < n; i++) {
		s = *(const char *const *)((const char *)first + i * stride);
		if (!s || strlen(s) > WORD_MAX)
			continue;
		k = distance(word, s);
		if (k > limit || k >= strlen(s))
			continue;
		best = s;
		limit = k ? k - 1 : 0;
	}
	return best;
}
