/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Text from outside made safe to show. Whatever bytes go in, what comes out is
 * valid UTF-8 on one line, without a byte that a terminal would obey.
 */
#ifndef LH_ESCAPE_H
#define LH_ESCAPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes of the character at @s (of @len > 0), or 0: not valid UTF-8. */
size_t utf8_decode(const char *s, size_t len, uint32_t *point);
/* May a terminal or a reader take @point for more than a character? */
bool escape_needed(uint32_t point);
/*
 * Write @len bytes of @in to @out, each unsafe byte as \xNN; cut at @size,
 * always NUL-terminated. Returns @out.
 */
char *escape_text(char *out, size_t size, const char *in, size_t len);

#endif
