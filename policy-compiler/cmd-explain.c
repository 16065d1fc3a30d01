// SPDX-License-Identifier: GPL-2.0-only
/*
 * `lh-policy explain FILE OP PATH`: who allows or refuses it, and why.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <yajl/yajl_gen.h>

#include "cmd.h"
#include "resolve.h"

static uint32_t operation(const char *op)
{
	static const struct {
		const char *name;
		uint32_t access;
	} ops[] = {
		{ "read", LH_READ }, { "list", LH_READ },
		{ "stat", LH_STAT }, { "write", LH_WRITE },
		{ "create", LH_WRITE }, { "remove", LH_REMOVE },
		{ "rename", LH_REMOVE | LH_MOVE }, { "exec", LH_EXEC },
	};
	size_t i;

	for (i = 0; i < sizeof(ops) / sizeof(*ops); i++)
		if (!strcmp(ops[i].name, op))
			return ops[i].access;
	return 0;
}

/* What the table cannot say: exec is a switch of the whole session too. */
static const char *no_exec_rule(const struct image *im)
{
	return im->level < LEVEL_PROCESS_EXEC ? "/side_effect_level" :
		"/capabilities/process";
}

/* A reason as the records call it, and as a person would say it. */
static const struct {
	const char *code, *text;
} reasons[LH_WHY_COUNT] = {
	[LH_WHY_ALLOW] = { "allow", "granted" },
	[LH_WHY_DENIED] = { "denied", "denied, whatever grants it" },
	[LH_WHY_NOT_GRANTED] = { "not_granted", "nothing grants it" },
	[LH_WHY_READ_ONLY] = { "read_only", "the root is read-only" },
	[LH_WHY_PROTECTED] = { "protected",
			       "protected: the host runs what it says" },
	[LH_WHY_PINNED] = { "pinned", "a rule hangs on this name or below" },
	[LH_WHY_OUTSIDE_MOUNT] = { "outside_mount",
				   "on a mount that no root reaches" },
	[LH_WHY_UNFINISHED] = { "unfinished", "too deep to judge" },
	[LH_WHY_NO_EXEC] = { "no_exec",
			     "the policy lets no further program start" },
	[LH_WHY_PROCESS] = { "process", "it is of a process outside" },
	[LH_WHY_GUARD] = { "guard", "it would reach the sandbox itself" },
	[LH_WHY_DEVICE] = { "device", "a device that is not granted" },
};

struct answer {
	const char *verdict, *op, *path, *object, *rule, *root, *code, *text;
	bool absent;
};

static void print_line(const char *label, const char *value)
{
	size_t len = strlen(value), size = 4 * len + 1;
	char *text = malloc(size);

	if (!text)
		return;
	err_escape(text, size, value, len);
	printf("  %-7s %s\n", label, text);
	free(text);
}

static void print_answer(const struct answer *a)
{
	printf("%s %s\n", a->verdict, a->op);
	print_line("path", a->path);
	if (a->object && strcmp(a->object, a->path))
		print_line("object", a->object);
	if (a->absent)
		print_line("note", "nothing is there now");
	print_line("rule", a->rule);
	if (a->root)
		print_line("root", a->root);
	print_line("reason", a->text);
}

/* A path may hold any bytes, JSON may not: what is no UTF-8 is \xHH here. */
static void put(yajl_gen g, const char *key, const char *value)
{
	size_t len = value ? strlen(value) : 0, size = 4 * len + 1;
	char *text = value ? malloc(size) : NULL;

	yajl_gen_string(g, (const unsigned char *)key, strlen(key));
	if (text) {
		len = err_escape(text, size, value, len);
		yajl_gen_string(g, (unsigned char *)text, len);
	} else {
		yajl_gen_null(g);
	}
	free(text);
}

static int print_json(const struct answer *a)
{
	yajl_gen g = yajl_gen_alloc(NULL);
	const unsigned char *text;
	size_t len;

	if (!g)
		return -ENOMEM;
	yajl_gen_map_open(g);
	put(g, "verdict", a->verdict);
	put(g, "operation", a->op);
	put(g, "path", a->path);
	put(g, "object", a->object);
	put(g, "rule", a->rule);
	put(g, "root", a->root);
	put(g, "reason", a->code);
	yajl_gen_string(g, (const unsigned char *)"absent", 6);
	yajl_gen_bool(g, a->absent);
	yajl_gen_map_close(g);
	if (yajl_gen_get_buf(g, &text, &len) == yajl_gen_status_ok)
		printf("%.*s\n", (int)len, text);
	yajl_gen_free(g);
	return 0;
}

static int explain(const struct image *im, const char *op, uint32_t access,
		 const char *path, bool json, struct err *e)
{
	struct resolve_options o = { 0 };
	struct table t = { 0 };
	struct explain x = { 0 };
	struct answer a;
	int r;

	r = table_resolve(im, &o, &t, e);
	if (r)
		return r;
	r = table_explain(im, &t, path, access, &x, e);
	if (!r) {
		r = x.verdict.why != LH_WHY_ALLOW;
		a = (struct answer){
			.verdict = r ? "refuse" : "allow",
			.op = op, .path = path, .object = x.object,
			.rule = table_rule(im, &t, x.verdict.rule),
			.root = x.root, .absent = x.absent,
			.code = x.verdict.why < LH_WHY_COUNT &&
				reasons[x.verdict.why].code ?
				reasons[x.verdict.why].code : "internal",
		};
		if (access == LH_EXEC && (im->flags & IMAGE_NO_EXEC) &&
		    (!r || x.verdict.why == LH_WHY_NO_EXEC)) {
			r = 1;
			x.verdict.why = LH_WHY_NO_EXEC;
			a.verdict = "refuse";
			a.rule = no_exec_rule(im);
			a.root = NULL;
			a.code = reasons[LH_WHY_NO_EXEC].code;
		}
		a.text = x.verdict.why < LH_WHY_COUNT &&
			reasons[x.verdict.why].text ?
			reasons[x.verdict.why].text : a.code;
		if (json)
			r = print_json(&a) ? -ENOMEM : r;
		else
			print_answer(&a);
	}
	free(x.object);
	free(x.root);
	table_free(&t);
	return r;
}

int cmd_explain(const struct request *q, char **args, int n)
{
	struct err e = { 0 };
	struct image *im;
	char *path = NULL;
	uint32_t access;
	int r;

	if (n != 3)
		return usage("explain needs a FILE, an OP and a PATH");
	access = operation(args[1]);
	if (!access)
		return usage("explain: no operation is called %s", args[1]);
	if (!*args[2])
		return usage("explain: an empty PATH");
	if (request_load(q, args[0], &im) != DONE)
		return FAILED;
	if (asprintf(&path, "%s%s%s", *args[2] == '/' ? "" :
		     q->context.workspace, *args[2] == '/' ? "" : "/",
		     args[2]) < 0)
		r = err_sys(&e, -ENOMEM, "explain");
	else
		r = explain(im, args[1], access, path, q->json, &e);
	free(path);
	free(im);
	return r < 0 ? complain(&e) : r ? REFUSED : DONE;
}
