// SPDX-License-Identifier: GPL-2.0-only
/*
 * The environment: what passes, what is set, and files of settings.
 */
#define _GNU_SOURCE
#include <string.h>

#include "take.h"

void take_env_mode(struct reader *r, const struct json *v)
{
	int i = field_word(r, v, env_mode_names, sizeof(char *));

	if (i >= 0)
		r->p->env_mode = i;
}

static void take_variable(struct reader *r, const struct json *v,
			  const char *name, const char *value)
{
	struct place at = json_place(r->doc, v, value != NULL);
	size_t i;

	for (i = 0; i < r->p->env_count; i++)
		if (!strcmp(r->p->env[i].name, name)) {
			field_error(r, v, "%s is named twice", name);
			return;
		}
	policy_set_env(r->p, name, value, &at, r->d);
}

static void take_pass(struct reader *r, const struct json *s, void *arg)
{
	(void)arg;
	take_variable(r, s, s->text, NULL);
}

void take_passes(struct reader *r, const struct json *v)
{
	field_strings(r, v, take_pass, NULL);
}

/* What `show` prints; policy_check() refuses it unless a flag gave a value. */
static void take_withheld(struct reader *r, const struct json *v)
{
	size_t n = r->p->env_count;

	take_variable(r, v, v->key, "");
	if (r->p->env_count > n)
		r->p->env[n].withheld = true;
}

void take_set(struct reader *r, const struct json *v)
{
	const struct json *m;

	for (m = v->first; m; m = m->next) {
		if (m->type == JSON_STRING)
			take_variable(r, m, m->key, m->text);
		else if (m->type == JSON_NULL)
			take_withheld(r, m);
		else
			field_error(r, m, "must be a string, not %s",
				    json_type_name(m->type));
	}
}


static void take_env_file(struct reader *r, const struct json *s, void *arg)
{
	struct place at = json_place(r->doc, s, false);
	const char *path = field_path(r, s, s->text);

	(void)arg;
	if (path)
		policy_add_env_file(r->p, path, &at, r->d);
}

void take_env_files(struct reader *r, const struct json *v)
{
	field_strings(r, v, take_env_file, NULL);
}
