// SPDX-License-Identifier: GPL-2.0-only
/*
 * The schema and the compiler know the same names: each object of the language
 * has in the schema exactly the properties that its table of fields has, and
 * each word of the language stands in an enum. So neither can run ahead.
 */
#include <stdlib.h>
#include <string.h>

#include "compile_test.h"
#include "../../policy-compiler/data.h"
#include "../../policy-compiler/fields.h"

#include "kselftest_harness.h"

FIXTURE(schema) {
	struct json_doc doc;
};

FIXTURE_SETUP(schema)
{
	struct diags d = { 0 };
	const char *text;
	size_t len;

	text = policy_schema(&len);
	ASSERT_EQ(0, json_parse(text, len, "schema", &self->doc, &d));
	ASSERT_EQ(0, d.errors);
	diags_free(&d);
}

FIXTURE_TEARDOWN(schema)
{
	json_free(&self->doc);
}

static const struct json *member(const struct json *v, const char *name)
{
	const struct json *m;

	for (m = v ? v->first : NULL; m; m = m->next)
		if (m->key && !strcmp(m->key, name))
			return m;
	return NULL;
}

/* Follow "a/b/c" from @v, and each $ref that is met. */
static const struct json *follow(const struct json_doc *doc,
				 const struct json *v, const char *path)
{
	const struct json *ref;
	char name[64];

	while (v && ((ref = member(v, "$ref")) || *path)) {
		if (ref && !strncmp(ref->text, "#/", 2)) {
			v = follow(doc, doc->root, ref->text + 2);
			continue;
		}
		path += *path == '/';
		snprintf(name, sizeof(name), "%.*s",
			 (int)strcspn(path, "/"), path);
		v = member(v, name);
		path += strlen(name);
	}
	return v;
}

/* The properties of the object that "/a/b" points to in a policy. */
static const struct json *properties(const struct json_doc *doc,
				     const char *form, const char *pointer)
{
	char path[64], *slash;
	const struct json *v;

	snprintf(path, sizeof(path), "$defs/%s", form);
	v = follow(doc, doc->root, path);
	snprintf(path, sizeof(path), "%s", pointer);
	for (slash = path; v && *slash; ) {
		size_t n = strcspn(++slash, "/");
		char last = slash[n];

		slash[n] = 0;
		v = strcmp(slash, "*") ?
			follow(doc, follow(doc, v, "properties"), slash) :
			follow(doc, v, "items");
		v = follow(doc, v, "");
		slash[n] = last;
		slash += n;
	}
	return follow(doc, v, "properties");
}

static bool has_field(const struct field_table *t, const char *name)
{
	size_t i;

	for (i = 0; i < t->count; i++)
		if (!strcmp(t->fields[i].name, name))
			return true;
	return false;
}

/* Does the compiler refuse @name, inside of @object, beside "policy"? */
static bool is_of_long_form(const char *object, const char *name)
{
	char text[256], *said;
	bool yes;

	snprintf(text, sizeof(text), "{\"policy\":{}%s%s%s,\"%s\":0%s}",
		 *object ? ",\"" : "", object, *object ? "\":{\"x\":0" : "",
		 name, *object ? "}" : "");
	free(compile_here(text, NULL, &said));
	yes = strstr(said, "\"policy\" says this already");
	free(said);
	return yes;
}

/* The fields of table @t that @form has, by what the compiler says of them. */
static bool is_in(const char *form, const struct field_table *t,
		  const char *name)
{
	const char *object = *t->pointer ? t->pointer + 1 : "";

	if (!has_field(t, name))
		return false;
	if (!strcmp(form, "full"))
		return strcmp(name, "policy");
	return (*object && strcmp(object, "process_sandbox")) ||
	       !is_of_long_form(object, name);
}

static size_t differ_names(struct json_doc *doc, const char *form,
			   const struct field_table *t)
{
	const struct json *p = properties(doc, form, t->pointer), *m;
	size_t bad = !p, i;

	for (i = 0; p && i < t->count; i++)
		if (is_in(form, t, t->fields[i].name) !=
		    !!member(p, t->fields[i].name)) {
			printf("# %s%s/%s\n", form, t->pointer,
			       t->fields[i].name);
			bad++;
		}
	for (m = p ? p->first : NULL; m; m = m->next)
		if (!has_field(t, m->key)) {
			printf("# %s%s/%s is unknown\n", form, t->pointer,
			       m->key);
			bad++;
		}
	return bad;
}

