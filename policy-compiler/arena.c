// SPDX-License-Identifier: GPL-2.0-only
/*
 * An arena: blocks in a list, each filled from its start.
 */
#define _GNU_SOURCE
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arena.h"

#define ARENA_BLOCK 16384u

struct arena_block {
	struct arena_block *prev;
	size_t size, used;
	max_align_t data[];
};

void *arena_alloc(struct arena *a, size_t size)
{
	const size_t align = sizeof(max_align_t);
	struct arena_block *b = a->last;
	size_t room;
	void *p;

	if (size > SIZE_MAX / 4)
		return NULL;
	size = (size + align - 1) / align * align;
	if (!b || b->size - b->used < size) {
		room = size > ARENA_BLOCK ? size : ARENA_BLOCK;
		b = calloc(1, sizeof(*b) + room);
		if (!b)
			return NULL;
		b->size = room;
		b->prev = a->last;
		a->last = b;
	}
	p = (char *)b->data + b->used;
	b->used += size;
	return p;
}

char *arena_copy(struct arena *a, const char *s, size_t len)
{
	char *p = arena_alloc(a, len + 1);

	if (p)
		memcpy(p, s, len);
	return p;
}

char *arena_print(struct arena *a, const char *fmt, ...)
{
	char *s, *p;
	va_list args;
	int n;

	va_start(args, fmt);
	n = vasprintf(&s, fmt, args);
	va_end(args);
	if (n < 0)
		return NULL;
	p = arena_copy(a, s, n);
	free(s);
	return p;
}

void arena_free(struct arena *a)
{
	struct arena_block *b;

	while ((b = a->last)) {
		a->last = b->prev;
		free(b);
	}
}
