/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Small edits of a JSON document that was read, and its text again.
 */
#ifndef LH_EDIT_H
#define LH_EDIT_H

#include "parse.h"

/*
 * What "/a/b/0" points at now, or NULL. Names in it have no "~" escapes. What
 * was read keeps its json.index, whatever goes before it.
 */
struct json *edit_find(struct json_doc *doc, const char *pointer);
/* What it pointed at when the document was read, unless it is gone. */
struct json *edit_find_read(struct json_doc *doc, const char *pointer);
/* Whether the list at @pointer has the string. */
bool edit_has(struct json_doc *doc, const char *pointer, const char *value);
/* Add a string to a list, made with all above it where it is missing. */
int edit_add(struct json_doc *doc, const char *pointer, const char *value);
/* Set a member to a string, likewise. */
int edit_set(struct json_doc *doc, const char *pointer, const char *value);
/* Take @v, not the root, out of what it is in. */
void edit_remove(struct json *v);
/* @v as yajl_gen's next value. */
struct yajl_gen_t;
void edit_put(struct yajl_gen_t *g, const struct json *v);
/* All of it; malloc'd, or NULL without memory. */
char *edit_text(const struct json_doc *doc, size_t *len);

#endif
