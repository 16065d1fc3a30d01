/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The word that was probably meant.
 */
#ifndef LH_SUGGEST_H
#define LH_SUGGEST_H

#include <stddef.h>

/*
 * The nearest to @word among @n strings, or NULL if none is near. @first: a
 * pointer to the first string; the next ones follow every @stride bytes.
 */
const char *suggest(const char *word, const void *first, size_t stride,
		    size_t n);

#endif
