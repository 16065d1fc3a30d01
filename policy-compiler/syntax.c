// SPDX-License-Identifier: GPL-2.0-only
/*
 * The mistakes that people make in JSON, by what stands at the fault.
 */
#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#include "syntax.h"

/* The last byte before @at that is no blank, or 0. */
static char before(const char *text, size_t at)
{
	while (at && strchr(" \t\r\n", text[at - 1]))
		at--;
	return at ? text[at - 1] : 0;
}

static bool starts(const char *said, const char *words)
{
	return !strncmp(said, words, strlen(words));
}

static const char *word_at(const char *text, size_t size, size_t at)
{
	static const char *const small[] = {
		"True", "TRUE", "False", "FALSE", "None", "NULL", "Null",
	};
	size_t from = at, i, n;

	while (from && isalpha((unsigned char)text[from - 1]))
		from--;
	for (i = 0; i < sizeof(small) / sizeof(*small); i++) {
		n = strlen(small[i]);
		if (n <= size - from && !strncmp(text + from, small[i], n))
			return "true, false and null are written just so";
	}
	if (before(text, from) == '{' || before(text, from) == ',')
		return "a word without quotes: names and strings stand in "
		       "double quotes";
	return "a word that is no value: strings stand in double quotes";
}

const char *syntax_words(const char *text, size_t size, size_t at,
			 const char *said)
{
	char c = at < size ? text[at] : 0;

	if ((c == '}' || c == ']') && before(text, at) == ',')
		return "a comma before the closing bracket, where JSON has "
		       "none";
	if (starts(said, "trailing garbage"))
		return "something stands behind the object";
	if (starts(said, "after key and value") ||
	    starts(said, "after array element"))
		return "a comma is missing before this, or a bracket is not "
		       "closed";
	if (starts(said, "object key and value must"))
		return "a colon is missing between a name and its value";
	if (starts(said, "invalid character inside string"))
		return "a control character in a string: a quote is not "
		       "closed, or \\n or \\t is meant";
	if (c == '\'')
		return "strings stand in double quotes";
	if (size - at >= 3 && !memcmp(text + at, "\xe2\x80", 2) &&
	    strchr("\x98\x99\x9c\x9d", text[at + 2]))
		return "a typographic quote: strings stand in plain double "
		       "quotes";
	if (c == '/' || c == '#')
		return "JSON has no comments; use \"description\"";
	if (isalpha((unsigned char)c))
		return word_at(text, size, at);
	return said;
}
