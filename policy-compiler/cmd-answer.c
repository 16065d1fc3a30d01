// SPDX-License-Identifier: GPL-2.0-only
/*
 * What `explain` and `test` print of an answer. Paths may hold any bytes, so
 * all of it is escaped.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd-answer.h"

/* Where the policy itself lies; a name is none of a session's files. */
static int policy_file(const char *arg, char **file)
{
	char *dir = NULL;

	*file = NULL;
	if (!strcmp(arg, "-") || policy_is_name(arg))
		return 0;
	if (*arg == '/') {
		*file = strdup(arg);
	} else {
		dir = getcwd(NULL, 0);
		if (!dir || asprintf(file, "%s/%s", dir, arg) < 0)
			*file = NULL;
	}
	free(dir);
	return *file ? 0 : -ENOMEM;
}

int asking_begin(const struct request *q, const char *policy,
		 struct asking *k)
{
	struct err e = { 0 };

	*k = (struct asking){ .o = request_options(q) };
	k->o.lenient = true;
	if (request_load(q, policy, &k->im) != DONE)
		return FAILED;
	if (policy_file(policy, &k->file))
		err_sys(&e, -ENOMEM, "%s", policy);
	k->ro.policy_file = k->file;
	if (!e.num && !table_resolve(k->im, &k->ro, &k->t, &e))
		return DONE;
	complain(&e);
	asking_end(k);
	return FAILED;
}

void asking_end(struct asking *k)
{
	table_free(&k->t);
	free(k->im);
	free(k->file);
	*k = (struct asking){ 0 };
}

const char *answer_word(const struct answer *a)
{
	return a->verdict == ANSWER_ALLOW ? "allow" :
		a->verdict == ANSWER_REFUSE ? "refuse" : "depends";
}

static char *escaped(const char *value)
{
	size_t len = strlen(value), size = 4 * len + 1;
	char *text = malloc(size);

	if (text)
		err_escape(text, size, value, len);
	return text;
}

static void print_line(const char *label, const char *value)
{
	char *text = escaped(value);

	if (text)
		printf("  %-7s %s\n", label, text);
	free(text);
}

static void print_link(const struct answer_link *l)
{
	char *path = escaped(l->path), *target = escaped(l->target);

	if (path && target)
		printf("  %-7s %s -> %s\n", "link", path, target);
	free(path);
	free(target);
}

void answer_print(const struct question *q, const struct answer *a,
		  const struct change *c)
{
	size_t i;

	printf("%s %s\n", answer_word(a), q->op->name);
	print_line("path", q->object);
	if (q->other)
		print_line("to", q->other);
	for (i = 0; i < a->link_count; i++)
		print_link(&a->links[i]);
	if (strcmp(a->object, q->object))
		print_line("object", a->object);
	if (a->other && strcmp(a->other, q->other))
		print_line("object", a->other);
	for (i = 0; a->notes[i]; i++)
		print_line("note", a->notes[i]);
	if (a->second)
		print_line("note", "the new name is what decides");
	print_line("rule", a->rule);
	if (a->root)
		print_line("root", a->root);
	print_line("reason", a->text);
	for (i = 0; c && i < c->count; i++)
		print_line(i ? "and" : "change", c->step[i].text);
	if (c && !c->count && c->why)
		print_line("change", c->why);
}

void put_word(yajl_gen g, const char *value)
{
	char *text = value ? escaped(value) : NULL;

	if (text)
		yajl_gen_string(g, (unsigned char *)text, strlen(text));
	else
		yajl_gen_null(g);
	free(text);
}

void put_member(yajl_gen g, const char *key, const char *value)
{
	yajl_gen_string(g, (const unsigned char *)key, strlen(key));
	put_word(g, value);
}

static void put_list(yajl_gen g, const char *key)
{
	yajl_gen_string(g, (const unsigned char *)key, strlen(key));
	yajl_gen_array_open(g);
}

static void put_change(yajl_gen g, const struct change *c)
{
	static const char *const kinds[] = {
		[CHANGE_ADD] = "add", [CHANGE_TAKE] = "take_out",
		[CHANGE_SET] = "set", [CHANGE_LIFT] = "operator",
	};
	size_t i;

	yajl_gen_string(g, (const unsigned char *)"change", 6);
	yajl_gen_map_open(g);
	put_list(g, "steps");
	for (i = 0; i < c->count; i++) {
		const struct change_step *s = &c->step[i];

		yajl_gen_map_open(g);
		put_member(g, "do", kinds[s->kind]);
		put_member(g, "pointer", s->pointer);
		put_member(g, "value", s->value);
		put_list(g, "flag");
		if (s->flag) {
			put_word(g, s->flag);
			put_word(g, s->flag_value);
		}
		yajl_gen_array_close(g);
		put_member(g, "text", s->text);
		yajl_gen_map_close(g);
	}
	yajl_gen_array_close(g);
	put_member(g, "why_none", c->count ? NULL : c->why);
	yajl_gen_map_close(g);
}

void answer_put(yajl_gen g, const struct question *q, const struct answer *a,
		const struct change *c)
{
	size_t i;

	put_member(g, "verdict", answer_word(a));
	put_member(g, "operation", q->op->name);
	put_member(g, "path", q->object);
	put_member(g, "other_path", q->other);
	put_member(g, "object", a->object);
	put_member(g, "other_object", a->other);
	put_list(g, "links");
	for (i = 0; i < a->link_count; i++) {
		yajl_gen_map_open(g);
		put_member(g, "link", a->links[i].path);
		put_member(g, "target", a->links[i].target);
		yajl_gen_map_close(g);
	}
	yajl_gen_array_close(g);
	put_member(g, "decided_by", a->second ? "other_path" : "path");
	put_member(g, "rule", a->rule);
	put_member(g, "root", a->root);
	put_member(g, "reason", a->code);
	put_member(g, "reason_text", a->text);
	put_list(g, "notes");
	for (i = 0; a->notes[i]; i++)
		put_word(g, a->notes[i]);
	yajl_gen_array_close(g);
	yajl_gen_string(g, (const unsigned char *)"absent", 6);
	yajl_gen_bool(g, a->absent);
	if (c)
		put_change(g, c);
}
