// SPDX-License-Identifier: GPL-2.0-only
/*
 * Errors, and the one place where text from outside is made fit for a
 * terminal: whatever a message quotes, it stays one line, holds no control
 * character, and cannot turn the direction of the line.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "err.h"

size_t err_utf8(const char *s, size_t len, uint32_t *rune)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	const unsigned char *u = (const unsigned char *)s;
	uint32_t r;
	size_t n, i;

	if (!len)
		return 0;
	if (u[0] < 0x80) {
		*rune = u[0];
		return 1;
	}
	if ((u[0] & 0xe0) == 0xc0) {
		n = 2;
		r = u[0] & 0x1f;
	} else if ((u[0] & 0xf0) == 0xe0) {
		n = 3;
		r = u[0] & 0x0f;
	} else if ((u[0] & 0xf8) == 0xf0) {
		n = 4;
		r = u[0] & 0x07;
	} else {
		return 0;
	}
	if (n > len)
		return 0;
	for (i = 1; i < n; i++) {
		if ((u[i] & 0xc0) != 0x80)
			return 0;
		r = r << 6 | (u[i] & 0x3f);
	}
	if (r < least[n] || r > 0x10ffff || (r >= 0xd800 && r <= 0xdfff))
		return 0;
	*rune = r;
	return n;
}

/* Control characters, C1 included, and what turns the direction of a line. */
static int unfit(uint32_t r)
{
	return r < 0x20 || (r >= 0x7f && r < 0xa0) || r == 0x061c ||
	       r == 0x200e || r == 0x200f || (r >= 0x2028 && r <= 0x202e) ||
	       (r >= 0x2066 && r <= 0x2069) || r == 0xfeff;
}

size_t err_escape(char *out, size_t size, const char *in, size_t len)
{
	size_t i = 0, o = 0, n, k;
	uint32_t rune;

	if (!size)
		return 0;
	while (i < len) {
		n = err_utf8(in + i, len - i, &rune);
		if (n && !unfit(rune)) {
			if (o + n >= size)
				break;
			memcpy(out + o, in + i, n);
			o += n;
			i += n;
			continue;
		}
		n = n ? n : 1;
		if (o + 4 * n >= size)
			break;
		for (k = 0; k < n; k++)
			o += sprintf(out + o, "\\x%02x",
				     (unsigned char)in[i + k]);
		i += n;
	}
	out[o] = 0;
	return o;
}

__attribute__((format(printf, 3, 0)))
static int fill(struct err *e, int num, const char *fmt, va_list args,
		const char *tail)
{
	char raw[sizeof(e->msg)];
	size_t n;

	if (!e || e->num)
		return num;
	vsnprintf(raw, sizeof(raw), fmt, args);
	e->num = num;
	n = err_escape(e->msg, sizeof(e->msg), raw, strlen(raw));
	if (tail)
		snprintf(e->msg + n, sizeof(e->msg) - n, ": %s", tail);
	return num;
}

int err_set(struct err *e, int num, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	fill(e, num, fmt, args, NULL);
	va_end(args);
	return num;
}

int err_sys(struct err *e, int num, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	fill(e, num, fmt, args, strerror(-num));
	va_end(args);
	return num;
}
