// SPDX-License-Identifier: GPL-2.0-only
/*
 * `lh-policy check FILE...`: all that is wrong with each file, or doubtful. Not
 * even a warning is passed over in the status.
 */
#include <stdio.h>
#include <stdlib.h>

#include "cmd.h"

static int check_one(const struct request *q, const char *arg)
{
	struct compile_options o = request_options(q);
	struct image *im = NULL;
	struct diags d = { 0 };
	int status;

	o.check = true;
	status = request_try(q, &o, arg, &im, &d);
	if (status == DONE && d.warnings)
		status = WARNED;
	if (!q->json)
		diags_print(&d, stderr, "");
	else if (report_json(arg, &d, NULL, NULL) != DONE)
		status = FAILED;
	diags_free(&d);
	free(im);
	return status;
}

int cmd_check(const struct request *q, char **args, int n)
{
	int status = DONE, i, one;

	if (!n)
		return usage("check needs a FILE");
	for (i = 0; i < n; i++) {
		one = check_one(q, args[i]);
		if (one == FAILED || status == DONE)
			status = one;
	}
	return status;
}
