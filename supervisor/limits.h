/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The limits of a policy in one table: what is said of them, and what holds
 * them, cannot differ from one place to the next.
 */
#ifndef LH_LIMITS_H
#define LH_LIMITS_H

#include <stddef.h>
#include <stdint.h>

#include "../policy-compiler/image.h"
#include "writer.h"

struct limit {
	const char *name;	/* "limits.memory", as not_enforced has it */
	const char *field;	/* "memory", as the policy has it */
	const char *rule;	/* "/limits/memory" */
	const char *words;	/* "memory", for people */
	const char *key;	/* "memory_bytes", in JSON */
	size_t offset;		/* in struct image_limits */
	void (*text)(uint64_t value, char out[32]);
};

#define LIMITS 11

extern const struct limit limits[LIMITS];

/* @field must be one. */
const struct limit *limit_named(const char *field);
uint64_t limit_value(const struct limit *limit, const struct image_limits *l);
/* The object "limits"; null: there is none. */
void limits_write(struct writer *w, const struct image_limits *l);

#endif
