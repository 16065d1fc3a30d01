// SPDX-License-Identifier: GPL-2.0-only
/*
 * Limits: numbers with units, each within what makes sense.
 */
#include "take.h"

static void take_time(struct reader *r, const struct json *v, bool zero,
		      uint64_t *out)
{
	const uint64_t most = 3650 * 86400ULL * 1000000000ULL;
	uint64_t ns;

	if (v->type == JSON_NUMBER)
		field_error(r, v, "a time has a unit: \"%.32ss\", \"10m\", "
			    "\"2h\"", v->text);
	else if (!limit_time(v->text, &ns))
		field_error(r, v, "no time: write a whole number and one of "
			    "ms, s, m, h, d, as in \"90s\"");
	else if (ns > most)
		field_error(r, v, "longer than ten years");
	else if (!ns && !zero)
		field_error(r, v, "must be longer than zero");
	else
		*out = ns;
}

static void take_size(struct reader *r, const struct json *v, uint64_t least,
		      uint64_t *out)
{
	uint64_t bytes;

	if (!limit_size(v->text, &bytes))
		field_error(r, v, "no size: write bytes, or a whole number "
			    "and one of K, M, G, T, as in \"2G\"");
	else if (bytes < least)
		field_error(r, v, "less than %s", least == LIMIT_MEMORY_MIN ?
			    "1M, in which no program starts" : "1 byte");
	else
		*out = bytes;
}

/* What the supervisor holds in memory until the end. */
static void take_captured(struct reader *r, const struct json *v,
			  uint64_t most, uint64_t *out)
{
	uint64_t bytes = 0;

	take_size(r, v, 1, &bytes);
	if (bytes > most)
		field_error(r, v, "more than %lluM: have the command write "
			    "what is longer to a file",
			    (unsigned long long)most >> 20);
	else
		*out = bytes;
}

static void take_count(struct reader *r, const struct json *v, uint64_t most,
		       uint64_t *out)
{
	uint64_t n;

	if (!limit_count(v->text, &n) || !n || n > most)
		field_error(r, v, "must be a whole number from 1 to %llu",
			    (unsigned long long)most);
	else
		*out = n;
}

#define TAKE(name, said, how, ...)					\
	void take_##name(struct reader *r, const struct json *v)	\
	{								\
		field_said(r, said, v);					\
		how(r, v, __VA_ARGS__, &r->p->limits.name);		\
	}

TAKE(wall_time, SAID_WALL_TIME, take_time, false)
TAKE(grace, SAID_GRACE, take_time, true)
TAKE(idle_time, SAID_IDLE_TIME, take_time, false)
TAKE(memory, SAID_MEMORY, take_size, LIMIT_MEMORY_MIN)
TAKE(swap, SAID_SWAP, take_size, 0)
TAKE(file_size, SAID_FILE_SIZE, take_size, 1)
TAKE(io, SAID_IO, take_size, 1)
TAKE(capture_bytes, SAID_CAPTURE_BYTES, take_captured, LIMIT_CAPTURE_MAX)
TAKE(pids, SAID_PIDS, take_count, LIMIT_PIDS_MAX)
TAKE(open_files, SAID_OPEN_FILES, take_count, LIMIT_OPEN_FILES_MAX)

void take_cpu(struct reader *r, const struct json *v)
{
	field_said(r, SAID_CPU, v);
	if (!limit_percent(v->text, &r->p->limits.cpu))
		field_error(r, v, "no share of processors: write \"50%%\" "
			    "for half of one, \"200%%\" for two, up to "
			    "\"%u%%\"", LIMIT_CPU_MAX);
}
