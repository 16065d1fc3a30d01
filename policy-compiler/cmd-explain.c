// SPDX-License-Identifier: GPL-2.0-only
/*
 * `lh-policy explain FILE OP OBJECT [OBJECT]`: who allows or refuses it, why,
 * and what would change that.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd-answer.h"

static int print_json(const struct question *q, const struct answer *a,
		      const struct change *c)
{
	yajl_gen g = yajl_gen_alloc(NULL);
	const unsigned char *text;
	size_t len;

	if (!g)
		return -ENOMEM;
	yajl_gen_map_open(g);
	answer_put(g, q, a, c);
	yajl_gen_map_close(g);
	if (yajl_gen_get_buf(g, &text, &len) == yajl_gen_status_ok)
		printf("%.*s\n", (int)len, text);
	yajl_gen_free(g);
	return 0;
}

static int answer(const struct request *q, const struct asking *k,
		  const struct question *asked, struct err *e)
{
	struct change c = { 0 };
	struct answer a;
	int r = explain(k->im, &k->t, asked, &a, e);

	if (r)
		return r;
	r = change_find(k->im, &k->o, &k->ro, asked, &a, &c, e);
	if (!r && !q->json)
		answer_print(asked, &a, &c);
	else if (!r && print_json(asked, &a, &c))
		r = err_sys(e, -ENOMEM, "explain");
	if (!r)
		r = a.verdict != ANSWER_ALLOW;
	change_free(&c);
	answer_free(&a);
	return r;
}

/* Where the session would stand. */
static char *from_workspace(const struct request *q, const char *arg)
{
	struct arena mem = { 0 };
	const char *why, *known = NULL;
	char *path;

	/* In quotes the shell leaves these to us; as in policies and tables. */
	if (*arg == '~' || !strncmp(arg, "${", 2))
		known = root_expand(&mem, &q->context, q->context.workspace,
				    arg, &why);
	if (known)
		path = strdup(known);
	else if (*arg == '/')
		path = strdup(arg);
	else if (asprintf(&path, "%s/%s", q->context.workspace, arg) < 0)
		path = NULL;
	arena_free(&mem);
	return path;
}

int cmd_explain(const struct request *q, char **args, int n)
{
	struct question asked = { 0 };
	char *path[2] = { NULL, NULL };
	struct err e = { 0 };
	struct asking k;
	int r, i;

	if (n < 3 || n > 4)
		return usage("explain needs a FILE, an OP and an OBJECT");
	asked.op = operation_find(args[1]);
	if (!asked.op)
		return usage("explain: no operation is called %s", args[1]);
	if (n == 4 && !operation_takes_two(asked.op))
		return usage("explain: %s has one object", args[1]);
	for (i = 2; i < n; i++)
		if (!*args[i])
			return usage("explain: an empty OBJECT");
	if (asking_begin(q, args[0], &k) != DONE)
		return FAILED;
	for (i = 2; i < n; i++)
		path[i - 2] = operation_is_on_file(asked.op) ?
			from_workspace(q, args[i]) : strdup(args[i]);
	asked.object = path[0];
	asked.other = path[1];
	if (!path[0] || (n == 4 && !path[1]))
		r = err_sys(&e, -ENOMEM, "explain");
	else
		r = answer(q, &k, &asked, &e);
	free(path[0]);
	free(path[1]);
	asking_end(&k);
	return r < 0 ? complain(&e) : r ? REFUSED : DONE;
}
