// SPDX-License-Identifier: GPL-2.0-only
/*
 * A reader of JSON that takes anything: it follows the text up to the place in
 * question, only to know what each string there is. Up to a syntax error that
 * is certain, and behind one nothing is shown.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "err.h"
#include "excerpt.h"
#include "suggest.h"

#define COLUMNS 72u		/* of the terminal, without the margin */
#define BEFORE 28u		/* of them left of the caret, in a long line */
#define CELLS 1024u
#define DEPTH 32u

/* One character of the line as it is shown. */
struct cell {
	const char *s;
	unsigned char len;	/* bytes at .s */
	unsigned int column;
};

struct level {
	bool list, hidden;
	bool value;		/* behind a colon */
	bool known;		/* ... of a name whose values are words */
	bool set;		/* ... of the name "set" */
};

struct scan {
	const char *s;		/* next byte */
	unsigned int line, column;
	unsigned int to_line, to_column;
	bool unsure, stopped;
	struct level stack[DEPTH];
	unsigned int depth;
	struct cell cells[CELLS];
	size_t count;
	bool cut_left, cut_right;
	unsigned int end;
};

static const char ellipsis[] = "…";

/* Names whose strings are words of the language, and nobody's secret. */
static const char *const known_names[] = {
	"$schema", "version", "name", "description", "sandbox_profile",
	"side_effect_level", "bind_any", "default", "mode", "on_loss", "path",
	"backing", "access", "wall_time", "grace", "idle_time", "memory",
	"swap", "pids", "cpu", "io", "open_files", "file_size",
	"capture_bytes", "workspace_roots", "read_only_roots", "read_roots",
	"write_roots", "read_deny_roots", "unix_socket_roots", "presets",
	"workspace", "process", "read", "write", "exec", "net", "allow",
	"deny", "add", "exclude", "env_files",
};

#define KNOWN (sizeof(known_names) / sizeof(*known_names))

/* @near: also where it is misspelt. */
static bool known(const char *name, size_t len, bool near)
{
	char text[48];
	size_t i;

	if (len >= sizeof(text))
		return false;
	memcpy(text, name, len);
	text[len] = 0;
	for (i = 0; i < KNOWN; i++)
		if (!strcmp(known_names[i], text))
			return true;
	return near && suggest(text, known_names, sizeof(*known_names), KNOWN);
}

static bool beyond(const struct scan *x)
{
	return x->line > x->to_line ||
	       (x->line == x->to_line && x->column > x->to_column);
}

static bool at_target(const struct scan *x)
{
	return x->line == x->to_line && x->column == x->to_column;
}

static void cell_add(struct scan *x, const char *s, size_t len)
{
	if (x->line != x->to_line)
		return;
	if (x->count == CELLS && beyond(x)) {
		x->cut_right = true;
		x->stopped = true;
		return;
	}
	if (x->count == CELLS) {
		memmove(x->cells, x->cells + CELLS / 2,
			CELLS / 2 * sizeof(*x->cells));
		x->count = CELLS / 2;
		x->cut_left = true;
	}
	x->cells[x->count++] = (struct cell){ s, len, x->column };
}

/* Columns are counted as the parser does: every byte that begins something. */
static void step(struct scan *x, size_t n)
{
	for (; n && *x->s; n--, x->s++) {
		if (*x->s == '\n') {
			x->line++;
			x->column = 1;
		} else if ((*x->s & 0xc0) != 0x80) {
			x->column++;
		}
	}
	if (x->line > x->to_line)
		x->stopped = true;
}

/* The character at .s; @show: it becomes a cell. */
static void pass(struct scan *x, bool show)
{
	uint32_t rune;
	size_t n = err_utf8(x->s, strnlen(x->s, 4), &rune);

	if (!n)
		n = 1;
	if (show && *x->s != '\n' && !(*x->s == '\r' && x->s[1] == '\n'))
		cell_add(x, x->s, n);
	step(x, n);
}

static struct level *top(struct scan *x)
{
	return &x->stack[x->depth < DEPTH ? x->depth : DEPTH - 1];
}

/* Bytes of the string or the word at @s, with its quotes. */
static size_t token_length(const char *s)
{
	size_t i = 1;

	if (*s != '"')
		return strcspn(s, " \t\r\n,:\"[]{}");
	while (s[i] && s[i] != '"' && s[i] != '\n')
		i += s[i] == '\\' && s[i + 1] && s[i + 1] != '\n' ? 2 : 1;
	return i + (s[i] == '"');
}

