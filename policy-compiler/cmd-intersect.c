// SPDX-License-Identifier: GPL-2.0-only
/*
 * `lh-policy intersect OUTER INNER`: what is left of INNER inside of OUTER, as
 * a policy.
 */
#include <stdio.h>

#include "cmd.h"
#include "follow.h"

int cmd_intersect(const struct request *q, char **args, int n)
{
	struct compiled *outer = NULL, *inner = NULL;
	struct diags d = { 0 };
	int status;

	if (n != 2)
		return usage("intersect needs an OUTER and an INNER policy");
	status = request_model(q, args[0], &outer);
	if (status == DONE)
		status = request_model(q, args[1], &inner);
	/* A link inside of one may lead outside of it. */
	if (status == DONE && (policy_follow(compiled_policy(outer), &d) ||
			       policy_follow(compiled_policy(inner), &d)))
		status = FAILED;
	if (status == DONE &&
	    policy_intersect(compiled_policy(inner), compiled_policy(outer),
			     OUTER_SESSION, &q->context, &d))
		status = FAILED;
	diags_print(&d, stderr, "");
	diags_free(&d);
	if (status == DONE)
		status = request_print(q, compiled_policy(inner));
	compiled_free(inner);
	compiled_free(outer);
	return status;
}
