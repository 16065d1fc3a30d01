/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the fuzzers share: the input as a supply of bytes that never ends in an
 * error, and the one way to say that something must not be.
 */
#ifndef LH_FUZZ_H
#define LH_FUZZ_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MUST(condition, ...) do { \
	if (!(condition)) { \
		fprintf(stderr, "%s:%d: not so: %s: ", __FILE__, __LINE__, \
			#condition); \
		fprintf(stderr, __VA_ARGS__); \
		fputc('\n', stderr); \
		abort(); \
	} \
} while (0)

struct supply {
	const uint8_t *at, *end;
};

/* The next byte; 0 when there is none left. */
static inline uint8_t supply_byte(struct supply *s)
{
	return s->at < s->end ? *s->at++ : 0;
}

static inline uint32_t supply_word(struct supply *s)
{
	uint32_t v = supply_byte(s);

	v |= supply_byte(s) << 8;
	v |= supply_byte(s) << 16;
	return v | (uint32_t)supply_byte(s) << 24;
}

#endif
