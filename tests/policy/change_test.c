// SPDX-License-Identifier: GPL-2.0-only
/*
 * What explain says would turn a verdict, made: over many random policies and
 * questions each change is written into the policy's own text, or given as the
 * flag, and asked again.
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../policy-compiler/change.h"
#include "draft.h"
#include "kselftest_harness.h"

#ifdef TEST_TIMEOUT_DEFAULT
#undef TEST_TIMEOUT_DEFAULT
#define TEST_TIMEOUT_DEFAULT 300
#endif

FIXTURE(change) {
	struct land land;
	size_t told, none;
};

FIXTURE_SETUP(change)
{
	memset(self, 0, sizeof(*self));
	ASSERT_EQ(0, land_make(&self->land));
}

FIXTURE_TEARDOWN(change)
{
	EXPECT_EQ(0, land_remove(&self->land));
}

static const char *const objects[] = {
	"ws", "ws/a", "ws/a/f", "ws/a/b", "ws/a/b/f", "ws/f", "ws/ro",
	"ws/ro/f", "ws/ro/d", "ws/ro/d/f", "ws/ro/new", "out", "out/f",
	"out/d", "out/d/f", "out/new", "out/a b", "out/no/such", "home",
	"home/.ssh", "home/.ssh/id", "home/x", "home/new", "home/go/f", "ws/l",
	"ws/la", "ws/la/f", "ws/ll", "ws/later", "ws/no/such", "ws/no/such/x",
	"ws/.git", "ws/.git/config", "ws/.git/hooks", "ws/.git/hooks/x",
	"ws/new/.git/hooks", "/", "/usr/bin/env", "/etc/passwd", "/etc/shadow",
	"/dev/null", "/dev/shm", "/dev/shm/lh-no-such", "/proc/1/environ",
	"/proc/self/status", "/proc/meminfo", "/tmp", NULL,
};

/* Compile, resolve and ask. 0, or negative errno where the policy is wrong. */
struct told {
	struct image *im;
	struct table t;
	struct answer a;
	struct err e;
};

static int tell(const char *text, const struct compile_options *o,
		const struct question *q, struct told *x)
{
	struct diags d = { 0 };
	int r;

	*x = (struct told){ 0 };
	r = compile_text(text, strlen(text), "t.json", "/", o, &x->im, &d);
	if (r && d.count)
		err_set(&x->e, r, "%s", d.list[0].text);
	diags_free(&d);
	if (!r)
		r = table_resolve(x->im, NULL, &x->t, &x->e);
	return r ? r : explain(x->im, &x->t, q, &x->a, &x->e);
}

static void told_free(struct told *x)
{
	answer_free(&x->a);
	table_free(&x->t);
	free(x->im);
}

static struct list *list_at(struct draft *d, const char *pointer, size_t len)
{
	size_t i;

	for (i = 0; i < LISTS; i++)
		if (strlen(d->list[i].pointer) == len &&
		    !strncmp(d->list[i].pointer, pointer, len))
			return &d->list[i];
	return NULL;
}

/* By hand, as who reads it would do: false if it cannot be done. */
static bool obey(struct draft *d, const struct change_step *step,
		 struct compile_options *o, const char **lifts)
{
	const char *slash;
	struct list *l;
	size_t i;

	switch (step->kind) {
	case CHANGE_LIFT:
		lifts[o->lift_count++] = step->value;
		o->lift = lifts;
		return true;
	case CHANGE_SET:
		d->level = step->value;
		return !strcmp(step->pointer, "/side_effect_level");
	case CHANGE_ADD:
		l = list_at(d, step->pointer, strlen(step->pointer));
		if (l)
			push(l, step->value);
		return l;
	default:
		slash = strrchr(step->pointer, '/');
		l = list_at(d, step->pointer, slash - step->pointer);
		i = strtoul(slash + 1, NULL, 10);
		if (!l || i >= l->count || !l->word[i])
			return false;
		l->word[i] = NULL;
		return true;
	}
}

static bool obey_flag(const struct change_step *step, struct compile_root *r)
{
	static const struct {
		const char *flag;
		enum policy_list list;
	} flags[] = {
		{ "--rw", LIST_WRITE }, { "--deny", LIST_DENY },
		{ "--sandbox-read-root", LIST_READ },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(flags); i++)
		if (step->flag && !strcmp(step->flag, flags[i].flag)) {
			*r = (struct compile_root){
				flags[i].list, step->flag_value, step->flag,
			};
			return true;
		}
	return false;
}

