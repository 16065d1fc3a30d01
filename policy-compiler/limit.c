// SPDX-License-Identifier: GPL-2.0-only
/*
 * Numbers with units. A number that does not fit is no number; nothing is
 * rounded, and what is written reads back as the same.
 */
#include <stdio.h>
#include <string.h>

#include "policy.h"

struct unit {
	const char *name;
	uint64_t factor;
};

/* From the largest; the printer takes the first that divides. */
static const struct unit times[] = {
	{ "d", 86400000000000ULL }, { "h", 3600000000000ULL },
	{ "m", 60000000000ULL }, { "s", 1000000000ULL },
	{ "ms", 1000000ULL }, { "us", 1000ULL }, { "ns", 1 }, { NULL, 0 },
};

static const struct unit sizes[] = {
	{ "T", 1ULL << 40 }, { "G", 1ULL << 30 }, { "M", 1ULL << 20 },
	{ "K", 1ULL << 10 }, { "", 1 }, { NULL, 0 },
};

static const struct unit counts[] = { { "", 1 }, { NULL, 0 } };

static bool number(const char *s, const struct unit *u, uint64_t *out)
{
	uint64_t n = 0;
	size_t digits = strspn(s, "0123456789"), i;

	if (!digits || (digits > 1 && *s == '0'))
		return false;
	for (i = 0; i < digits; i++)
		if (__builtin_mul_overflow(n, 10, &n) ||
		    __builtin_add_overflow(n, s[i] - '0', &n))
			return false;
	for (; u->name; u++) {
		if (strcmp(u->name, s + digits))
			continue;
		if (__builtin_mul_overflow(n, u->factor, &n) ||
		    n == IMAGE_NO_LIMIT)
			return false;
		*out = n;
		return true;
	}
	return false;
}

static void text(uint64_t n, const struct unit *u, char out[32])
{
	while (n % u->factor)
		u++;
	if (!n)
		while (u[1].name && u->factor != 1 &&
		       u->factor != 1000000000ULL)
			u++;
	snprintf(out, 32, "%llu%s", (unsigned long long)(n / u->factor),
		 u->name);
}

bool limit_time(const char *s, uint64_t *ns)
{
	return number(s, times, ns);
}

bool limit_size(const char *s, uint64_t *bytes)
{
	return number(s, sizes, bytes);
}

bool limit_count(const char *s, uint64_t *n)
{
	return number(s, counts, n);
}

bool limit_percent(const char *s, uint64_t *n)
{
	static const struct unit percent[] = { { "%", 1 }, { NULL, 0 } };

	return number(s, percent, n) && *n && *n <= LIMIT_CPU_MAX;
}

void limit_time_text(uint64_t ns, char out[32])
{
	text(ns, times, out);
}

void limit_size_text(uint64_t bytes, char out[32])
{
	text(bytes, sizes, out);
}

void limit_percent_text(uint64_t n, char out[32])
{
	snprintf(out, 32, "%llu%%", (unsigned long long)n);
}
