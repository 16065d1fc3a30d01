// SPDX-License-Identifier: GPL-2.0-only
/*
 * What each limit is called, in what unit.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../policy-compiler/policy.h"
#include "limits.h"

static void count_text(uint64_t n, char out[32])
{
	snprintf(out, 32, "%" PRIu64, n);
}

static void rate_text(uint64_t n, char out[32])
{
	limit_size_text(n, out);
	strncat(out, "/s", 31 - strlen(out));
}

#define LIMIT(field, words, key, text) \
	{ "limits." #field, #field, "/limits/" #field, words, key, \
	  offsetof(struct image_limits, field), text }

const struct limit limits[LIMITS] = {
	LIMIT(wall_time, "wall time", "wall_ns", limit_time_text),
	LIMIT(grace, "grace", "grace_ns", limit_time_text),
	LIMIT(idle_time, "idle time", "idle_ns", limit_time_text),
	LIMIT(memory, "memory", "memory_bytes", limit_size_text),
	LIMIT(swap, "swap", "swap_bytes", limit_size_text),
	LIMIT(pids, "pids", "pids", count_text),
	LIMIT(cpu, "cpu", "cpu_percent", limit_percent_text),
	LIMIT(io, "io", "io_bytes_per_s", rate_text),
	LIMIT(open_files, "open files", "open_files", count_text),
	LIMIT(file_size, "file size", "file_size_bytes", limit_size_text),
	LIMIT(capture_bytes, "capture", "capture_bytes", limit_size_text),
};

const struct limit *limit_named(const char *field)
{
	size_t i;

	for (i = 0; strcmp(limits[i].field, field); i++)
		if (i + 1 == LIMITS)
			abort();
	return &limits[i];
}

uint64_t limit_value(const struct limit *limit, const struct image_limits *l)
{
	uint64_t v;

	memcpy(&v, (const char *)l + limit->offset, sizeof(v));
	return v;
}

void limits_write(struct writer *w, const struct image_limits *l)
{
	size_t i;

	writer_open_map(w, "limits");
	for (i = 0; i < LIMITS; i++) {
		uint64_t v = limit_value(&limits[i], l);

		if (v == IMAGE_NO_LIMIT)
			writer_null(w, limits[i].key);
		else
			writer_uint(w, limits[i].key, v);
	}
	writer_close_map(w);
}
