/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What is most likely wrong where text is no JSON, in words of one who wrote
 * it.
 */
#ifndef LH_SYNTAX_H
#define LH_SYNTAX_H

#include <stddef.h>

/*
 * @at: where the parser stopped in the @size bytes of @text; @said: what it
 * said. Static, or @said.
 */
const char *syntax_words(const char *text, size_t size, size_t at,
			 const char *said);

#endif
