// SPDX-License-Identifier: GPL-2.0-only
/*
 * Our own words on stderr. A line is escaped as a whole and written at once,
 * so that neither its content nor the command's own output can break it.
 */
#define _GNU_SOURCE
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "escape.h"
#include "say.h"

void say(const char *fmt, ...)
{
	static const char prefix[] = "lh-supervise: ";
	char text[8192], line[sizeof(prefix) + 4 * sizeof(text) + 1];
	size_t len;
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (n < 0)
		return;
	memcpy(line, prefix, sizeof(prefix) - 1);
	escape_text(line + sizeof(prefix) - 1, sizeof(line) - sizeof(prefix),
		    text, strlen(text));
	len = strlen(line);
	line[len++] = '\n';
	if (write(STDERR_FILENO, line, len) < 0)
		return;	/* nobody listens; the result still says it */
}
