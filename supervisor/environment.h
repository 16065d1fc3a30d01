/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The command's environment, built from nothing: what the policy's mode lets
 * through, what policy and command line name, what every session gets. Values
 * go to the command and nowhere else.
 */
#ifndef LH_ENVIRONMENT_H
#define LH_ENVIRONMENT_H

#include <stdbool.h>
#include <stddef.h>

#include "../policy-compiler/image.h"
#include "identity.h"

struct environment {
	char **vars;		/* NAME=VALUE, NULL-terminated */
	size_t count, room;
};

/* By mode and policy, which has what the command line named. 0 or -ENOMEM. */
int environment_start(struct environment *env, const struct image *im,
		      const struct identity *id);
/*
 * The rest, where not given already. @temp, @cache: directories or NULL;
 * @hide_git_config: ~/.gitconfig is there and may not be read.
 */
int environment_finish(struct environment *env, const char *temp,
		       const char *cache, bool hide_git_config);
const char *environment_get(const struct environment *env, const char *name);
void environment_free(struct environment *env);

#endif
