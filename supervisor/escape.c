// SPDX-License-Identifier: GPL-2.0-only
/*
 * Text from outside made safe to show: control characters, invalid UTF-8 and
 * the characters that turn a line around become \xNN.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>

#include "escape.h"

size_t utf8_decode(const char *s, size_t len, uint32_t *point)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	unsigned char c = s[0];
	uint32_t p;
	size_t n, i;

	if (c < 0x80) {
		*point = c;
		return 1;
	}
	if (c < 0xc2 || c > 0xf4)
		return 0;
	n = c < 0xe0 ? 2 : c < 0xf0 ? 3 : 4;
	if (len < n)
		return 0;
	p = c & (0xff >> (n + 1));
	for (i = 1; i < n; i++) {
		if (((unsigned char)s[i] & 0xc0) != 0x80)
			return 0;
		p = p << 6 | ((unsigned char)s[i] & 0x3f);
	}
	if (p < least[n] || p > 0x10ffff || (p >= 0xd800 && p <= 0xdfff))
		return 0;
	*point = p;
	return n;
}

bool escape_needed(uint32_t p)
{
	return p < 0x20 || (p >= 0x7f && p < 0xa0) || p == 0xad ||
	       (p >= 0x200b && p <= 0x200f) || (p >= 0x2028 && p <= 0x202e) ||
	       (p >= 0x2060 && p <= 0x206f) || p == 0xfeff ||
	       (p >= 0xfff9 && p <= 0xfffb) || (p >= 0xe0000 && p <= 0xe007f);
}

char *escape_text(char *out, size_t size, const char *in, size_t len)
{
	size_t o = 0, i = 0;

	while (i < len) {
		uint32_t point;
		size_t n = utf8_decode(in + i, len - i, &point);

		if (n && !escape_needed(point)) {
			if (o + n >= size)
				break;
			memcpy(out + o, in + i, n);
			o += n;
			i += n;
			continue;
		}
		for (n = n ? n : 1; n; n--, i++) {
			if (o + 4 >= size) {
				i = len;
				break;
			}
			o += snprintf(out + o, 5, "\\x%02x",
				      (unsigned char)in[i]);
		}
	}
	out[o] = 0;
	return out;
}
