/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The commands of lh-policy, a file each: cmd-NAME.c. They print; nothing else
 * of the compiler does.
 */
#ifndef LH_CMD_H
#define LH_CMD_H

#include <stdbool.h>

#include "compile.h"

/* What main() took from the options. */
struct request {
	struct context_who who;
	struct context context;
	const char *output;	/* -o, or NULL */
	const char *ceiling;	/* --ceiling, or NULL; its text: */
	char *ceiling_text;
	size_t ceiling_len;
	bool json, resolved, source;
};

enum exit_status { DONE, FAILED, USAGE, REFUSED, WARNED };

/* @n words of @args after the command's own. All return an exit status. */
int cmd_check(const struct request *q, char **args, int n);
int cmd_compile(const struct request *q, char **args, int n);
int cmd_show(const struct request *q, char **args, int n);
int cmd_explain(const struct request *q, char **args, int n);
int cmd_intersect(const struct request *q, char **args, int n);
int cmd_diff(const struct request *q, char **args, int n);
int cmd_test(const struct request *q, char **args, int n);
int cmd_schema(const struct request *q, char **args, int n);

/* --- cmd.c: for all of them */

/* Read the file of --ceiling, if there is one. */
int request_ceiling(struct request *q);
/* Options for compiling what is asked about, under --ceiling. */
struct compile_options request_options(const struct request *q);
/* Print @e; FAILED. */
int complain(const struct err *e);
/* Print it, escaped, with where to look; USAGE. */
__attribute__((format(printf, 1, 2)))
int usage(const char *fmt, ...);
/* " (did you mean X?)" for @word, of @n as suggest() takes them, or "". */
const char *meant(const char *dashes, const char *word, const void *first,
		  size_t stride, size_t n);
/*
 * The image of the file or name @arg, to be asked; diagnostics are printed, and
 * what this build does not enforce is only a warning. DONE, and the caller owns
 * *im, or FAILED. Under --json the errors are the command's answer on the
 * standard output; warnings are not, and go to the standard error.
 */
int request_load(const struct request *q, const char *arg, struct image **im);
/* The same, but nothing is printed: *d is the caller's. @o: or NULL. */
int request_try(const struct request *q, const struct compile_options *o,
		const char *arg, struct image **im, struct diags *d);
/*
 * The model of @arg, printed about likewise. What this build does not enforce
 * is only a warning: it is looked at, not run.
 */
int request_model(const struct request *q, const char *arg,
		  struct compiled **k);
/* @text, or @p as text, to -o or to the standard output. */
int request_write(const struct request *q, const char *text, size_t len);
int request_print(const struct request *q, const struct policy *p);
/*
 * @d, about @file, as one line of JSON on the standard output; with the image
 * that was written to @path, or NULL. DONE or FAILED.
 */
int report_json(const char *file, struct diags *d, const char *path,
		const struct image *im);

#endif
