// SPDX-License-Identifier: GPL-2.0-only
/*
 * `lh-policy compile FILE -o IMAGE`.
 */
#include <stdlib.h>

#include "cmd.h"
#include "tool.h"

int cmd_compile(const struct request *q, char **args, int n)
{
	struct err e = { 0 };
	struct image *im;
	int r;

	if (n != 1)
		return usage("compile needs one FILE");
	if (!q->output)
		return usage("compile needs -o IMAGE");
	if (request_load(q, args[0], &im) != DONE)
		return FAILED;
	r = tool_write(q->output, im, im->size, &e);
	free(im);
	return r ? complain(&e) : DONE;
}
