// SPDX-License-Identifier: GPL-2.0-only
/*
 * A change is tried before it is told: the policy that the image holds, with
 * the steps so far, is compiled, resolved and asked again, until the answer
 * turns or no step is left.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "edit.h"
#include "remedy.h"

static int edit(struct json_doc *doc, const struct change *c)
{
	struct json *set = edit_find(doc, "/environment/set");
	size_t i;
	int r = 0;

	if (set)
		edit_remove(set);
	for (i = 0; i < c->count && !r; i++) {
		const struct change_step *s = &c->step[i];
		struct json *v;

		if (s->kind == CHANGE_ADD)
			r = edit_add(doc, s->pointer, s->value);
		else if (s->kind == CHANGE_SET)
			r = edit_set(doc, s->pointer, s->value);
		if (s->kind != CHANGE_TAKE)
			continue;
		v = edit_find_read(doc, s->pointer);
		if (!v || !v->parent)
			return -ENOENT;
		edit_remove(v);
	}
	return r;
}

static int edited(const char *text, size_t len, const struct change *c,
		  struct json_doc *doc, struct err *e)
{
	struct diags d = { 0 };
	int r = json_parse(text, len, "the policy", doc, &d);

	if (r)
		err_set(e, r, "%s", d.count ? d.list[0].text : "no policy");
	else if ((r = edit(doc, c)))
		err_sys(e, r, "the policy");
	diags_free(&d);
	return r;
}

int change_apply(const char *text, size_t len, const struct change *c,
		 char **out, size_t *out_len, struct err *e)
{
	struct json_doc doc = { 0 };
	int r = edited(text, len, c, &doc, e);

	if (!r) {
		*out = edit_text(&doc, out_len);
		if (!*out)
			r = err_sys(e, -ENOMEM, "the policy");
	}
	json_free(&doc);
	return r;
}

static void set_lifts(const struct change *c, struct compile_options *o,
		      const char **all)
{
	size_t i;

	if (o->lift_count)
		memcpy(all, o->lift, o->lift_count * sizeof(*all));
	for (i = 0; i < c->count; i++)
		if (c->step[i].kind == CHANGE_LIFT)
			all[o->lift_count++] = c->step[i].value;
	o->lift = all;
}

static void forget(struct remedy *f)
{
	answer_free(&f->a);
	json_free(&f->doc);
	free(f->im);
	f->im = NULL;
}

/* Compile the policy with the steps so far, and ask again. */
static int ask_again(struct remedy *f, struct err *e)
{
	/* What flags added stands in the image's policy already. */
	struct compile_options o = {
		.lenient = true,
		.context = f->o->context, .ceiling = f->o->ceiling,
		.ceiling_len = f->o->ceiling_len,
		.ceiling_file = f->o->ceiling_file,
		.lift = f->o->lift, .lift_count = f->o->lift_count,
	};
	const char **lifts = calloc(o.lift_count + CHANGE_STEPS_MAX,
				    sizeof(*lifts));
	struct image *im = NULL;
	struct diags d = { 0 };
	struct table t = { 0 };
	char *text = NULL;
	size_t len;
	int r;

	forget(f);
	if (!lifts)
		return err_sys(e, -ENOMEM, "the policy");
	set_lifts(f->c, &o, lifts);
	r = edited(f->policy, f->len, f->c, &f->doc, e);
	text = r ? NULL : edit_text(&f->doc, &len);
	if (!r && !text)
		r = err_sys(e, -ENOMEM, "the policy");
	if (!r && (r = compile_text(text, len, "the policy", "/", &o, &im, &d)))
		err_set(e, r, "%s", d.count ? d.list[0].text : "no policy");
	if (!r)
		r = table_resolve(im, f->ro, &t, e);
	if (!r)
		r = explain(im, &t, f->q, &f->a, e);
	f->im = im;
	table_free(&t);
	diags_free(&d);
	free(text);
	free(lifts);
	return r;
}

/* A step that was a detour is left out again. */
static void shorten(struct remedy *f, enum answer_verdict turned)
{
	struct change_step *step = f->c->step;
	size_t i = 0;

	while (f->c->count > 1 && i < f->c->count) {
		struct change_step out = step[i];
		size_t after = f->c->count - i - 1;
		struct err e = { 0 };

		memmove(&step[i], &step[i + 1], after * sizeof(*step));
		f->c->count--;
		if (!ask_again(f, &e) && f->a.verdict == turned)
			continue;
		memmove(&step[i + 1], &step[i], after * sizeof(*step));
		step[i++] = out;
		f->c->count++;
	}
}

static int search(struct remedy *f, const struct answer *was)
{
	struct err why = { 0 };
	char *text;
	int r;

	f->c->count = 0;
	f->c->why = NULL;
	for (;;) {
		r = ask_again(f, &why);
		if (r) {
			text = arena_print(&f->c->mem, "%s%s", f->c->count ?
					   "the policy would be wrong with "
					   "what opens it: " : "", why.msg);
			return text ? remedy_none(f, text) : -ENOMEM;
		}
		if (!f->c->count && (f->a.why != was->why ||
				     f->a.verdict != was->verdict))
			return remedy_none(f, "the image was made where other things "
				    "are denied: ask with its policy");
		if (f->c->count && f->a.verdict == ANSWER_DEPENDS)
			return remedy_none(f, "it depends on the session");
		if (f->c->count && f->a.verdict != was->verdict) {
			shorten(f, f->a.verdict);
			return 1;
		}
		if (f->c->count == CHANGE_STEPS_MAX)
			return remedy_none(f, "more than a few changes are needed");
		r = remedy_propose(f);
		if (r <= 0)
			return r;
	}
}

/* Of what only the session knows the policy may still say more. */
static const char *depends_why(const struct question *q)
{
	static const char local[] = "unix:";
	const char *path = q->object + sizeof(local) - 1;

	if (q->op->kind != OPERATION_CONNECT)
		return "no policy decides it";
	if (strncmp(q->object, local, sizeof(local) - 1))
		return "its port in /process_sandbox/loopback_ports opens "
		       "what the host has there, too";
	return *path == '/' ? "a root at or above it in "
		"/process_sandbox/unix_socket_roots opens what the host has "
		"there, too" : "no policy decides it";
}

int change_find(const struct image *im, const struct compile_options *o,
		const struct resolve_options *ro, const struct question *q,
		const struct answer *a, struct change *c, struct err *e)
{
	struct change other = { 0 };
	struct remedy f = {
		.o = o, .ro = ro, .q = q, .c = c, .rule = a->rule,
		.policy = (const char *)im + im->policy.offset,
		.len = im->policy.count,
	};
	int r;

	*c = (struct change){ 0 };
	if (a->verdict == ANSWER_DEPENDS) {
		c->why = depends_why(q);
		return 0;
	}
	r = search(&f, a);
	if (r <= 0)
		c->count = 0;
	/* In a read-only root a root of its own may do with less. */
	if (r >= 0 && a->why == LH_WHY_READ_ONLY && c->count != 1) {
		f.deeper = true;
		f.c = &other;
		r = search(&f, a);
		if (r > 0 && (!c->count || other.count < c->count)) {
			change_free(c);
			*c = other;
			other = (struct change){ 0 };
		}
	}
	change_free(&other);
	forget(&f);
	return r < 0 ? err_sys(e, r, "what would change it") : 0;
}

void change_free(struct change *c)
{
	arena_free(&c->mem);
	*c = (struct change){ 0 };
}
