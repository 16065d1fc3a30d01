// SPDX-License-Identifier: GPL-2.0-only
/*
 * `lh-policy check FILE...`: all errors of each file.
 */
#include <stdlib.h>

#include "cmd.h"

int cmd_check(const struct request *q, char **args, int n)
{
	int status = DONE, i;
	struct image *im;

	if (!n)
		return usage("check needs a FILE");
	for (i = 0; i < n; i++) {
		im = NULL;
		if (request_load(q, args[i], &im) != DONE)
			status = FAILED;
		free(im);
	}
	return status;
}
