// SPDX-License-Identifier: GPL-2.0-only
/*
 * The three verdicts of one call, and what is said when they differ.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calls.h"

/* Reason, or NULL for yes; of the first question that is refused. */
struct verdict {
	const char *reason, *rule;
	int ask;
};

typedef const char *judge_fn(const struct game *g, const struct spot *p,
			     unsigned int need, const char **rule);

static const char *library(const struct game *g, const struct spot *p,
			   unsigned int need, const char **rule)
{
	return executor_judge(&g->library, p, need, rule);
}

static const char *reference(const struct game *g, const struct spot *p,
			     unsigned int need, const char **rule)
{
	(void)rule;
	return reference_judge(g, p, need);
}

static struct verdict judge(const struct game *g, const struct call *c,
			    judge_fn *by)
{
	struct verdict v = { 0 };
	const char *other;

	for (v.ask = 0; v.ask < c->asks; v.ask++) {
		const struct ask *k = &c->ask[v.ask];
		unsigned int need = k->need, one;

		/* What it gains there; no use that the session has not. */
		for (one = 1; k->gains && one <= need; one <<= 1)
			if ((need & one) && (by(g, k->other, one, &other) ||
					     !by(g, k->p, one, &other)))
				need &= ~one;
		v.rule = "default";
		if (need)
			v.reason = k->reason ? k->reason :
				by(g, k->p, need, &v.rule);
		if (v.reason)
			return v;
	}
	return v;
}

static void describe(const struct call *c, char *out, size_t size)
{
	snprintf(out, size, "%c %s%s%s %s", c->letter, c->a, *c->b ? " " : "",
		 c->b, c->c);
}

static const char *word(const char *reason)
{
	return reason ? reason : "allow";
}

static void differ(struct game *g, const struct call *c, int want, int err,
		   const struct verdict *lib, const struct verdict *ref)
{
	char text[3 * TEXT];

	describe(c, text, sizeof(text));
	fail(g, "call %lu: %s", g->ops, text);
	fprintf(stderr, "#   kernel    %s, where %s was expected\n",
		err ? err < 0 ? "no answer" : strerrorname_np(err) : "ok",
		want ? strerrorname_np(want) : "ok");
	fprintf(stderr, "#   decide.h  %s by %s, question %d of %d\n",
		word(lib->reason), lib->rule ? lib->rule : "-", lib->ask,
		c->asks);
	fprintf(stderr, "#   reference %s, question %d\n", word(ref->reason),
		ref->ask);
	for (int i = 0; i < c->asks; i++) {
		const struct spot *p = c->ask[i].p;

		fprintf(stderr, "#   asked %s 0x%x of %s%s\n",
			c->ask[i].operation, c->ask[i].need, p->path,
			p->there ? "" : " (absent)");
		for (unsigned int k = 0; k < p->count; k++)
			fprintf(stderr, "#     %lu %s below=%s%s%s\n",
				(unsigned long)p->level[k].id.ino,
				p->level[k].name, p->level[k].below,
				p->level[k].aside ? " aside" : "",
				p->level[k].mounted ? " mounted" : "");
	}
}

static void expect(struct game *g, const struct call *c,
		   const struct verdict *v)
{
	const struct ask *k = &c->ask[v->ask];
	struct expected e = { .operation = k->operation, .reason = v->reason,
			      .unnamed = k->unnamed };

	snprintf(e.rule, sizeof(e.rule), "%s", v->rule);
	snprintf(e.path, sizeof(e.path), "%s", k->p->path);
	if (k->other && !k->other_unnamed)
		snprintf(e.other, sizeof(e.other), "%s", k->other->path);
	describe(c, e.call, sizeof(e.call));
	told_expect(g, &e);
}

static bool has_mount(const struct spot *p)
{
	for (unsigned int i = 0; i < p->count; i++)
		if (p->level[i].mounted)
			return true;
	return false;
}

/* Of a temporary directory explain cannot say whose it will be. */
static bool in_temp(const struct call *c)
{
	for (int i = 0; i < c->asks; i++)
		if (!strncmp(c->ask[i].p->path, "/tmp/lh-", 8))
			return true;
	return false;
}

/* `lh-policy explain` answers as the kernel does; bind mounts aside. */
static void explained(struct game *g, const struct call *c,
		      const struct verdict *v)
{
	const char *reason, *rule;
	char text[3 * TEXT];

	if (!c->explain || roll(g, 6))
		return;
	for (int i = 0; i < c->asks; i++)
		if (has_mount(c->ask[i].p) ||
		    mount_at(g, c->ask[i].p->path) >= 0)
			return;
	reason = executor_explain(&g->library, c->explain, c->ask[0].p->path,
				  c->asks > 1 ? c->ask[1].p->path : NULL,
				  &rule);
	if (reason && !strcmp(reason, "depends") && in_temp(c))
		return;
	if (!strcmp(word(reason), word(v->reason)) &&
	    (!reason || !strcmp(reason, "no_exec") || !strcmp(rule, v->rule)))
		return;
	describe(c, text, sizeof(text));
	fail(g, "call %lu: %s", g->ops, text);
	fprintf(stderr, "#   kernel, decide.h: %s by %s\n"
		"#   explain %s: %s by %s\n", word(v->reason),
		v->rule ? v->rule : "-", c->explain, word(reason), rule);
}

static bool is_hidden(const struct call *c)
{
	return c->place[0].hidden || c->place[1].hidden || c->place[2].hidden;
}

void call_random(struct game *g)
{
	struct call *c = calloc(1, sizeof(*c));
	struct verdict lib = { 0 }, ref = { 0 };
	int want, err;
	char letter[2] = "";

	call_plan(g, c);
	if (is_hidden(c)) {
		g->skipped++;
		free(c);
		return;
	}
	want = c->pre;
	if (!want) {
		lib = judge(g, c, library);
		ref = judge(g, c, reference);
		want = lib.reason ? EACCES : c->middle ? c->middle : c->post;
	}
	if (!c->pre && !lib.reason == !ref.reason)
		explained(g, c, &lib);
	letter[0] = c->letter;
	err = g->dry && lib.reason ? EACCES :
		ask(&g->s, "random", letter, c->a, c->b, c->c);
	g->ops++;
	if (err != want || !lib.reason != !ref.reason)
		differ(g, c, want, err, &lib, &ref);
	if (c->slot >= 0)
		g->slot[c->slot] = err ? -1 : g->s.reply.value;
	g->refused += !!lib.reason;
	g->ordinary += !lib.reason && want;
	g->allowed += !lib.reason && !want;
	if (lib.reason && !g->dry)
		expect(g, c, &lib);
	free(c);
}
