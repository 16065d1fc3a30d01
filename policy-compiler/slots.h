/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * An index over somebody's array: numbers found again by a hash. It holds no
 * keys; whoever asks compares what a number stands for.
 */
#ifndef LH_SLOTS_H
#define LH_SLOTS_H

#include <stddef.h>
#include <stdint.h>

#define SLOTS_NONE UINT32_MAX

struct slot {
	uint64_t hash;
	uint32_t value;		/* + 1; 0: free */
};

struct slots {
	struct slot *slot;	/* NULL: empty */
	size_t size;		/* a power of two, or 0 */
	size_t used;
};

/* 0 or -ENOMEM. */
int slots_add(struct slots *s, uint64_t hash, uint32_t value);
/*
 * The next number under @hash, or SLOTS_NONE. *at is 0 at first and kept
 * between calls.
 */
uint32_t slots_next(const struct slots *s, uint64_t hash, size_t *at);
void slots_free(struct slots *s);

#endif
