/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What ships inside the program: the lists in data/ and the policies in
 * policies/. They are part of the text segment, so nobody can change them
 * under a running policy, and a program needs no installed file.
 */
#ifndef LH_DATA_H
#define LH_DATA_H

#include <stdbool.h>
#include <stddef.h>

#include "arena.h"

enum data_list {
	DATA_CREDENTIALS, DATA_PROTECTED, DATA_PRESETS, DATA_PROFILES,
	DATA_HOST_EXEC,
};

/* One line of a list. None of the three is NUL-terminated. */
struct data_word {
	const char *s;
	int len;		/* for "%.*s" */
};

struct data_entry {
	struct data_word path, attributes, reason;
};

/*
 * The next entry of @list. *cursor is NULL before the first one. False at the
 * end.
 */
bool data_next(enum data_list list, const char **cursor, struct data_entry *e);
/* Whether @word stands in the entry's attributes. */
bool data_has(const struct data_entry *e, const char *word);
bool data_is(struct data_word w, const char *text);

/* JSON Schema of the language; *len: its bytes. */
const char *policy_schema(size_t *len);
/* How a line of DATA_PROTECTED is called: ".git/hooks", "~/.bashrc". */
const char *protect_text(struct arena *mem, const struct data_entry *e);

/* Text of a policy that is shipped, or NULL; *len: its bytes. */
const char *policy_shipped(const char *name, size_t *len);
/* Name of the shipped policy number @i from 0, or NULL. */
const char *policy_shipped_name(size_t i);

#endif