TEST_F(schema, names_what_the_compiler_takes_and_no_more)
{
	const struct field_table *t;
	bool shorter;
	size_t i;

	ASSERT_GE(field_table_count, 9);
	for (i = 0; i < field_table_count; i++) {
		t = &field_tables[i];
		shorter = i == FIELDS_PERMISSIONS;
		if (!shorter)
			EXPECT_EQ(0, differ_names(&self->doc, "full", t));
		shorter |= i == FIELDS_TOP || i == FIELDS_SANDBOX ||
			   i == FIELDS_PROTECT || i == FIELDS_ENVIRONMENT ||
			   i == FIELDS_LIMITS;
		if (shorter)
			EXPECT_EQ(0, differ_names(&self->doc, "permission",
						  t));
	}
}

/* The words of @list, every @stride bytes up to NULL, are those of the enum. */
static size_t differ(struct json_doc *doc, const char *path, const void *list,
		     size_t stride)
{
	const struct json *e = follow(doc, doc->root, path), *w;
	const char *word;
	size_t bad = !e, found = 0, i;

	for (i = 0; e; i++) {
		word = *(const char *const *)((const char *)list + i * stride);
		if (!word)
			break;
		for (w = e->first; w && strcmp(w->text, word); w = w->next)
			;
		found++;
		bad += !w;
	}
	return bad + (e && e->count != found);
}

#define FULL "$defs/full/properties/"
#define SAME(path, list) EXPECT_EQ(0, differ(&self->doc, path, list, \
					     sizeof(*(list))))

TEST_F(schema, has_the_words_of_the_language)
{
	SAME(FULL "side_effect_level/enum", level_names);
	SAME(FULL "capabilities/properties/workspace/items/enum",
	     workspace_caps);
	SAME(FULL "capabilities/properties/process/items/enum", process_caps);
	SAME(FULL "process_sandbox/properties/presets/items/enum", presets);
	SAME("$defs/environment/properties/mode/enum", env_mode_names);
	SAME("$defs/mode/enum", mode_names);
	SAME("$defs/on_loss/enum", on_loss_names);
	SAME(FULL "process_sandbox/properties/bind_any/enum", bind_any_names);
	SAME(FULL "egress/properties/default/enum", egress_default_names);
}

/* Of profiles, those that this build accepts. */
TEST_F(schema, has_the_profiles_that_are_there)
{
	const char *names[8] = { NULL }, *at = NULL;
	struct data_entry e;
	size_t n = 0, i;

	while (data_next(DATA_PROFILES, &at, &e))
		if (data_has(&e, "accept"))
			names[n++] = strndup(e.path.s, e.path.len);
	SAME("$defs/profile/enum", names);
	for (i = 0; i < n; i++)
		free((char *)names[i]);
}

TEST_F(schema, has_the_protected_names)
{
	const char *names[64] = { NULL }, *at = NULL;
	struct arena mem = { 0 };
	struct data_entry e;
	size_t n = 0;

	while (data_next(DATA_PROTECTED, &at, &e) && n < 63)
		names[n++] = protect_text(&mem, &e);
	SAME("$defs/protect/properties/exclude/items/enum", names);
	arena_free(&mem);
}

/* Numbers that stand in both. */
TEST_F(schema, has_the_bounds_of_the_language)
{
	static const struct {
		const char *path;
		unsigned long value;
	} rows[] = {
		{ "pids/maximum", LIMIT_PIDS_MAX },
		{ "open_files/maximum", LIMIT_OPEN_FILES_MAX },
		{ "memory/minimum", LIMIT_MEMORY_MIN },
	};
	const struct json *limits, *v;
	size_t i;

	limits = follow(&self->doc, self->doc.root, "$defs/limits/properties");
	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		/* A $ref stands beside its bounds: not to be followed. */
		char name[32];

		snprintf(name, sizeof(name), "%.*s",
			 (int)strcspn(rows[i].path, "/"), rows[i].path);
		v = member(member(limits, name), strchr(rows[i].path, '/') + 1);
		ASSERT_NE(NULL, v) TH_LOG("%s", rows[i].path);
		EXPECT_EQ(rows[i].value, strtoul(v->text, NULL, 10));
	}
}

TEST_HARNESS_MAIN
