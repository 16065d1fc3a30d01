/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The command line. Options stop at the first word that is none; everything
 * after it belongs to the command and is never looked at.
 */
#ifndef LH_OPTIONS_H
#define LH_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "../policy-compiler/err.h"

#define OPTIONS_MANY 256	/* roots, variables, descriptors: each */

enum option_root_kind {
	OPTION_WRITE_ROOT, OPTION_READ_ROOT, OPTION_READ_ONLY_ROOT,
	OPTION_DENY_ROOT,
};

struct option_root {
	enum option_root_kind kind;
	const char *flag;	/* as typed, for messages */
	const char *path;
};

/* Strings point into argv. */
struct options {
	const char *policy, *cwd, *user, *name, *engine;
	const char *denials, *result;
	uint64_t timeout;	/* nanoseconds; 0: not given */
	uint64_t memory;	/* bytes; 0: not given */
	int status_fd;		/* -1: none */
	int keep_fd[OPTIONS_MANY];
	unsigned int keep_fd_count;
	struct option_root root[OPTIONS_MANY];
	unsigned int root_count;
	const char *env[OPTIONS_MANY];	/* NAME or NAME=VALUE */
	unsigned int env_count;
	bool quiet, verbose, json, dry_run, help, version;
	char **command;		/* NULL-terminated; NULL: none given */
};

/* 0, or -EINVAL with *e saying which word is wrong and why. */
int options_parse(int argc, char **argv, struct options *o, struct err *e);
void options_usage(FILE *f);

#endif
