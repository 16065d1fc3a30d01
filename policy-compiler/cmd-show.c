// SPDX-License-Identifier: GPL-2.0-only
/*
 * `lh-policy show [--resolved|--source] FILE|IMAGE`: the policy with all its
 * defaults; resolved, also with its links followed, as a session would follow
 * them now; or just as it was written, to begin one's own with.
 */
#include <stdio.h>
#include <stdlib.h>

#include "cmd.h"
#include "follow.h"
#include "tool.h"

static int show_source(const struct request *q, const char *arg)
{
	const struct compile_options o = { .context = &q->context };
	struct err e = { 0 };
	size_t len = 0;
	char *text;
	int r;

	if (tool_source(arg, &o, &text, &len, &e))
		return complain(&e);
	r = request_write(q, text, len);
	free(text);
	return r;
}

int cmd_show(const struct request *q, char **args, int n)
{
	struct diags d = { 0 };
	struct compiled *k;
	int status;

	if (n != 1)
		return usage("show needs one FILE or IMAGE");
	if (q->source && q->resolved)
		return usage("--source shows what was written, --resolved "
			     "what it comes to; take one of them");
	if (q->source)
		return show_source(q, args[0]);
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
