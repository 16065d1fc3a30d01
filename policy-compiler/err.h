/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * An error, composed once where the object's name is known and printed once,
 * in main. The caller owns it; the first one set stands.
 */
#ifndef LH_ERR_H
#define LH_ERR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err {
	int num;		/* negative errno; 0: none */
	char msg[512];		/* one line, escaped where it quotes input */
};

/* Fill @e (may be NULL) with "FMT", and return @num (negative errno). */
__attribute__((format(printf, 3, 4)))
int err_set(struct err *e, int num, const char *fmt, ...);

/* The same, with ": STRERROR(-num)" appended. */
__attribute__((format(printf, 3, 4)))
int err_sys(struct err *e, int num, const char *fmt, ...);

/*
 * Copy @len bytes of @in to @out, always NUL-terminated, cut where @size is
 * reached: bytes that are no UTF-8, control characters and direction marks
 * become \xHH. Returns the length. Four times @len and one always suffice.
 */
size_t err_escape(char *out, size_t size, const char *in, size_t len);

/* Bytes of the valid UTF-8 sequence that @s begins with, or 0. */
size_t err_utf8(const char *s, size_t len, uint32_t *rune);

#endif
