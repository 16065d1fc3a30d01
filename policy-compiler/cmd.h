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
	bool json;
};

enum exit_status { DONE, FAILED, USAGE, REFUSED };

/* @n words of @args after the command's own. All return an exit status. */
int cmd_check(const struct request *q, char **args, int n);
int cmd_compile(const struct request *q, char **args, int n);
int cmd_show(const struct request *q, char **args, int n);
int cmd_explain(const struct request *q, char **args, int n);

/* --- cmd.c: for all of them */

/* Print @e; FAILED. */
int complain(const struct err *e);
/* Print it, escaped, with where to look; USAGE. */
__attribute__((format(printf, 1, 2)))
int usage(const char *fmt, ...);
/*
 * The image of the file or name @arg; diagnostics are printed. DONE, and the
 * caller owns *im, or FAILED.
 */
int request_load(const struct request *q, const char *arg, struct image **im);

#endif
