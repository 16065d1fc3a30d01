// SPDX-License-Identifier: GPL-2.0-only
/*
 * A policy's head: what it is called, how strict it is, how far it goes.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <string.h>

#include "data.h"
#include "take.h"

void take_any(struct reader *r, const struct json *v)
{
	(void)r;
	(void)v;
}

void take_version(struct reader *r, const struct json *v)
{
	if (strcmp(v->text, "1"))
		field_error(r, v, "this build reads version 1, not %.32s",
			    v->text);
}

void take_name(struct reader *r, const struct json *v)
{
	static const char ok[] = "abcdefghijklmnopqrstuvwxyz"
		"ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
	size_t len = strlen(v->text);

	if (!len || len > POLICY_NAME_MAX || strspn(v->text, ok) != len)
		field_error(r, v, "a name is 1 to 64 letters, digits, "
			    "\".\", \"_\" and \"-\"");
	else
		r->p->name = v->text;
}

/* It is printed raw by `show`; below 0x20, JSON has escapes that stay. */
void take_description(struct reader *r, const struct json *v)
{
	size_t len = strlen(v->text), i, n;
	uint32_t rune;

	for (i = 0; i < len; i += n) {
		n = err_utf8(v->text + i, len - i, &rune);
		if (!n || (rune >= 0x7f && rune < 0xa0)) {
			field_error(r, v, "a control character");
			return;
		}
	}
	r->p->description = v->text;
}

void take_profile(struct reader *r, const struct json *v)
{
	int i = field_word(r, v, profile_names, sizeof(char *));
	const char *at = NULL;
	struct data_entry e;

	if (i < 0)
		return;
	field_said(r, SAID_PROFILE, v);
	while (data_next(DATA_PROFILES, &at, &e))
		if (data_is(e.path, v->text) && data_has(&e, "accept")) {
			r->p->profile = i;
			return;
		} else if (data_is(e.path, v->text)) {
			field_error(r, v, "%s %.*s; use os_hardened or "
				    "worktree", v->text, e.reason.len,
				    e.reason.s);
			return;
		}
	field_error(r, v, "this build does not have %s", v->text);
}

void take_level(struct reader *r, const struct json *v)
{
	int i = field_word(r, v, level_names, sizeof(char *));

	field_said(r, SAID_LEVEL, v);
	if (i >= 0)
		r->p->level = i;
}

struct bits {
	const struct word_bit *words;
	uint32_t *out;
};

static void take_bit(struct reader *r, const struct json *s, void *arg)
{
	struct bits *b = arg;
	int i = field_word(r, s, &b->words->word, sizeof(*b->words));

	if (i >= 0)
		*b->out |= b->words[i].bit;
}

void take_workspace_caps(struct reader *r, const struct json *v)
{
	struct bits b = { workspace_caps, &r->p->caps };

	field_strings(r, v, take_bit, &b);
}

void take_process_caps(struct reader *r, const struct json *v)
{
	struct bits b = { process_caps, &r->p->caps };

	field_strings(r, v, take_bit, &b);
}

void take_presets(struct reader *r, const struct json *v)
{
	struct bits b = { presets, &r->p->presets };

	field_said(r, SAID_PRESETS, v);
	if (v->type == JSON_NULL)
		return;
	r->p->presets = 0;
	field_strings(r, v, take_bit, &b);
}

void take_mode(struct reader *r, const struct json *v)
{
	int i = field_word(r, v, mode_names, sizeof(char *));

	field_said(r, SAID_MODE, v);
	if (i >= 0)
		r->p->mode = i;
}

void take_on_loss(struct reader *r, const struct json *v)
{
	int i = field_word(r, v, on_loss_names, sizeof(char *));

	if (i >= 0)
		r->p->on_loss = i;
}

static const struct json *member(const struct json *v, const char *key)
{
	const struct json *m;

	for (m = v->first; m; m = m->next)
		if (!strcmp(m->key, key))
			return m;
	return NULL;
}

int policy_read(struct json_doc *doc, const struct context *c,
		const char *base, struct policy *p, struct diags *d)
{
	struct reader r = { doc, p, c, base, d };
	const struct json *form = member(doc->root, "policy");
	struct place at = json_place(doc, doc->root, false);

	if (form)
		permissions_begin(&r, doc->root, form);
	else if (!member(doc->root, "version"))
		diag_error(d, &at, "no version; write \"version\": 1");
	fields_take(&r, doc->root, FIELDS_TOP);
	if (form)
		permissions_end(&r);
	return d->errors ? -EINVAL : 0;
}
