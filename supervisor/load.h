/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * From --policy, the other options and the site's ceiling to an image. A
 * policy that is named is that one or an error, never a default.
 */
#ifndef LH_LOAD_H
#define LH_LOAD_H

#include "../policy-compiler/compile.h"
#include "../policy-compiler/err.h"
#include "identity.h"
#include "options.h"
#include "recorded.h"

#define LOAD_POLICY_DIR "/etc/lh/policies"
#define LOAD_CEILING "/etc/lh/ceiling.json"
#define LOAD_DEFAULT "worktree"

struct load {
	struct image *im;	/* owned; free() */
	char *file;		/* path of the policy's file, or NULL */
	struct diags diags;	/* all of them, warnings too */
	bool ceiling;		/* there is one, and the weakest profile … */
	enum image_profile weakest;	/* … that it lets a policy have */
	struct recorded recorded;	/* of --policy-from */
	char **lifted;		/* credentials of --allow-credential, normal */
	unsigned int lifted_count;
};

/*
 * @workspace: absolute path of the working directory. 0, or negative errno
 * with *e or, where the policy itself is wrong, errors in l->diags.
 */
int load_image(const struct options *o, const struct identity *id,
	       const char *workspace, struct load *l, struct err *e);
/*
 * Read the site's ceiling alone. *there: there is one, and *weakest is what it
 * lets a policy have. 0, or negative errno with *e or errors in @d.
 */
int load_ceiling(const struct identity *id, bool *there,
		 enum image_profile *weakest, struct diags *d, struct err *e);
void load_free(struct load *l);

#endif
