// SPDX-License-Identifier: GPL-2.0-only
/*
 * The tree of parse.h is plain enough to be changed in place; what is new lives
 * in the document's arena, as the rest does.
 */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <yajl/yajl_gen.h>

#include "edit.h"

static struct json *element(const struct json *list, const char *name,
			    size_t len, bool as_read)
{
	struct json *c;
	char *end;
	size_t at = strtoul(name, &end, 10), i = 0;

	if (!len || end != name + len)
		return NULL;
	for (c = list->first; c; c = c->next, i++)
		if ((as_read ? c->index : i) == at)
			return c;
	return NULL;
}

static struct json *child(const struct json *v, const char *name, size_t len,
			  bool as_read)
{
	struct json *c;

	if (v->type == JSON_LIST)
		return element(v, name, len, as_read);
	if (v->type != JSON_OBJECT)
		return NULL;
	for (c = v->first; c; c = c->next)
		if (strlen(c->key) == len && !memcmp(c->key, name, len))
			return c;
	return NULL;
}

static struct json *append(struct json_doc *doc, struct json *to,
			   enum json_type type, const char *key, size_t len)
{
	struct json *v = arena_alloc(&doc->arena, sizeof(*v));

	if (!v)
		return NULL;
	v->type = type;
	v->parent = to;
	v->index = SIZE_MAX;	/* it was not read */
	to->count++;
	if (to->type == JSON_OBJECT) {
		v->key = arena_copy(&doc->arena, key, len);
		if (!v->key)
			return NULL;
	}
	if (to->last)
		to->last->next = v;
	else
		to->first = v;
	to->last = v;
	return v;
}

/* What is at @pointer; unless @make is JSON_NULL, made as that if missing. */
static struct json *walk(struct json_doc *doc, const char *pointer,
			 enum json_type make, bool as_read)
{
	struct json *v = doc->root, *next;
	size_t len;

	while (v && *pointer == '/') {
		pointer++;
		len = strcspn(pointer, "/");
		next = child(v, pointer, len, as_read);
		/* A null stands for what is left out. */
		if (next && make != JSON_NULL && next->type == JSON_NULL)
			next->type = pointer[len] ? JSON_OBJECT : make;
		if (!next && make != JSON_NULL && v->type == JSON_OBJECT)
			next = append(doc, v, pointer[len] ? JSON_OBJECT : make,
				      pointer, len);
		v = next;
		pointer += len;
	}
	return v;
}

struct json *edit_find(struct json_doc *doc, const char *pointer)
{
	return walk(doc, pointer, JSON_NULL, false);
}

struct json *edit_find_read(struct json_doc *doc, const char *pointer)
{
	return walk(doc, pointer, JSON_NULL, true);
}

bool edit_has(struct json_doc *doc, const char *pointer, const char *value)
{
	const struct json *v = edit_find(doc, pointer), *c;

	for (c = v ? v->first : NULL; c; c = c->next)
		if (c->type == JSON_STRING && !strcmp(c->text, value))
			return true;
	return false;
}

int edit_add(struct json_doc *doc, const char *pointer, const char *value)
{
	struct json *list = walk(doc, pointer, JSON_LIST, false), *v;

	if (!list || list->type != JSON_LIST)
		return list ? -EINVAL : -ENOMEM;
	v = append(doc, list, JSON_STRING, NULL, 0);
	if (v)
		v->text = arena_copy(&doc->arena, value, strlen(value));
	return v && v->text ? 0 : -ENOMEM;
}

int edit_set(struct json_doc *doc, const char *pointer, const char *value)
{
	struct json *v = walk(doc, pointer, JSON_STRING, false);

	if (!v)
		return -ENOMEM;
	v->type = JSON_STRING;
	v->text = arena_copy(&doc->arena, value, strlen(value));
	return v->text ? 0 : -ENOMEM;
}

void edit_remove(struct json *v)
{
	struct json *in = v->parent, **at, *last = NULL;

	for (at = &in->first; *at != v; at = &(*at)->next)
		last = *at;
	*at = v->next;
	if (in->last == v)
		in->last = last;
	in->count--;
}

static void put(yajl_gen g, const char *s)
{
	yajl_gen_string(g, (const unsigned char *)s, strlen(s));
}

/* As deep as JSON_DEPTH_MAX at most. */
void edit_put(struct yajl_gen_t *g, const struct json *v)
{
	const struct json *c;

	switch (v->type) {
	case JSON_NULL:
		yajl_gen_null(g);
		break;
	case JSON_BOOL:
		yajl_gen_bool(g, v->truth);
		break;
	case JSON_NUMBER:
		yajl_gen_number(g, v->text, strlen(v->text));
		break;
	case JSON_STRING:
		put(g, v->text);
		break;
	case JSON_LIST:
		yajl_gen_array_open(g);
		for (c = v->first; c; c = c->next)
			edit_put(g, c);
		yajl_gen_array_close(g);
		break;
	case JSON_OBJECT:
		yajl_gen_map_open(g);
		for (c = v->first; c; c = c->next) {
			put(g, c->key);
			edit_put(g, c);
		}
		yajl_gen_map_close(g);
		break;
	}
}

char *edit_text(const struct json_doc *doc, size_t *len)
{
	yajl_gen g = yajl_gen_alloc(NULL);
	const unsigned char *text;
	char *copy = NULL;

	if (!g)
		return NULL;
	edit_put(g, doc->root);
	if (yajl_gen_get_buf(g, &text, len) == yajl_gen_status_ok)
		copy = malloc(*len + 1);
	if (copy) {
		memcpy(copy, text, *len);
		copy[*len] = 0;
	}
	yajl_gen_free(g);
	return copy;
}