/* true, false, null or a number. */
static bool is_plain(const char *s, size_t len)
{
	return (len == 4 && !memcmp(s, "true", 4)) ||
	       (len == 5 && !memcmp(s, "false", 5)) ||
	       (len == 4 && !memcmp(s, "null", 4)) ||
	       *s == '-' || (*s >= '0' && *s <= '9');
}

static bool secret(const struct level *l, const char *s, size_t len)
{
	if (l->hidden)
		return l->list || l->value;
	if (!l->list && !l->value)
		return false;
	if (memchr(s, '=', len))
		return true;	/* NAME=VALUE, as people try it */
	return !l->list && (l->set || (!l->known && !is_plain(s, len)));
}

static void name_met(struct level *l, const char *s, size_t len, bool target)
{
	bool quoted = len > 1 && *s == '"' && s[len - 1] == '"';

	l->known = quoted && known(s + 1, len - 2, target);
	l->set = quoted && len == 5 && !memcmp(s + 1, "set", 3);
}

/* A quoted string, or what stands there without quotes. */
static void token(struct scan *x)
{
	const char *s = x->s;
	size_t len = token_length(s);
	const char *end = s + len, *next = end + strspn(end, " \t\r\n");
	bool target = at_target(x), quoted = *s == '"', shown = true;
	struct level *l = top(x);
	bool name = !l->list && !l->value;

	if (secret(l, s, len)) {
		if (quoted)
			cell_add(x, s, 1);
		cell_add(x, ellipsis, strlen(ellipsis));
		if (len > 1 && end[-1] == '"')
			cell_add(x, "\"", 1);
		shown = false;
	}
	/* Where a colon is missing, this would be the value. */
	if (x->unsure && target && name && quoted && *next != ':') {
		pass(x, true);
		x->stopped = true;
		return;
	}
	while (x->s < end && !x->stopped) {
		if (x->unsure && !target && at_target(x))
			x->stopped = true;
		pass(x, shown);
	}
	if (target)
		x->end = x->column;
	if (name)
		name_met(l, s, len, target);
}

static void nest(struct scan *x, bool list)
{
	const struct level *l = top(x);
	bool hidden = l->hidden || (!l->list && l->value && l->set);

	x->depth++;
	*top(x) = (struct level){ .list = list, .hidden = hidden };
}

static void punctuation(struct scan *x)
{
	bool target = at_target(x);
	char c = *x->s;

	pass(x, true);
	if (target)
		x->end = x->column;
	switch (c) {
	case '{':
	case '[':
		nest(x, c == '[');
		break;
	case '}':
	case ']':
		if (x->depth)
			x->depth--;
		break;
	case ':':
		top(x)->value = true;
		break;
	default:
		top(x)->value = false;
		break;
	}
}

static void scan(struct scan *x)
{
	bool target;

	while (*x->s && !x->stopped) {
		target = at_target(x);
		if (x->unsure && beyond(x))
			break;
		if (strchr(" \t\r\n", *x->s))
			pass(x, true);
		else if (strchr("{}[]:,", *x->s))
			punctuation(x);
		else
			token(x);
		if (x->unsure && target)
			break;
	}
	if (x->unsure && *x->s && *x->s != '\n')
		x->cut_right = true;
}

/* Columns that a terminal gives to @r: 0, 1 or 2. */
static unsigned int rune_width(uint32_t r)
{
	static const struct {
		uint32_t first, last;
		unsigned int width;
	} ranges[] = {
		{ 0x300, 0x36f, 0 }, { 0x483, 0x489, 0 }, { 0x591, 0x5bd, 0 },
		{ 0x610, 0x61a, 0 }, { 0x64b, 0x65f, 0 },
		{ 0x1100, 0x115f, 2 }, { 0x200b, 0x200d, 0 },
		{ 0x20d0, 0x20ff, 0 }, { 0x2e80, 0x303e, 2 },
		{ 0x3041, 0xa4cf, 2 }, { 0xac00, 0xd7a3, 2 },
		{ 0xf900, 0xfaff, 2 }, { 0xfe00, 0xfe0f, 0 },
		{ 0xfe20, 0xfe2f, 0 }, { 0xfe30, 0xfe6f, 2 },
		{ 0xff00, 0xff60, 2 }, { 0xffe0, 0xffe6, 2 },
		{ 0x1f300, 0x1f64f, 2 }, { 0x1f680, 0x1f6ff, 2 },
		{ 0x1f900, 0x1f9ff, 2 }, { 0x20000, 0x3fffd, 2 },
		{ 0xe0100, 0xe01ef, 0 },
	};
	size_t i;

	for (i = 0; i < sizeof(ranges) / sizeof(*ranges); i++)
		if (r >= ranges[i].first && r <= ranges[i].last)
			return ranges[i].width;
	return 1;
}

