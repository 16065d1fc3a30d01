// SPDX-License-Identifier: GPL-2.0-only
/*
 * What all commands of lh-policy say in the same words.
 */
#define _GNU_SOURCE
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd.h"
#include "suggest.h"
#include "tool.h"

int request_ceiling(struct request *q)
{
	const struct compile_options o = { .context = &q->context };
	struct err e = { 0 };

	if (q->ceiling && tool_source(q->ceiling, &o, &q->ceiling_text,
				      &q->ceiling_len, &e))
		return complain(&e);
	return DONE;
}

struct compile_options request_options(const struct request *q)
{
	return (struct compile_options){
		.context = &q->context, .ceiling = q->ceiling_text,
		.ceiling_len = q->ceiling_len, .ceiling_file = q->ceiling,
	};
}

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

const char *meant(const char *dashes, const char *word, const void *first,
		  size_t stride, size_t n)
{
	static char text[80];
	const char *near = suggest(word, first, stride, n);

	*text = 0;
	if (near)
		snprintf(text, sizeof(text), " (did you mean %s%s?)",
			 dashes, near);
	return text;
}

/* What is wrong with @arg itself stands in @e; its name is said once. */
static void add_error(const char *arg, const struct err *e, struct diags *d)
{
	struct place at = { .file = arg };
	size_t len = strlen(arg);
	const char *msg = e->msg;

	if (!strncmp(msg, arg, len) && !strncmp(msg + len, ": ", 2))
		msg += len + 2;
	diag_error(d, &at, "%s", msg);
}

int request_try(const struct request *q, const struct compile_options *o,
		const char *arg, struct image **im, struct diags *d)
{
	struct compile_options plain = request_options(q);
	struct err e = { 0 };
	int r = tool_load(arg, o ? o : &plain, im, d, &e);

	if (r && !d->errors)
		add_error(arg, &e, d);
	return r ? FAILED : DONE;
}

/* What a command has to say of @arg before its answer, if it has one. */
static int say(const struct request *q, const char *arg, int r,
	       struct diags *d)
{
	if (r && q->json)
		report_json(arg, d, NULL, NULL);
	else
		diags_print(d, stderr, "");
	diags_free(d);
	return r;
}

int request_load(const struct request *q, const char *arg, struct image **im)
{
	struct compile_options o = request_options(q);
	struct diags d = { 0 };

	o.lenient = true;
	return say(q, arg, request_try(q, &o, arg, im, &d), &d);
}

int request_model(const struct request *q, const char *arg,
		  struct compiled **k)
{
	struct compile_options o = request_options(q);
	struct diags d = { 0 };
	struct err e = { 0 };
	int r;

	o.lenient = true;
	r = tool_model(arg, &o, k, &d, &e);

	if (r && !d.errors)
		add_error(arg, &e, &d);
	return say(q, arg, r ? FAILED : DONE, &d);
}

int request_write(const struct request *q, const char *text, size_t len)
{
	struct err e = { 0 };

	if (q->output && tool_write(q->output, text, len, false, &e))
		return complain(&e);
	if (!q->output)
		fwrite(text, 1, len, stdout);
	return DONE;
}

int request_print(const struct request *q, const struct policy *p)
{
	struct err e = { 0 };
	char *text = NULL;
	size_t len = 0;
	int r = policy_print(p, &text, &len);

	if (r) {
		err_sys(&e, r, "the policy");
		return complain(&e);
	}
	r = request_write(q, text, len);
	free(text);
	return r;
}
