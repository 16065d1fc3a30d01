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
#include "labels.h"

#define OPTIONS_MANY 256	/* roots, variables, descriptors: each */

enum option_root_kind {
	OPTION_WRITE_ROOT, OPTION_READ_ROOT, OPTION_READ_ONLY_ROOT,
	OPTION_DENY_ROOT, OPTION_SOCKET_ROOT,
};

struct option_root {
	enum option_root_kind kind;
	const char *flag;	/* as typed, for messages */
	const char *path;
};

/* What may be given many times and is taken as it stands. */
struct option_words {
	const char *word[OPTIONS_MANY];
	unsigned int count;
};

/* Strings point into argv. */
struct options {
	const char *policy, *policy_from, *cwd, *user, *name, *engine;
	const char *denials, *result;
	uint64_t timeout, idle;	/* nanoseconds; 0: not given */
	uint64_t memory;	/* bytes; 0: not given */
	uint64_t pids;		/* 0: not given */
	uint64_t cpu;		/* percent; likewise */
	int status_fd;		/* -1: none */
	int keep_fd[OPTIONS_MANY];
	unsigned int keep_fd_count;
	struct option_root root[OPTIONS_MANY];
	unsigned int root_count;
	struct option_words env;	/* NAME or NAME=VALUE */
	struct option_words env_files, credentials;
	struct option_words egress, loopback_ports, publish_ports;
	bool loopback, network;		/* --allow-… */
	struct labels labels;
	const char *widened;	/* the first flag that changes the policy's
				 * grants or denies, or NULL */
	bool no_sandbox;
	bool capture, pty;
	bool quiet, verbose, json, dry_run, help, version;
	char **command;		/* NULL-terminated; NULL: none given */
};

/* 0, or -EINVAL with *e saying which word is wrong and why. */
int options_parse(int argc, char **argv, struct options *o, struct err *e);
void options_usage(FILE *f);

#endif
