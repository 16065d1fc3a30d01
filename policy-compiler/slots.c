// SPDX-License-Identifier: GPL-2.0-only
/*
 * Open addressing, at most half full, so that a probe always ends.
 */
#include <errno.h>
#include <stdlib.h>

#include "slots.h"

#define SLOTS_FIRST 256

static void put(struct slot *slot, size_t size, uint64_t hash, uint32_t value)
{
	size_t i = hash & (size - 1);

	while (slot[i].value)
		i = (i + 1) & (size - 1);
	slot[i].hash = hash;
	slot[i].value = value;
}

static int grow(struct slots *s)
{
	size_t size = s->size ? s->size * 2 : SLOTS_FIRST, i;
	struct slot *slot = calloc(size, sizeof(*slot));

	if (!slot)
		return -ENOMEM;
	for (i = 0; i < s->size; i++)
		if (s->slot[i].value)
			put(slot, size, s->slot[i].hash, s->slot[i].value);
	free(s->slot);
	s->slot = slot;
	s->size = size;
	return 0;
}

int slots_add(struct slots *s, uint64_t hash, uint32_t value)
{
	if (s->used >= s->size / 2 && grow(s))
		return -ENOMEM;
	put(s->slot, s->size, hash, value + 1);
	s->used++;
	return 0;
}

uint32_t slots_next(const struct slots *s, uint64_t hash, size_t *at)
{
	if (!s->size)
		return SLOTS_NONE;
	for (;;) {
		size_t i = (hash + *at) & (s->size - 1);

		if (!s->slot[i].value)
			return SLOTS_NONE;
		++*at;
		if (s->slot[i].hash == hash)
			return s->slot[i].value - 1;
	}
}

void slots_free(struct slots *s)
{
	free(s->slot);
	*s = (struct slots){ 0 };
}
