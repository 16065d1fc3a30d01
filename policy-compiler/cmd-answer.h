/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * An answer in print: lines for people, an object for programs.
 */
#ifndef LH_CMD_ANSWER_H
#define LH_CMD_ANSWER_H

#include <yajl/yajl_gen.h>

#include "change.h"
#include "cmd.h"

/* A policy that is asked: its image, and the table that the kernel gets. */
struct asking {
	struct image *im;
	struct table t;
	struct compile_options o;
	struct resolve_options ro;
	char *file;		/* the policy's own, which is protected */
};

/* DONE, or FAILED and it was said. */
int asking_begin(const struct request *q, const char *policy,
		 struct asking *k);
void asking_end(struct asking *k);

const char *answer_word(const struct answer *a);
/* Lines of "  LABEL VALUE"; @c may be NULL. */
void answer_print(const struct question *q, const struct answer *a,
		  const struct change *c);
/* The members of one object, which the caller opens and closes. */
void answer_put(yajl_gen g, const struct question *q, const struct answer *a,
		const struct change *c);
/* A member; NULL is null. What is no UTF-8 is \xHH. */
void put_member(yajl_gen g, const char *key, const char *value);
void put_word(yajl_gen g, const char *value);

#endif
