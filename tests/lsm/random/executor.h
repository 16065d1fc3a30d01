/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The second opinion: what the library makes of the policy's file, and says.
 */
#ifndef LH_RANDOM_EXECUTOR_H
#define LH_RANDOM_EXECUTOR_H

#include "spot.h"

struct executor {
	struct context *context;
	struct image *im;
	struct table *t;
};

/* @temp: the session's own directory, or "". 0, or it is no policy. */
int executor_compile(struct executor *x, const char *file,
		     const char *workspace, uid_t uid, const char *temp);
void executor_free(struct executor *x);
/* Why not, as records call it, or NULL; *rule likewise. */
const char *executor_judge(const struct executor *x, const struct spot *p,
			   unsigned int need, const char **rule);
/* What `lh-policy explain OP PATH [OTHER]` says. */
const char *executor_explain(const struct executor *x, const char *op,
			     const char *path, const char *other,
			     const char **rule);

#endif