/* @c as it is shown at column @at of the terminal; returns its width. */
static unsigned int cell_text(const struct cell *c, unsigned int at,
			      char out[32])
{
	uint32_t rune = 0;
	size_t n;

	if (*c->s == '\t')
		return sprintf(out, "%*s", 8 - (int)(at % 8), "");
	n = err_escape(out, 32, c->s, c->len);
	if (n == c->len && err_utf8(c->s, c->len, &rune) == n)
		return rune_width(rune);
	return n;
}

/* Where the caret's token begins and ends on the terminal, and the line. */
struct layout {
	unsigned int from, to, width;
};

static struct layout measure(const struct scan *x)
{
	unsigned int end = x->end ? x->end : x->to_column + 1, at = 0, w;
	struct layout o = { 0 };
	bool met = false, left = false;
	char text[32];
	size_t i;

	for (i = 0; i < x->count; i++) {
		w = cell_text(&x->cells[i], at, text);
		if (!met && (x->cells[i].column >= x->to_column ||
			     (i + 1 < x->count &&
			      x->cells[i + 1].column > x->to_column))) {
			o.from = at;
			met = true;
		}
		if (met && !left && x->cells[i].column >= end) {
			o.to = at;
			left = true;
		}
		at += w;
	}
	o.width = at;
	if (!met)
		o.from = at;
	if (!left)
		o.to = at;
	if (o.to <= o.from)
		o.to = o.from + 1;
	return o;
}

static void draw(const struct scan *x, const struct layout *o, FILE *line,
		 FILE *caret)
{
	unsigned int first = 0, at = 0, shown = 0, w, k;
	bool left = x->cut_left, right = x->cut_right;
	char text[32];
	size_t i;

	if (o->width > COLUMNS && o->from > BEFORE)
		first = o->from - BEFORE;
	if (first + COLUMNS > o->width)
		first = o->width > COLUMNS ? o->width - COLUMNS : 0;
	left |= first > 0;
	if (left) {
		fputs(ellipsis, line);
		fputc(' ', caret);
	}
	for (i = 0; i < x->count; i++, at += w) {
		w = cell_text(&x->cells[i], at, text);
		if (at < first)
			continue;
		if (shown + w > COLUMNS) {
			right = true;
			break;
		}
		fputs(text, line);
		shown += w;
		if (at < o->from)
			fprintf(caret, "%*s", (int)w, "");
		else if (at < o->to)
			for (k = 0; k < w; k++)
				fputc(at + k == o->from ? '^' : '~', caret);
	}
	if (o->from >= at)
		fputc('^', caret);
	if (right)
		fputs(ellipsis, line);
}

/* Blanks at the end of a line say nothing. */
static char *trimmed(char *s)
{
	size_t n = s ? strlen(s) : 0;

	while (n && s[n - 1] == ' ')
		s[--n] = 0;
	return s;
}

struct excerpt excerpt_make(const char *text, unsigned int line,
			    unsigned int column, bool unsure)
{
	struct scan *x = calloc(1, sizeof(*x));
	struct excerpt out = { 0 };
	FILE *l, *c;
	size_t size;
	struct layout o;

	if (!x)
		return out;
	x->s = text;
	x->line = x->column = 1;
	x->to_line = line;
	x->to_column = column;
	x->unsure = unsure;
	scan(x);
	o = measure(x);
	l = open_memstream(&out.line, &size);
	c = open_memstream(&out.caret, &size);
	if (l && c)
		draw(x, &o, l, c);
	if (l)
		fclose(l);
	if (c)
		fclose(c);
	out.line = trimmed(out.line);
	out.caret = trimmed(out.caret);
	out.end = x->end;
	free(x);
	return out;
}

void excerpt_free(struct excerpt *x)
{
	free(x->line);
	free(x->caret);
	*x = (struct excerpt){ 0 };
}
