// SPDX-License-Identifier: GPL-2.0-only
/*
 * `lh-policy compile FILE -o IMAGE`.
 */
#include <stdio.h>
#include <stdlib.h>

#include "cmd.h"
#include "tool.h"

/* Values of variables stand in an image: it is the user's own. */
static bool has_values(const struct image *im)
{
	const struct image_env *env = image_envs(im);
	size_t i;

	for (i = 0; i < im->env.count; i++)
		if (env[i].set)
			return true;
	return false;
}

/* Under --json, warnings are part of the answer. */
static int compile_to(const struct request *q, const char *arg,
		      struct diags *d)
{
	struct image *im = NULL;
	struct err e = { 0 };
	int status = request_try(q, NULL, arg, &im, d);

	if (!q->json)
		diags_print(d, stderr, "");
	if (status == DONE && tool_write(q->output, im, im->size,
					 has_values(im), &e))
		status = complain(&e);
	else if (q->json)
		status |= report_json(arg, d, q->output, im);
	free(im);
	return status;
}

int cmd_compile(const struct request *q, char **args, int n)
{
	struct diags d = { 0 };
	int status;

	if (n != 1)
		return usage("compile needs one FILE");
	if (!q->output)
		return usage("compile needs -o IMAGE");
	status = compile_to(q, args[0], &d);
	diags_free(&d);
	return status;
}
