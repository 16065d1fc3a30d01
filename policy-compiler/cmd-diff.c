// SPDX-License-Identifier: GPL-2.0-only
/*
 * `lh-policy diff A B`: what B opens and closes against A.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <yajl/yajl_gen.h>

#include "cmd.h"
#include "diff.h"
#include "follow.h"

static const char *const changes[] = {
	[DIFF_OPENS] = "opens", [DIFF_CLOSES] = "closes",
	[DIFF_KEEPS] = "keeps",
};

struct output {
	yajl_gen g;		/* NULL: for people */
	size_t told;
};

static void print(const struct diff_item *i)
{
	size_t len = strlen(i->object), size = 4 * len + 1;
	char *text = malloc(size);

	if (!text)
		return;
	err_escape(text, size, i->object, len);
	printf("%-6s %s%s%s%s%s%s%s\n", changes[i->change], i->what,
	       len ? " " : "", text, i->itself ? " itself" : "",
	       *i->rule ? "  (" : "", i->rule, *i->rule ? ")" : "");
	free(text);
}

static void put(yajl_gen g, const char *key, const char *value)
{
	yajl_gen_string(g, (const unsigned char *)key, strlen(key));
	yajl_gen_string(g, (const unsigned char *)value, strlen(value));
}

static void print_json(yajl_gen g, const struct diff_item *i)
{
	yajl_gen_map_open(g);
	put(g, "change", changes[i->change]);
	put(g, "what", i->what);
	put(g, "object", i->object);
	yajl_gen_string(g, (const unsigned char *)"itself", 6);
	yajl_gen_bool(g, i->itself);
	put(g, "rule", i->rule);
	yajl_gen_map_close(g);
}

static int take(void *arg, const struct diff_item *i)
{
	static const char always[] = "builtin:credentials/";
	struct output *o = arg;

	/* Under every policy; to say so at each change would bury it. */
	if (i->change == DIFF_KEEPS &&
	    !strncmp(i->rule, always, strlen(always)))
		return 0;
	o->told++;
	if (o->g)
		print_json(o->g, i);
	else
		print(i);
	return 0;
}

/* The image too: of what only later builds enforce no file is judged by. */
static int load(const struct request *q, const char *arg, struct compiled **k,
		struct image **im)
{
	const struct compile_options o = { .context = &q->context };
	struct diags d = { 0 };
	int status = request_model(q, arg, k);

	if (status == DONE && policy_follow(compiled_policy(*k), &d))
		status = FAILED;
	if (status == DONE && compiled_lower(*k, &o, im, &d))
		status = FAILED;
	diags_print(&d, stderr, "");
	diags_free(&d);
	return status;
}

static int finish(struct output *o)
{
	const unsigned char *text;
	size_t len;

	if (!o->g)
		return DONE;
	yajl_gen_array_close(o->g);
	if (yajl_gen_get_buf(o->g, &text, &len) != yajl_gen_status_ok)
		return FAILED;
	printf("%.*s\n", (int)len, text);
	return DONE;
}

int cmd_diff(const struct request *q, char **args, int n)
{
	struct compiled *k[2] = { NULL, NULL };
	struct image *im[2] = { NULL, NULL };
	struct output o = { 0 };
	struct diff_side s[2];
	int status, i;

	if (n != 2)
		return usage("diff needs two policies, A and B");
	status = load(q, args[0], &k[0], &im[0]);
	if (status == DONE)
		status = load(q, args[1], &k[1], &im[1]);
	if (status == DONE && q->json) {
		o.g = yajl_gen_alloc(NULL);
		status = o.g ? DONE : FAILED;
	}
	if (status == DONE) {
		for (i = 0; i < 2; i++)
			s[i] = (struct diff_side){ compiled_policy(k[i]),
						   im[i] };
		if (o.g)
			yajl_gen_array_open(o.g);
		status = policy_diff(&s[0], &s[1], take, &o) ? FAILED :
			finish(&o);
	}
	if (o.g)
		yajl_gen_free(o.g);
	for (i = 0; i < 2; i++) {
		free(im[i]);
		compiled_free(k[i]);
	}
	return status == DONE && o.told ? REFUSED : status;
}
