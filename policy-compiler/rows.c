// SPDX-License-Identifier: GPL-2.0-only
/*
 * One line at a time, word by word. Every bad row is told, with its place.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "parse.h"
#include "policy.h"
#include "rows.h"

#define WORDS_MAX 6

struct word {
	const char *text;
	unsigned int column;
	bool quoted;
};

/* A line in work. */
struct line {
	struct rows *rows;
	const struct context *c;
	struct diags *d;
	struct place at;
	const char *start;
	struct word word[WORDS_MAX];
	size_t count;
};

static int no_memory(struct line *l)
{
	diag_error(l->d, &l->at, "out of memory");
	return -ENOMEM;
}

static unsigned int column(const struct line *l, const char *s)
{
	unsigned int n = 1;
	const char *p;

	for (p = l->start; p < s; p++)
		n += ((unsigned char)*p & 0xc0) != 0x80;
	return n;
}

static size_t blanks(const char *s, size_t len)
{
	size_t n = 0;

	while (n < len && (s[n] == ' ' || s[n] == '\t'))
		n++;
	return n;
}

/* Bytes of the JSON string that begins at @s, or 0: it has no end. */
static size_t string_length(const char *s, size_t len)
{
	size_t n;

	for (n = 1; n < len && s[n] != '"'; n++)
		n += s[n] == '\\';
	return n < len ? n + 1 : 0;
}

/* The text of the JSON string in @len bytes, or NULL. */
static const char *string_text(struct line *l, const char *s, size_t len)
{
	struct json_doc doc = { 0 };
	struct diags own = { 0 };
	const char *text = NULL;
	char *json = arena_print(&l->rows->mem, "{\"s\":%.*s}", (int)len, s);

	if (json && !json_parse(json, strlen(json), "", &doc, &own) &&
	    doc.root->first && doc.root->first->type == JSON_STRING)
		text = arena_copy(&l->rows->mem, doc.root->first->text,
				  strlen(doc.root->first->text));
	json_free(&doc);
	diags_free(&own);
	return text;
}

static int bad(struct line *l, const char *what)
{
	diag_error(l->d, &l->at, "%s", what);
	return -EINVAL;
}

/* The next word at @s into @w; *used: its bytes. */
static int next_word(struct line *l, const char *s, size_t len,
		     struct word *w, size_t *used)
{
	size_t n = 0;

	*w = (struct word){ .column = column(l, s), .quoted = *s == '"' };
	l->at.column = w->column;
	if (w->quoted) {
		n = string_length(s, len);
		if (!n)
			return bad(l, "the string does not end");
		if (n < len && s[n] != ' ' && s[n] != '\t')
			return bad(l, "after a string comes a blank");
		w->text = string_text(l, s, n);
		if (!w->text)
			return bad(l, "not a JSON string");
	} else {
		while (n < len && s[n] != ' ' && s[n] != '\t')
			n++;
		w->text = arena_copy(&l->rows->mem, s, n);
		if (!w->text)
			return no_memory(l);
	}
	*used = n;
	return 0;
}

static int split(struct line *l, const char *s, size_t len)
{
	size_t used;
	int r;

	for (;;) {
		used = blanks(s, len);
		s += used;
		len -= used;
		if (!len || *s == '#')
			return 0;
		if (l->count == WORDS_MAX) {
			l->at.column = column(l, s);
			return bad(l, "too many words; names with blanks are "
				   "written as JSON strings");
		}
		r = next_word(l, s, len, &l->word[l->count], &used);
		if (r)
			return r;
		l->count++;
		s += used;
		len -= used;
	}
}

static bool is_expected(const struct word *w)
{
	return !w->quoted && (!strcmp(w->text, "allow") ||
			      !strcmp(w->text, "refuse"));
}

/* The object of word @i as it is asked for; NULL: an error was told. */
static const char *object(struct line *l, const struct operation *op, size_t i)
{
	const struct word *w = &l->word[i];
	const char *why = NULL, *path;

	l->at.column = w->column;
	if (!operation_is_on_file(op))
		return w->text;
	path = root_expand(&l->rows->mem, l->c, l->c->workspace, w->text,
			   &why);
	if (!path)
		diag_error(l->d, &l->at, "%s", why);
	return path;
}

static int add(struct line *l, const struct row *row)
{
	struct rows *rows = l->rows;
	struct row *all = rows->row;
	size_t n = rows->count;

	if (n >= ROWS_MAX)
		return bad(l, "more than 65536 rows");
	if (!(n & (n - 1))) {
		all = reallocarray(all, n ? 2 * n : 1, sizeof(*all));
		if (!all)
			return no_memory(l);
		rows->row = all;
	}
	all[rows->count++] = *row;
	return 0;
}

/* The words are there: make a row of them. */
static int row_of(struct line *l)
{
	struct row row = { .line = l->at.line };
	size_t at = 2;

	l->at.column = l->word[0].column;
	row.q.op = operation_find(l->word[0].text);
	if (!row.q.op) {
		diag_error(l->d, &l->at, "no operation is called %s",
			   l->word[0].text);
		return -EINVAL;
	}
	if (l->count < 2)
		return bad(l, "a row is OPERATION OBJECT allow|refuse [RULE]");
	row.q.object = object(l, row.q.op, 1);
	if (!row.q.object)
		return -EINVAL;
	if (operation_takes_two(row.q.op) && l->count > 2 &&
	    !is_expected(&l->word[2])) {
		row.q.other = object(l, row.q.op, at++);
		if (!row.q.other)
			return -EINVAL;
	}
	l->at.column = l->word[at < l->count ? at : l->count - 1].column;
	if (at >= l->count || !is_expected(&l->word[at]))
		return bad(l, "allow or refuse is wanted here");
	row.allow = *l->word[at++].text == 'a';
	if (at < l->count)
		row.rule = l->word[at++].text;
	if (at < l->count) {
		l->at.column = l->word[at].column;
		return bad(l, "a row ends with its rule");
	}
	return add(l, &row);
}

int rows_read(const char *text, size_t len, const char *file,
	      const struct context *c, struct rows *rows, struct diags *d)
{
	const char *whole = arena_copy(&rows->mem, text, len);
	const char *end = text + len, *s = text, *stop;
	unsigned int number = 1;
	int r = whole ? 0 : -ENOMEM, one;

	for (; s < end && r != -ENOMEM; number++, s = stop + 1) {
		struct line l = {
			.rows = rows, .c = c, .d = d, .start = s,
			.at = { .file = file, .line = number, .column = 1,
				.text = whole },
		};

		stop = memchr(s, '\n', end - s);
		if (!stop)
			stop = end;
		len = stop - s;
		if (len && s[len - 1] == '\r')
			len--;
		one = memchr(s, 0, len) ? bad(&l, "a NUL byte") :
			split(&l, s, len);
		if (!one && l.count)
			one = row_of(&l);
		if (one)
			r = one;
	}
	/* Whoever tests nothing is not told that all is well. */
	if (!r && !rows->count) {
		struct place at = { .file = file };

		diag_error(d, &at, "no row in it");
		r = -EINVAL;
	}
	return r;
}

void rows_free(struct rows *rows)
{
	free(rows->row);
	arena_free(&rows->mem);
	*rows = (struct rows){ 0 };
}
