// SPDX-License-Identifier: GPL-2.0-only
/*
 * The collector of diagnostics.
 */
#define _GNU_SOURCE
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "diag.h"
#include "err.h"

/* Room of @d->list doubles whenever its count is a power of two. */
static struct diag *diag_new(struct diags *d)
{
	struct diag *list = d->list;
	size_t n = d->count;

	if (!(n & (n - 1))) {
		list = reallocarray(list, n ? 2 * n : 1, sizeof(*list));
		if (!list)
			return NULL;
		d->list = list;
	}
	return &list[n];
}

__attribute__((format(printf, 4, 0)))
static void diag_add(struct diags *d, const struct place *at, bool warning,
		     const char *fmt, va_list args)
{
	const char *pointer = at->pointer ? at->pointer : "";
	char *msg = NULL, *raw = NULL, *text = NULL, spot[32] = "";
	struct diag *g;
	size_t len;

	if (warning)
		d->warnings++;
	else
		d->errors++;
	if (d->count >= DIAGS_MAX)
		return;
	if (at->line)
		snprintf(spot, sizeof(spot), ":%u:%u", at->line, at->column);
	if (vasprintf(&msg, fmt, args) < 0)
		return;
	if (asprintf(&raw, "%s%s: %s%s%s%s", at->file, spot, pointer,
		     *pointer ? ": " : "", warning ? "warning: " : "",
		     msg) >= 0) {
		len = strlen(raw);
		text = malloc(4 * len + 1);
		g = text ? diag_new(d) : NULL;
		if (g) {
			err_escape(text, 4 * len + 1, raw, len);
			*g = (struct diag){ at->line, at->column, warning,
					    text };
			d->count++;
			text = NULL;
		}
		free(text);
		free(raw);
	}
	free(msg);
}

void diag_error(struct diags *d, const struct place *at, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	diag_add(d, at, false, fmt, args);
	va_end(args);
}

void diag_warn(struct diags *d, const struct place *at, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	diag_add(d, at, true, fmt, args);
	va_end(args);
}

/* Insertion sort: at most DIAGS_MAX, nearly sorted, and it is stable. */
void diags_print(const struct diags *d, FILE *f, const char *prefix)
{
	const struct diag *order[DIAGS_MAX], *g;
	unsigned int left = d->errors + d->warnings - d->count;
	size_t i, k;

	for (i = 0; i < d->count; i++) {
		g = &d->list[i];
		for (k = i; k && (order[k - 1]->line > g->line ||
				  (order[k - 1]->line == g->line &&
				   order[k - 1]->column > g->column)); k--)
			order[k] = order[k - 1];
		order[k] = g;
	}
	for (i = 0; i < d->count; i++)
		fprintf(f, "%s%s\n", prefix, order[i]->text);
	if (left)
		fprintf(f, "%s… and %u more\n", prefix, left);
}

void diags_free(struct diags *d)
{
	size_t i;

	for (i = 0; i < d->count; i++)
		free(d->list[i].text);
	free(d->list);
	*d = (struct diags){ 0 };
}
