// SPDX-License-Identifier: GPL-2.0-only
/*
 * What all commands of lh-policy say in the same words.
 */
#define _GNU_SOURCE
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "cmd.h"
#include "tool.h"

int complain(const struct err *e)
{
	fprintf(stderr, "lh-policy: %s\n", e->msg);
	return FAILED;
}

__attribute__((format(printf, 1, 2)))
int usage(const char *fmt, ...)
{
	char raw[256], text[sizeof(raw) * 4 + 1];
	va_list args;

	va_start(args, fmt);
	vsnprintf(raw, sizeof(raw), fmt, args);
	va_end(args);
	err_escape(text, sizeof(text), raw, strlen(raw));
	fprintf(stderr, "lh-policy: %s; see lh-policy --help\n", text);
	return USAGE;
}

/* A file's image or policy. The name of a policy is sought in two places. */
int request_load(const struct request *q, const char *arg, struct image **im)
{
	struct compile_options o = { .context = &q->context };
	struct diags d = { 0 };
	struct err e = { 0 };
	int r = tool_load(arg, &o, im, &d, &e);

	diags_print(&d, stderr, "");
	if (r && !d.errors)
		complain(&e);
	diags_free(&d);
	return r ? FAILED : DONE;
}
