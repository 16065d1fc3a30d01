// SPDX-License-Identifier: GPL-2.0-only
/*
 * `lh-policy schema`: the JSON Schema of the language, for editors and stock
 * validators.
 */
#include <stdio.h>

#include "cmd.h"
#include "data.h"

int cmd_schema(const struct request *q, char **args, int n)
{
	const char *text;
	size_t len;

	(void)q;
	if (n)
		return usage("schema takes no word, but has \"%s\"", args[0]);
	text = policy_schema(&len);
	fwrite(text, 1, len, stdout);
	return DONE;
}
