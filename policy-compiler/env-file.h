/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Files of variables: a line is NAME=VALUE, taken as it stands, or NAME alone,
 * which passes the caller's; empty lines and lines that begin with # are none.
 */
#ifndef LH_ENV_FILE_H
#define LH_ENV_FILE_H

#include "policy.h"

#define ENV_FILE_BYTES_MAX (1u << 20)

typedef int env_file_reader(void *arg, const char *path, char **text,
			    size_t *len, struct err *e);

/*
 * Read all of @p's files, by @read or, where that is NULL, with open(2). What
 * the policy itself sets or passes stands; of the files the later ones. 0, or
 * -EINVAL or -ENOMEM with errors in @d.
 */
int env_files_read(struct policy *p, env_file_reader *read, void *arg,
		   struct diags *d);

#endif