/* The policy with the steps of @mask: the verdict, or -1 if it is wrong. */
static int with_steps(struct land *s, const struct draft *from,
		      const struct question *q, const struct change *c,
		      unsigned int mask, bool by_flag)
{
	const char *lifts[CHANGE_STEPS_MAX];
	struct compile_root roots[CHANGE_STEPS_MAX];
	struct compile_options o = { .context = &s->c, .roots = roots };
	struct draft d = *from;
	struct told x;
	size_t i;
	int verdict;

	for (i = 0; i < c->count; i++) {
		if (!(mask & (1u << i)))
			continue;
		if (by_flag && obey_flag(&c->step[i], &roots[o.root_count])) {
			o.root_count++;
			continue;
		}
		if (!obey(&d, &c->step[i], &o, lifts))
			return -1;
	}
	verdict = tell(draft_text(s, &d), &o, q, &x) ? -1 : (int)x.a.verdict;
	told_free(&x);
	return verdict;
}

/* Nobody is told to open a home, or more. */
static bool is_modest(struct land *s, const struct change_step *step)
{
	if (step->kind != CHANGE_ADD || !step->flag ||
	    !strcmp(step->flag, "--deny"))
		return true;
	return !root_covers(step->flag_value, s->c.home);
}

static const char *question_text(struct land *s,
				 const struct question *q)
{
	return arena_print(&s->mem, "%s %s %s", q->op->name, q->object,
			   q->other ? q->other : "");
}

static void check_change(struct __test_metadata *_metadata,
			 struct land *s, const struct draft *d,
			 const struct question *q, const struct answer *a,
			 const struct change *c)
{
	const unsigned int all = (1u << c->count) - 1;
	int turned = a->verdict == ANSWER_ALLOW ? ANSWER_REFUSE : ANSWER_ALLOW;
	size_t i;

	EXPECT_EQ(turned, with_steps(s, d, q, c, all, false)) {
		TH_LOG("%s: %s\n%s", question_text(s, q), c->step[0].text,
		       draft_text(s, d));
	}
	for (i = 0; i < c->count; i++) {
		if (c->step[i].flag && c->step[i].pointer)
			EXPECT_EQ(turned, with_steps(s, d, q, c, all, true)) {
				TH_LOG("by flag: %s: %s\n%s",
				       question_text(s, q), c->step[i].text,
				       draft_text(s, d));
			}
		EXPECT_TRUE(is_modest(s, &c->step[i])) {
			TH_LOG("%s", c->step[i].text);
		}
		/* Each is needed. */
		if (c->count > 1)
			EXPECT_NE(turned, with_steps(s, d, q, c,
						     all & ~(1u << i), false)) {
				TH_LOG("%s without: %s",
				       question_text(s, q), c->step[i].text);
			}
	}
}

/* Where something can be done, it is told. */
static bool must_tell(struct land *s, const struct answer *a)
{
	bool simple = !a->other && !a->absent &&
		      !root_covers(a->object, s->c.home) &&
		      !strstr(a->object, "/.git");

	switch (a->why) {
	case LH_WHY_NO_EXEC:
		return true;
	case LH_WHY_READ_ONLY:
		return simple && a->access == LH_WRITE;
	case LH_WHY_DENIED:
		return simple && *a->rule == '/' && a->access == LH_READ;
	case LH_WHY_ALLOW:
		return a->root && strcmp(a->object, "/");
	case LH_WHY_NOT_GRANTED:
		return simple && (a->access == LH_READ ||
				  a->access == LH_WRITE);
	}
	return false;
}

static void try_one(struct __test_metadata *_metadata, struct land *s,
		    size_t *told, size_t *none)
{
	const struct compile_options o = { .context = &s->c };
	const struct resolve_options ro = { 0 };
	struct draft d = draft_random(s);
	struct question q = { 0 };
	struct change c = { 0 };
	struct err e = { 0 };
	struct told x;
	int i;

	if (tell(draft_text(s, &d), &o, &(struct question){
			operation_find("read"), "/", NULL }, &x)) {
		told_free(&x);
		return;		/* two of its roots do not go together */
	}
	for (i = 0; i < 6; i++) {
		do
			q.op = operation_number(dice(&s->seed, 13));
		while (!operation_is_on_file(q.op));
		q.object = at(s, any(&s->seed, objects));
		q.other = operation_takes_two(q.op) && dice(&s->seed, 2) ?
			at(s, any(&s->seed, objects)) : NULL;
		answer_free(&x.a);
		ASSERT_EQ(0, explain(x.im, &x.t, &q, &x.a, &x.e));
		ASSERT_EQ(0, change_find(x.im, &o, &ro, &q, &x.a, &c, &e));
		if (c.count) {
			check_change(_metadata, s, &d, &q, &x.a, &c);
			++*told;
		} else {
			EXPECT_NE(NULL, c.why);
			EXPECT_FALSE(must_tell(s, &x.a)) {
				TH_LOG("%s %s by %s: none: %s\n%s",
				       question_text(s, &q), x.a.code, x.a.rule,
				       c.why, draft_text(s, &d));
			}
			++*none;
		}
		change_free(&c);
	}
	told_free(&x);
}

