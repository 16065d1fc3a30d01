/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * JSON text to a tree in which every value knows its place. Nothing of the
 * policy language is known here. What comes out is strict JSON in strict UTF-8,
 * within the limits below, without NUL and without duplicate keys.
 */
#ifndef LH_PARSE_H
#define LH_PARSE_H

#include <stdbool.h>
#include <stddef.h>

#include "arena.h"
#include "diag.h"

#define JSON_BYTES_MAX (1u << 20)
#define JSON_DEPTH_MAX 16u
#define JSON_VALUES_MAX 65536u
#define JSON_KEYS_MAX 4096u	/* of one object */
#define JSON_STRING_MAX 65536u	/* bytes, decoded */

enum json_type {
	JSON_NULL, JSON_BOOL, JSON_NUMBER, JSON_STRING, JSON_LIST, JSON_OBJECT,
};

/* Both from 1; columns count characters. */
struct json_spot {
	unsigned int line, column;
};

struct json {
	enum json_type type;
	const char *key;	/* in an object, else NULL */
	size_t index;		/* in its parent, from 0 */
	struct json_spot key_at, at;
	const char *text;	/* string: decoded; number: as written */
	bool truth;		/* bool */
	size_t count;		/* of children */
	struct json *parent, *first, *last, *next;
};

/* One document; the arena owns all of it. Zero, then json_read/json_parse. */
struct json_doc {
	const char *file;	/* display name; borrowed */
	char *text;
	size_t size;
	struct arena arena;
	struct json *root;	/* an object */
};

/*
 * 0 when there is a tree to look at, also where a name is given twice, which
 * is an error in @d; else -EINVAL or another negative errno, with an error in
 * @d. @fd is read to its end and stays open.
 */
int json_read(int fd, const char *file, struct json_doc *doc, struct diags *d);
int json_parse(const char *text, size_t size, const char *file,
	       struct json_doc *doc, struct diags *d);
void json_free(struct json_doc *doc);

/* Where @v stands; .pointer lives in the arena. @key: of its name instead. */
struct place json_place(struct json_doc *doc, const struct json *v, bool key);
const char *json_type_name(enum json_type t);	/* "a string", "a list"... */

#endif
