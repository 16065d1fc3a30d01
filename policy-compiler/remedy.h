/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A search for what would turn an answer, and its next step: from the reason of
 * the answer as it stands to one field of the policy.
 */
#ifndef LH_REMEDY_H
#define LH_REMEDY_H

#include "change.h"

struct remedy {
	const struct compile_options *o;
	const struct resolve_options *ro;
	const struct question *q;
	const char *policy;	/* as the image holds it */
	size_t len;
	const char *rule;	/* that the answer named to the user */
	bool deeper;		/* open what lies in a read-only root, and
				 * leave that root */
	struct json_doc doc;	/* with the steps so far */
	struct answer a;	/* to that, out of: */
	struct image *im;
	struct change *c;
};

/*
 * Add one step to f->c: 1; 0 if there is none, and f->c->why says why; or
 * negative errno.
 */
int remedy_propose(struct remedy *f);
/* No step, for this reason: 0. */
int remedy_none(struct remedy *f, const char *why);

#endif
