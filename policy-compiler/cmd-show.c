// SPDX-License-Identifier: GPL-2.0-only
/*
 * `lh-policy show FILE|IMAGE`: the policy with all its defaults.
 */
#include <stdio.h>
#include <stdlib.h>

#include "cmd.h"

int cmd_show(const struct request *q, char **args, int n)
{
	struct image *im;

	if (n != 1)
		return usage("show needs one FILE or IMAGE");
	if (request_load(q, args[0], &im) != DONE)
		return FAILED;
	fwrite((const char *)im + im->policy.offset, 1, im->policy.count,
	       stdout);
	free(im);
	return DONE;
}
