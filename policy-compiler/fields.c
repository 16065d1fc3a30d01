// SPDX-License-Identifier: GPL-2.0-only
/*
 * How objects are taken by tables of fields. Nothing is skipped: a name is
 * taken, or it is an error that says what to write instead.
 */
#define _GNU_SOURCE
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "fields.h"
#include "suggest.h"

__attribute__((format(printf, 4, 0)))
static void error_at(struct reader *r, const struct json *v, bool key,
		     const char *fmt, va_list args)
{
	struct place at = json_place(r->doc, v, key);
	char *msg;

	if (vasprintf(&msg, fmt, args) < 0)
		msg = NULL;
	diag_error(r->d, &at, "%s", msg ? msg : "out of memory");
	free(msg);
}

void field_error(struct reader *r, const struct json *v, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	error_at(r, v, false, fmt, args);
	va_end(args);
}

__attribute__((format(printf, 3, 4)))
static void name_error(struct reader *r, const struct json *v,
		       const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	error_at(r, v, true, fmt, args);
	va_end(args);
}

/* The table, other than @t, that knows @name. */
static const struct field_table *elsewhere(const struct field_table *t,
					   const char *name)
{
	size_t i, k;

	for (i = 0; i < field_table_count; i++) {
		if (&field_tables[i] == t)
			continue;
		for (k = 0; k < field_tables[i].count; k++)
			if (!strcmp(field_tables[i].fields[k].name, name))
				return &field_tables[i];
	}
	return NULL;
}

/* Who wanted to deny must not be led to a grant. */
static bool means_deny(const struct json *v)
{
	return strcasestr(v->key, "deny") || strcasestr(v->key, "denied");
}

static void unknown(struct reader *r, const struct json *v,
		    const struct field_table *t)
{
	const struct field_table *other = elsewhere(t, v->key);
	const char *near = suggest(v->key, &t->fields->name,
				   sizeof(*t->fields), t->count);

	if (means_deny(v) && t != &field_tables[FIELDS_EGRESS] &&
	    (!other || other == &field_tables[FIELDS_EGRESS])) {
		name_error(r, v, "unknown field%s; files are denied by "
			   "\"read_deny_roots\" inside process_sandbox, "
			   "destinations by \"deny\" inside egress",
			   other ? " here" : "");
		if (t == &field_tables[FIELDS_SANDBOX])
			diag_instead(r->d, "read_deny_roots");
		return;
	}
	if (other)
		name_error(r, v, "unknown field here; it belongs %s%s",
			   *other->pointer ? "inside " : "at the top level",
			   *other->pointer ? other->pointer + 1 : "");
	else if (near)
		name_error(r, v, "unknown field; did you mean \"%s\"?", near);
	else
		name_error(r, v, "unknown field");
	if (!other)
		diag_instead(r->d, near);
}

/* "a string or a list" of the bits in @types. */
static void types_text(unsigned int types, char *out, size_t size)
{
	const char *sep = "";
	unsigned int t;

	*out = 0;
	for (t = JSON_NULL; t <= JSON_OBJECT; t++) {
		if (!(types & IS(t)))
			continue;
		strncat(out, sep, size - strlen(out) - 1);
		strncat(out, json_type_name(t), size - strlen(out) - 1);
		sep = " or ";
	}
}

static void field_take(struct reader *r, const struct json *v,
		       const struct field *f)
{
	char types[64];

	if (f->types & IS(v->type)) {
		f->take(r, v);
		return;
	}
	types_text(f->types, types, sizeof(types));
	field_error(r, v, "must be %s, not %s", types,
		    json_type_name(v->type));
}

void fields_take(struct reader *r, const struct json *v, enum fields table)
{
	const struct field_table *t = &field_tables[table];
	const struct json *m;
	size_t i;

	for (m = v->first; m; m = m->next) {
		for (i = 0; i < t->count; i++)
			if (!strcmp(t->fields[i].name, m->key))
				break;
		if (i < t->count)
			field_take(r, m, &t->fields[i]);
		else
			unknown(r, m, t);
	}
}

void field_said(struct reader *r, enum policy_said what, const struct json *v)
{
	r->p->said[what] = json_place(r->doc, v, false);
}

const char *field_path(struct reader *r, const struct json *v,
		       const char *text)
{
	const char *why = "not looked at, after so many errors", *path = NULL;

	/* Each ~user is a question to the host, which may ask a network. */
	if (*text != '~' || r->d->errors < DIAGS_MAX)
		path = root_expand(&r->p->mem, r->c, r->base, text, &why);
	if (!path)
		field_error(r, v, "%s", why);
	return path;
}

void field_strings(struct reader *r, const struct json *v,
		   void (*each)(struct reader *r, const struct json *s,
				void *arg), void *arg)
{
	const struct json *s;

	for (s = v->first; s; s = s->next) {
		if (s->type == JSON_STRING)
			each(r, s, arg);
		else
			field_error(r, s, "must be a string, not %s",
				    json_type_name(s->type));
	}
}

int field_word(struct reader *r, const struct json *v, const void *first,
	       size_t stride)
{
	const char *near, *word;
	char all[160] = "";
	size_t i;

	for (i = 0;; i++) {
		word = *(const char *const *)((const char *)first +
					      i * stride);
		if (!word)
			break;
		if (!strcmp(word, v->text))
			return i;
		strncat(all, i ? ", " : "", sizeof(all) - strlen(all) - 1);
		strncat(all, word, sizeof(all) - strlen(all) - 1);
	}
	near = suggest(v->text, first, stride, i);
	if (near)
		field_error(r, v, "unknown word \"%.64s\"; did you mean "
			    "\"%s\"?", v->text, near);
	else
		field_error(r, v, "unknown word \"%.64s\"; there %s %s",
			    v->text, i > 1 ? "are" : "is only", all);
	diag_instead(r->d, near);
	return -1;
}
