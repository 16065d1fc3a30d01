// SPDX-License-Identifier: GPL-2.0-only
/*
 * The second opinion: the policy compiled and resolved as lh-supervise does,
 * and decide.h's walk over the table, along the levels that the host saw.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../../policy-compiler/compile.h"
#include "../../../policy-compiler/explain.h"
#include "../../../policy-compiler/trail.h"
#include "executor.h"

static const char *const reasons[LH_WHY_COUNT] = {
	[LH_WHY_DENIED] = "denied", [LH_WHY_NOT_GRANTED] = "not_granted",
	[LH_WHY_READ_ONLY] = "read_only", [LH_WHY_PROTECTED] = "protected",
	[LH_WHY_PINNED] = "pinned", [LH_WHY_NO_EXEC] = "no_exec",
	[LH_WHY_PROCESS] = "process",
};

void executor_free(struct executor *x)
{
	if (x->t)
		table_free(x->t);
	if (x->context)
		context_free(x->context);
	free(x->t);
	free(x->im);
	free(x->context);
	*x = (struct executor){ 0 };
}

static int compile(struct executor *x, const char *file,
		   const char *workspace, uid_t uid)
{
	struct context_who who = {
		.workspace = workspace, .uid = uid, .invoker = uid,
		.env = environ,
	};
	struct context *c = calloc(1, sizeof(*c));
	struct compile_options o = { .context = c };
	struct diags d = { 0 };
	struct err e = { 0 };
	int fd, r;

	r = c ? context_init(c, &who, &e) : -ENOMEM;
	if (r) {
		free(c);
		return r;
	}
	x->context = c;
	fd = open(file, O_RDONLY | O_CLOEXEC);
	r = compile_fd(fd, file, NULL, &o, &x->im, &d);
	close(fd);
	if (r && getenv("VERBOSE"))
		diags_print(&d, stderr, "# ");
	diags_free(&d);
	return r;
}

int executor_compile(struct executor *x, const char *file,
		     const char *workspace, uid_t uid, const char *temp)
{
	struct resolve_options o = { .temp_dir = *temp ? temp : NULL };
	struct err e = { 0 };
	int r;

	executor_free(x);
	r = compile(x, file, workspace, uid);
	if (r)
		return r;
	x->t = calloc(1, sizeof(*x->t));
	r = x->t ? table_resolve(x->im, &o, x->t, &e) : -ENOMEM;
	if (!r)
		return 0;
	if (getenv("VERBOSE"))
		fprintf(stderr, "# %s\n", e.msg);
	free(x->t);
	x->t = NULL;
	return r;
}

static size_t object_of(const struct table *t, const struct id *id)
{
	size_t i;

	for (i = 0; id->ino && i < t->object_count; i++)
		if (t->objects[i].ino == id->ino &&
		    t->objects[i].dev == id->dev)
			return i;
	return TRAIL_NO_OBJECT;
}

static uint32_t access_of(unsigned int need)
{
	static const uint32_t bits[] = {
		LH_READ, LH_WRITE, LH_EXEC, LH_REMOVE, LH_MOVE, LH_BECOME,
		LH_STAT,
	};
	uint32_t access = 0;

	for (size_t i = 0; i < sizeof(bits) / sizeof(bits[0]); i++)
		if (need & (1u << i))
			access |= bits[i];
	return access;
}

const char *executor_judge(const struct executor *x, const struct spot *p,
			   unsigned int need, const char **rule)
{
	struct trail_step steps[LEVELS + 1];
	struct trail_result r;
	uint32_t access = access_of(need);

	for (unsigned int i = 0; i < p->count; i++)
		steps[i] = (struct trail_step){
			.name = p->level[i].name,
			.object = object_of(x->t, &p->level[i].id),
			.mounted = p->level[i].mounted,
			.aside = p->level[i].aside,
		};
	r = trail_walk(x->t, steps, p->count, access, false);
	/* As the kernel's judge: only what is denied is hidden. */
	if (access == LH_STAT && r.verdict.why != LH_WHY_DENIED)
		return NULL;
	*rule = table_rule(x->im, x->t, r.verdict.rule);
	if (r.verdict.why == LH_WHY_ALLOW && access == LH_EXEC &&
	    (x->im->flags & IMAGE_NO_EXEC)) {
		*rule = "default";
		return "no_exec";
	}
	if (r.verdict.why == LH_WHY_ALLOW)
		return NULL;
	return reasons[r.verdict.why] ? reasons[r.verdict.why] : "?";
}

const char *executor_explain(const struct executor *x, const char *op,
			     const char *path, const char *other,
			     const char **rule)
{
	static char told[TEXT];
	struct question q = {
		.op = operation_find(op), .object = path, .other = other,
	};
	struct err e = { 0 };
	struct answer a;
	const char *reason;

	if (!q.op || explain(x->im, x->t, &q, &a, &e)) {
		snprintf(told, sizeof(told), "%.500s", e.msg);
		*rule = told;
		return "error";
	}
	snprintf(told, sizeof(told), "%s", a.rule);
	reason = a.verdict == ANSWER_ALLOW ? NULL :
		a.verdict == ANSWER_DEPENDS ? "depends" :
		a.why < LH_WHY_COUNT && reasons[a.why] ? reasons[a.why] : "?";
	answer_free(&a);
	*rule = told;
	return reason;
}
