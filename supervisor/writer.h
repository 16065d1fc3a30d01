/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One JSON text on one line, by yajl. Any bytes may go in: what comes out is
 * valid JSON without a raw control character, and no byte is lost (an invalid
 * string goes out twice, once repaired and once in base64).
 */
#ifndef LH_WRITER_H
#define LH_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct writer;

struct writer *writer_new(void);	/* aborts when memory is short */
void writer_free(struct writer **w);

/* @key NULL: no key, in an array or at the top. */
void writer_open_map(struct writer *w, const char *key);
void writer_close_map(struct writer *w);
void writer_open_array(struct writer *w, const char *key);
void writer_close_array(struct writer *w);
void writer_null(struct writer *w, const char *key);
void writer_bool(struct writer *w, const char *key, bool v);
void writer_int(struct writer *w, const char *key, int64_t v);
void writer_uint(struct writer *w, const char *key, uint64_t v);
/* The same with blanks before it, so that another can be put in its place. */
void writer_uint_wide(struct writer *w, const char *key, uint64_t v);
#define WRITER_WIDE 20
/* @s NULL: null */
void writer_str(struct writer *w, const char *key, const char *s);
/* @len bytes under @key, and under @key_b64 where they are not UTF-8. */
void writer_bytes(struct writer *w, const char *key, const char *s, size_t len);

/* @len bytes of JSON text, a value of its own: false: it is none. */
bool writer_json(struct writer *w, const char *key, const char *text,
		 size_t len);

/* The whole text with a newline; malloc'd, NUL-terminated. */
char *writer_line(struct writer *w, size_t *len);

#define _cleanup_writer_ __attribute__((cleanup(writer_free)))

#endif
