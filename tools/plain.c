// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the small tools share: a command line of flags alone, and text for a
 * terminal, in which nothing that comes from outside is obeyed.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <inttypes.h>
#include <locale.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "../bpf/abi.h"
#include "../policy-compiler/suggest.h"
#include "../supervisor/escape.h"
#include "../supervisor/version.h"
#include "plain.h"

enum id { P_JSON, P_VERSION, P_HELP };

static const struct row {
	const char *name;
	char letter;
	enum id id;
	const char *help;	/* NULL: the program's own */
} rows[] = {
	{ "--json", 0, P_JSON, NULL },
	{ "--version", 0, P_VERSION, "print the version" },
	{ "--help", 'h', P_HELP, "print this" },
};

#define ROWS (sizeof(rows) / sizeof(*rows))

int plain_fail(const struct plain *p, const char *fmt, ...)
{
	char text[2048], line[4 * sizeof(text) + 1];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	escape_text(line, sizeof(line), text, strlen(text));
	fprintf(stderr, "%s: %s\n", p->name, line);
	return PLAIN_FAILED;
}

int plain_finish(const struct plain *p, int status)
{
	bool bad = ferror(stdout);

	if (fclose(stdout) || bad)
		return plain_fail(p, "standard output: %s",
				  strerror(errno ? errno : EIO));
	return status;
}

static int usage(const struct plain *p)
{
	size_t i;

	printf("usage: %s [OPTION]...\n%s\n\n", p->name, p->does);
	for (i = 0; i < ROWS; i++)
		printf("  %c%c%c %-12s %s\n", rows[i].letter ? '-' : ' ',
		       rows[i].letter ? rows[i].letter : ' ',
		       rows[i].letter ? ',' : ' ', rows[i].name,
		       rows[i].help ? rows[i].help : p->json);
	printf("\n%s", p->status);
	return plain_finish(p, 0);
}

static const struct row *find(const char *word)
{
	size_t i;

	for (i = 0; i < ROWS; i++)
		if (!strcmp(word, rows[i].name) ||
		    (word[0] == '-' && word[1] && word[1] == rows[i].letter &&
		     !word[2]))
			return &rows[i];
	return NULL;
}

int plain_parse(struct plain *p, int argc, char **argv)
{
	int i;

	/* For the width of characters; the user's own may know of none. */
	setlocale(LC_CTYPE, "C.UTF-8");
	for (i = 1; i < argc; i++) {
		const struct row *r = find(argv[i]);
		const char *near;

		if (!r && argv[i][0] != '-')
			return plain_fail(p, "takes no argument: %s", argv[i]);
		if (!r) {
			near = suggest(argv[i], &rows->name, sizeof(*rows),
				       ROWS);
			return near ?
			       plain_fail(p, "unknown option: %s; did you "
					  "mean %s?", argv[i], near) :
			       plain_fail(p, "unknown option: %s (see "
					  "--help)", argv[i]);
		}
		switch (r->id) {
		case P_JSON:
			p->wants_json = true;
			break;
		case P_VERSION:
			printf("%s %s (abi %d)\n", p->name, LH_VERSION, LH_ABI);
			return plain_finish(p, 0);
		case P_HELP:
			return usage(p);
		}
	}
	return PLAIN_GO;
}

/* A mark that stands on another one counts too: a heap of them is no name. */
static int cells(uint32_t point)
{
	return wcwidth(point) == 2 ? 2 : 1;
}

/* Bytes of @text that fill at most @room cells; *used: how many they do. */
static size_t fitting(const char *text, int room, int *used)
{
	size_t len = strlen(text), i = 0;

	*used = 0;
	while (i < len) {
		uint32_t point = 0;
		size_t n = utf8_decode(text + i, len - i, &point);
		int w = n ? cells(point) : 1;

		if (*used + w > room)
			break;
		*used += w;
		i += n ? n : 1;
	}
	return i;
}

void plain_cell(FILE *f, const char *text, int width)
{
	int room = width < 0 ? -width : width, used;
	char line[1024];
	size_t n;

	if (!text)
		text = "-";
	escape_text(line, sizeof(line), text, strnlen(text, sizeof(line)));
	n = fitting(line, room, &used);
	if (line[n]) {
		n = fitting(line, room - 1, &used);
		line[n++] = '+';
		line[n] = 0;
		used++;
	}
	fprintf(f, "%*s%s%*s", width < 0 ? room - used : 0, "", line,
		width < 0 ? 0 : room - used, "");
}

void plain_age(uint64_t seconds, char out[PLAIN_SHORT])
{
	if (seconds < 120)
		snprintf(out, PLAIN_SHORT, "%" PRIu64 "s", seconds);
	else if (seconds < 120 * 60)
		snprintf(out, PLAIN_SHORT, "%" PRIu64 "m", seconds / 60);
	else if (seconds < 48 * 3600)
		snprintf(out, PLAIN_SHORT, "%" PRIu64 "h", seconds / 3600);
	else
		snprintf(out, PLAIN_SHORT, "%" PRIu64 "d", seconds / 86400);
}

static void shorten(uint64_t n, unsigned int step, char out[PLAIN_SHORT])
{
	static const char units[] = " KMGTPE";
	const char *unit = units;
	uint64_t rest = 0;

	while (n >= 10 * step || (step == 1024 && n >= step)) {
		rest = n % step;
		n /= step;
		unit++;
	}
	if (unit == units)
		snprintf(out, PLAIN_SHORT, "%" PRIu64, n);
	else if (n < 10)
		snprintf(out, PLAIN_SHORT, "%" PRIu64 ".%" PRIu64 "%c", n,
			 rest * 10 / step, *unit);
	else
		snprintf(out, PLAIN_SHORT, "%" PRIu64 "%c", n, *unit);
}

void plain_size(uint64_t bytes, char out[PLAIN_SHORT])
{
	shorten(bytes, 1024, out);
}

void plain_count(uint64_t n, char out[PLAIN_SHORT])
{
	if (n < 1000000)
		snprintf(out, PLAIN_SHORT, "%" PRIu64, n);
	else
		shorten(n, 1000, out);
}
