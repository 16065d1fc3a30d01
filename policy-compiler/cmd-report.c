// SPDX-License-Identifier: GPL-2.0-only
/*
 * Diagnostics as one line of JSON, for editors.
 */
#include <stdio.h>
#include <string.h>

#include <yajl/yajl_gen.h>

#include "cmd.h"

static void put(yajl_gen g, const char *s)
{
	yajl_gen_string(g, (const unsigned char *)s, strlen(s));
}

/* Absent is null, so that the shape is always the same. */
static void put_text(yajl_gen g, const char *name, const char *s)
{
	put(g, name);
	if (s)
		put(g, s);
	else
		yajl_gen_null(g);
}

static void put_number(yajl_gen g, const char *name, unsigned int n)
{
	put(g, name);
	if (n)
		yajl_gen_integer(g, n);
	else
		yajl_gen_null(g);
}

static void put_diag(yajl_gen g, const struct diag *x)
{
	yajl_gen_map_open(g);
	put_text(g, "severity", x->warning ? "warning" : "error");
	put_text(g, "file", x->file);
	put_number(g, "line", x->line);
	put_number(g, "column", x->line ? x->column : 0);
	put_number(g, "end_column", x->excerpt.end);
	put_text(g, "pointer", x->pointer);
	put_text(g, "message", x->message);
	put_text(g, "suggestion", x->instead);
	yajl_gen_map_close(g);
}

/* The file's name may hold any bytes: it is escaped as messages are. */
static void put_file(yajl_gen g, const char *name, const char *file)
{
	char text[4 * 1024 + 1];

	err_escape(text, sizeof(text), file, strnlen(file, 1024));
	put_text(g, name, text);
}

static void put_report(yajl_gen g, const char *file, const struct diags *d,
		       const char *path, const struct image *im)
{
	char hash[65];
	size_t i;

	yajl_gen_map_open(g);
	put_file(g, "file", file);
	put(g, "ok");
	yajl_gen_bool(g, !d->errors);
	put(g, "errors");
	yajl_gen_integer(g, d->errors);
	put(g, "warnings");
	yajl_gen_integer(g, d->warnings);
	put(g, "diagnostics");
	yajl_gen_array_open(g);
	for (i = 0; i < d->count; i++)
		put_diag(g, &d->list[i]);
	yajl_gen_array_close(g);
	if (im) {
		image_hash_hex(im, hash);
		put_file(g, "image", path);
		put_text(g, "hash", hash);
	}
	yajl_gen_map_close(g);
}

int report_json(const char *file, struct diags *d, const char *path,
		const struct image *im)
{
	yajl_gen g = yajl_gen_alloc(NULL);
	const unsigned char *text;
	size_t len;
	int r = FAILED;

	if (!g)
		return FAILED;
	diags_sort(d);
	put_report(g, file, d, path, im);
	if (yajl_gen_get_buf(g, &text, &len) == yajl_gen_status_ok) {
		printf("%.*s\n", (int)len, text);
		r = DONE;
	}
	yajl_gen_free(g);
	return r;
}