TEST_F(change, what_is_told_to_turn_a_verdict_turns_it)
{
	int i;

	for (i = 0; i < 40; i++) {
		self->land.seed = i;
		try_one(_metadata, &self->land, &self->told, &self->none);
	}
	TH_LOG("%zu changes made, %zu times none was known", self->told,
	       self->none);
	EXPECT_GT(self->told, 100);
	EXPECT_GT(self->none, 10);
}

/* --- one by one */

static const char *first_step(struct land *s, const struct draft *d,
			      const char *op, const char *object)
{
	const struct compile_options o = { .context = &s->c };
	const struct resolve_options ro = { 0 };
	const struct question q = {
		operation_find(op), at(s, object), NULL,
	};
	struct change c = { 0 };
	const char *text = NULL;
	struct told x;

	if (!tell(draft_text(s, d), &o, &q, &x) &&
	    !change_find(x.im, &o, &ro, &q, &x.a, &c, &x.e))
		text = c.count == 1 ? c.step[0].text : c.count ? "many" :
			c.why;
	text = arena_print(&s->mem, "%s", text ? text : x.e.msg);
	change_free(&c);
	told_free(&x);
	return text;
}

static struct draft plain(struct land *s)
{
	struct draft d = draft_new();
	size_t i;

	push(&d.list[D_WS], at(s, "ws"));
	for (i = 0; caps[i]; i++)
		push(&d.list[D_CAPS], caps[i]);
	push(&d.list[D_PROCESS], "exec");
	return d;
}

#define TELLS(want, op, object, ...) do {				\
	const char *say = first_step(land, &d, op, object);		\
	EXPECT_STREQ(arena_print(&land->mem, want, ##__VA_ARGS__),	\
		     say);						\
} while (0)

TEST_F(change, says_as_little_as_will_do)
{
	struct land *land = &self->land;
	struct draft d = plain(land);
	const char *dir = land->dir;

	TELLS("add \"%s/out/f\" to /process_sandbox/write_roots, or --rw %s/out/f",
	      "write", "out/f", dir, dir);
	TELLS("add \"%s/out/a b\" to /process_sandbox/read_roots, or --sandbox-read-root '%s/out/a b'",
	      "read", "out/a b", dir, dir);
	TELLS("add \"%s/out\" to /process_sandbox/write_roots, or --rw %s/out",
	      "create", "out/new", dir, dir);
	TELLS("add \"%s/out\" to /process_sandbox/write_roots, or --rw %s/out",
	      "remove", "out/f", dir, dir);
	TELLS("add \"%s/home/x\" to /process_sandbox/write_roots, or --rw %s/home/x",
	      "write", "home/x", dir, dir);
	TELLS("it would have to open a home, or more: make a directory for it, and add that",
	      "create", "home/new");
	TELLS("it would open a home, or more: name what is needed in it",
	      "list", "home");
	TELLS("a root of the policy, and what it lies in, stays where it is",
	      "remove", "ws");
	TELLS("no policy opens it: it holds for every session", "read",
	      "/proc/1/environ");
	TELLS("add \"%s/ws/f\" to /process_sandbox/read_deny_roots, or --deny %s/ws/f",
	      "read", "ws/f", dir, dir);
	d.level = "read_only";
	TELLS("\"side_effect_level\": \"workspace_write\"", "write", "ws/f");
	TELLS("\"side_effect_level\": \"process_exec\"", "exec", "ws/f");
	d = plain(land);
	d.list[D_CAPS].count = 1;
	TELLS("add \"write_text\" to /capabilities/workspace", "create",
	      "ws/new");
	TELLS("add \"delete\" to /capabilities/workspace", "remove", "ws/f");
	d = plain(land);
	d.list[D_PROCESS].count = 0;
	TELLS("add \"exec\" to /capabilities/process", "exec", "ws/f");
	push(&d.list[D_RO], at(land, "ws/ro"));
	push(&d.list[D_DENY], at(land, "ws/a"));
	TELLS("take /read_only_roots/0 out of the policy (\"%s/ws/ro\")",
	      "write", "ws/ro/f", dir);
	TELLS("take /process_sandbox/read_deny_roots/0 out of the policy (\"%s/ws/a\")",
	      "stat", "ws/a/f", dir);
	TELLS("take /read_only_roots/0 out of the policy (\"%s/ws/ro\")",
	      "rename", "ws/ro", dir);
	TELLS("\"protect\": { \"exclude\": [\".git/config\"] }",
	      "write", "ws/.git/config");
	TELLS("many", "read", "home/.ssh/id");
}

TEST_HARNESS_MAIN
