// SPDX-License-Identifier: GPL-2.0-only
/*
 * `lh-policy show [--resolved] FILE|IMAGE`: the policy with all its defaults;
 * resolved, also with its links followed, as a session would follow them now.
 */
#include <stdio.h>

#include "cmd.h"
#include "follow.h"

int cmd_show(const struct request *q, char **args, int n)
{
	struct diags d = { 0 };
	struct compiled *k;
	int status;

	if (n != 1)
		return usage("show needs one FILE or IMAGE");
	status = request_model(q, args[0], &k);
	if (status != DONE)
		return status;
	if (q->resolved && policy_follow(compiled_policy(k), &d))
		status = FAILED;
	diags_print(&d, stderr, "");
	diags_free(&d);
	if (status == DONE)
		status = request_print(q, compiled_policy(k));
	compiled_free(k);
	return status;
}
