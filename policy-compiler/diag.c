// SPDX-License-Identifier: GPL-2.0-only
/*
 * The collector of diagnostics. What it prints has the form that editors know
 * from compilers: FILE:LINE:COLUMN: error: TEXT, the line, and a caret.
 */
#define _GNU_SOURCE
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "diag.h"
#include "err.h"

static void diag_free(struct diag *g)
{
	free(g->text);
	free(g->file);
	free(g->pointer);
	free(g->message);
	free(g->instead);
	excerpt_free(&g->excerpt);
}

/* An error that comes late is worth more than a warning that came early. */
static struct diag *diag_replace(struct diags *d)
{
	size_t i = d->count;

	while (i && !d->list[i - 1].warning)
		i--;
	if (!i)
		return NULL;
	diag_free(&d->list[i - 1]);
	memmove(&d->list[i - 1], &d->list[i],
		(d->count - i) * sizeof(*d->list));
	return &d->list[d->count - 1];
}

/* Room of @d->list doubles whenever its count is a power of two. */
static struct diag *diag_new(struct diags *d, bool warning)
{
	struct diag *list = d->list;
	size_t n = d->count;

	if (n >= DIAGS_MAX)
		return warning ? NULL : diag_replace(d);
	if (!(n & (n - 1))) {
		list = reallocarray(list, n ? 2 * n : 1, sizeof(*list));
		if (!list)
			return NULL;
		d->list = list;
	}
	d->count++;
	return &list[n];
}

static char *escaped(const char *s)
{
	size_t len = s ? strlen(s) : 0;
	char *out = s ? malloc(4 * len + 1) : NULL;

	if (out)
		err_escape(out, 4 * len + 1, s, len);
	return out;
}

static void diag_add(struct diags *d, const struct place *at, bool warning,
		     const char *msg)
{
	struct diag *g = diag_new(d, warning);
	char spot[32] = "";

	d->last = g;
	if (!g)
		return;
	*g = (struct diag){ .line = at->line, .column = at->column,
			    .warning = warning };
	if (at->line)
		snprintf(spot, sizeof(spot), ":%u:%u", at->line, at->column);
	g->file = escaped(at->file ? at->file : "");
	g->pointer = escaped(at->pointer ? at->pointer : "");
	g->message = escaped(msg ? msg : "out of memory");
	if (g->file && g->pointer && g->message &&
	    asprintf(&g->text, "%s%s: %s: %s%s%s", g->file, spot,
		     warning ? "warning" : "error", g->pointer,
		     *g->pointer ? ": " : "", g->message) >= 0) {
		g->spot = strlen(g->file) + strlen(spot) + 1;
		if (at->line && at->text)
			g->excerpt = excerpt_make(at->text, at->line,
						  at->column, at->unsure);
		return;
	}
	/* Counted, and that suffices to refuse the policy. */
	g->text = NULL;
	diag_free(g);
	d->count--;
	d->last = NULL;
}

void diag_error(struct diags *d, const struct place *at, const char *fmt, ...)
{
	char *msg = NULL;
	va_list args;

	d->errors++;
	va_start(args, fmt);
	if (vasprintf(&msg, fmt, args) < 0)
		msg = NULL;
	va_end(args);
	diag_add(d, at, false, msg);
	free(msg);
}

void diag_warn(struct diags *d, const struct place *at, const char *fmt, ...)
{
	char *msg = NULL;
	va_list args;

	d->warnings++;
	va_start(args, fmt);
	if (vasprintf(&msg, fmt, args) < 0)
		msg = NULL;
	va_end(args);
	diag_add(d, at, true, msg);
	free(msg);
}

void diag_instead(struct diags *d, const char *word)
{
	if (!d->last || !word)
		return;
	free(d->last->instead);
	d->last->instead = escaped(word);
}

/* A file's place is where it was first spoken of. */
static size_t rank(const struct diags *d, size_t i)
{
	size_t k;

	for (k = 0; k < i; k++)
		if (!strcmp(d->list[k].file, d->list[i].file))
			break;
	return k;
}

/* Insertion sort: at most DIAGS_MAX, nearly sorted, and it is stable. */
void diags_sort(struct diags *d)
{
	size_t ranks[DIAGS_MAX], i, k, of;
	struct diag *list = d->list, g;

	for (i = 0; i < d->count; i++)
		ranks[i] = rank(d, i);
	for (i = 1; i < d->count; i++) {
		g = list[i];
		of = ranks[i];
		for (k = i; k; k--) {
			if (ranks[k - 1] < of ||
			    (ranks[k - 1] == of &&
			     (list[k - 1].line < g.line ||
			      (list[k - 1].line == g.line &&
			       list[k - 1].column <= g.column))))
				break;
			list[k] = list[k - 1];
			ranks[k] = ranks[k - 1];
		}
		list[k] = g;
		ranks[k] = of;
	}
	d->last = NULL;
}

static bool colourful(FILE *f)
{
	const char *no = getenv("NO_COLOR"), *term = getenv("TERM");
	int fd = fileno(f);

	return fd >= 0 && isatty(fd) && !(no && *no) && term &&
	       strcmp(term, "dumb");
}

static void print_one(const struct diag *g, FILE *f, const char *prefix,
		      bool colour)
{
	const char *bold = colour ? "\033[1m" : "";
	const char *off = colour ? "\033[0m" : "";
	const char *kind = !colour ? "" : g->warning ? "\033[1;35m" :
		"\033[1;31m";
	const char *caret = colour ? "\033[1;32m" : "";
	const char *word = g->warning ? " warning:" : " error:";

	fprintf(f, "%s%s%.*s%s%s%s%s%s\n", prefix, bold, (int)g->spot, g->text,
		off, kind, word, off, g->text + g->spot + strlen(word));
	if (g->excerpt.line && g->excerpt.caret)
		fprintf(f, "%5u | %s\n      | %s%s%s\n", g->line,
			g->excerpt.line, caret, g->excerpt.caret, off);
}

void diags_print(struct diags *d, FILE *f, const char *prefix)
{
	unsigned int left = d->errors + d->warnings - d->count;
	bool colour = colourful(f);
	size_t i;

	diags_sort(d);
	for (i = 0; i < d->count; i++)
		print_one(&d->list[i], f, prefix, colour);
	if (left)
		fprintf(f, "%s… and %u more\n", prefix, left);
}

const char *diags_error(const struct diags *d)
{
	size_t i;

	for (i = 0; i < d->count; i++)
		if (!d->list[i].warning)
			return d->list[i].text;
	return d->errors ? "out of memory" : NULL;
}

void diags_free(struct diags *d)
{
	size_t i;

	for (i = 0; i < d->count; i++)
		diag_free(&d->list[i]);
	free(d->list);
	*d = (struct diags){ 0 };
}
