// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the language has and this build does not enforce. Whoever makes the
 * kernel enforce one of these takes its line out.
 */
#include "policy.h"

#define NO "not enforceable by this build"

static void say(const struct policy *p, const struct place *at, bool warn,
		const char *what, struct diags *d)
{
	struct place here = at->file ? *at : (struct place){
		.file = p->source };

	(warn ? diag_warn : diag_error)(d, &here, NO "%s; leave it out", what);
}

void policy_enforceable(const struct policy *p, bool warn, struct diags *d)
{
	/* Without confinement there are no rules that could be missing. */
	if (p->profile < PROFILE_WORKTREE)
		return;
	if (p->mode != MODE_ENFORCE)
		say(p, &p->said[SAID_MODE], warn, ", which always enforces", d);
}
