/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Memory that is freed all at once: what one policy is made of. Every function
 * that allocates returns NULL when memory is short.
 */
#ifndef LH_ARENA_H
#define LH_ARENA_H

#include <stddef.h>

struct arena_block;

struct arena {
	struct arena_block *last;	/* NULL: empty */
};

void *arena_alloc(struct arena *a, size_t size);	/* zeroed */
char *arena_copy(struct arena *a, const char *s, size_t len);
__attribute__((format(printf, 2, 3)))
char *arena_print(struct arena *a, const char *fmt, ...);
void arena_free(struct arena *a);

#endif
