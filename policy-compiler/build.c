// SPDX-License-Identifier: GPL-2.0-only
/*
 * Building images. What goes in is in the policy's order; what comes out
 * depends on nothing else, no address, no time, no order of a hash table.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/filter.h>
#include <stdlib.h>
#include <string.h>

#include "build.h"
#include "image-hash.h"

static void *array_add(struct build *b, struct build_array *a,
		       const void *data, size_t len)
{
	size_t room = a->room ? a->room : 1024;
	char *p;

	if (b->error)
		return NULL;
	if (len > IMAGE_BYTES_MAX - a->used) {
		b->error = -E2BIG;
		return NULL;
	}
	while (room - a->used < len)
		room *= 2;
	if (room != a->room) {
		p = realloc(a->data, room);
		if (!p) {
			b->error = -ENOMEM;
			return NULL;
		}
		a->data = p;
		a->room = room;
	}
	p = memcpy(a->data + a->used, data, len);
	a->used += len;
	return p;
}

static uint64_t string_hash(const char *s)
{
	uint64_t h = 0xcbf29ce484222325ULL;

	while (*s)
		h = (h ^ (unsigned char)*s++) * 0x100000001b3ULL;
	return h;
}

/* The slot of @s in the index: its own, or the free one it would take. */
static uint32_t *index_slot(const struct build *b, const char *s)
{
	size_t i = string_hash(s) & (b->index_size - 1);

	while (b->index[i] && strcmp(b->strings.data + b->index[i], s))
		i = (i + 1) & (b->index_size - 1);
	return &b->index[i];
}

static bool index_grow(struct build *b)
{
	size_t size = b->index_size ? 2 * b->index_size : 1024, i;
	struct build new = *b;

	new.index = calloc(size, sizeof(*new.index));
	new.index_size = size;
	if (!new.index) {
		b->error = -ENOMEM;
		return false;
	}
	for (i = 0; i < b->index_size; i++)
		if (b->index[i])
			*index_slot(&new, b->strings.data + b->index[i]) =
				b->index[i];
	free(b->index);
	b->index = new.index;
	b->index_size = size;
	return true;
}

image_str build_string(struct build *b, const char *s)
{
	uint32_t *slot, at = b->strings.used;

	if (!s || !*s || b->error)
		return 0;
	if (2 * b->index_used >= b->index_size && !index_grow(b))
		return 0;
	slot = index_slot(b, s);
	if (*slot)
		return *slot;
	if (!array_add(b, &b->strings, s, strlen(s) + 1))
		return 0;
	*slot = at;
	b->index_used++;
	return at;
}

void build_begin(struct build *b)
{
	*b = (struct build){ 0 };
	array_add(b, &b->strings, "", 1);
	build_rule(b, "default");
}

void build_free(struct build *b)
{
	free(b->roots.data);
	free(b->protects.data);
	free(b->env.data);
	free(b->nets.data);
	free(b->ports.data);
	free(b->rules.data);
	free(b->strings.data);
	free(b->index);
	*b = (struct build){ 0 };
}

/* Equal texts are one rule; they come in runs, so the last is tried first. */
uint16_t build_rule(struct build *b, const char *text)
{
	image_str s = build_string(b, text);
	const image_str *rules = (const image_str *)b->rules.data;
	size_t n = b->rules.used / sizeof(s), i;

	for (i = n; i--;)
		if (rules[i] == s)
			return i;
	if (n >= IMAGE_RULES_MAX && !b->error)
		b->error = -E2BIG;
	array_add(b, &b->rules, &s, sizeof(s));
	return n;
}

void build_root(struct build *b, const char *path, uint32_t flags,
		enum image_root_kind kind, const char *rule)
{
	struct image_root r = {
		.path = build_string(b, path),
		.flags = flags,
		.kind = kind,
		.rule = build_rule(b, rule),
	};

	if (b->roots.used / sizeof(r) >= LH_ITEMS_MAX && !b->error)
		b->error = -E2BIG;
	array_add(b, &b->roots, &r, sizeof(r));
}

void build_protect(struct build *b, const char *name,
		   enum image_protect_kind kind, const char *rule)
{
	struct image_protect p = {
		.name = build_string(b, name),
		.kind = kind,
		.rule = build_rule(b, rule),
	};

	array_add(b, &b->protects, &p, sizeof(p));
}

void build_env(struct build *b, const char *name, const char *value)
{
	struct image_env e = {
		.name = build_string(b, name),
		.value = build_string(b, value),
		.set = value != NULL,
	};

	array_add(b, &b->env, &e, sizeof(e));
}

void build_net(struct build *b, const struct image_net *n)
{
	if (b->nets.used / sizeof(*n) >= LH_NETS_MAX && !b->error)
		b->error = -E2BIG;
	array_add(b, &b->nets, n, sizeof(*n));
}

void build_port(struct build *b, const struct image_port *p)
{
	if (b->ports.used / sizeof(*p) >= LH_PORTS_MAX && !b->error)
		b->error = -E2BIG;
	array_add(b, &b->ports, p, sizeof(*p));
}

/* A total order, so that qsort's own way does not show. */
static int root_order(const void *x, const void *y, void *strings)
{
	const struct image_root *a = x, *b = y;
	int n = strcmp((char *)strings + a->path, (char *)strings + b->path);

	if (n)
		return n;
	if (a->rule != b->rule)
		return a->rule < b->rule ? -1 : 1;
	if (a->flags != b->flags)
		return a->flags < b->flags ? -1 : 1;
	return (a->kind > b->kind) - (a->kind < b->kind);
}

struct part {
	struct image_array *place;
	const void *data;
	size_t bytes, element;
};

static size_t align8(size_t n)
{
	return (n + 7) & ~(size_t)7;
}

int build_finish(struct build *b, const struct image *head,
		 const void *filter, size_t insns,
		 const char *policy, size_t policy_len, struct image **out)
{
	struct image h = *head, *im;
	const struct part parts[] = {
		{ &h.roots, b->roots.data, b->roots.used,
		  sizeof(struct image_root) },
		{ &h.protects, b->protects.data, b->protects.used,
		  sizeof(struct image_protect) },
		{ &h.env, b->env.data, b->env.used,
		  sizeof(struct image_env) },
		{ &h.nets, b->nets.data, b->nets.used,
		  sizeof(struct image_net) },
		{ &h.ports, b->ports.data, b->ports.used,
		  sizeof(struct image_port) },
		{ &h.rules, b->rules.data, b->rules.used, sizeof(image_str) },
		{ &h.filter, filter, insns * sizeof(struct sock_filter),
		  sizeof(struct sock_filter) },
		{ &h.policy, policy, policy_len, 1 },
		{ &h.strings, b->strings.data, b->strings.used, 1 },
	};
	const size_t n = sizeof(parts) / sizeof(*parts);
	size_t size = sizeof(h), i;

	if (b->error)
		return b->error;
	if (b->roots.used)
		qsort_r(b->roots.data,
			b->roots.used / sizeof(struct image_root),
			sizeof(struct image_root), root_order,
			b->strings.data);
	for (i = 0; i < n; i++) {
		parts[i].place->offset = align8(size);
		parts[i].place->count = parts[i].bytes / parts[i].element;
		size = align8(size) + parts[i].bytes;
		if (size > IMAGE_BYTES_MAX)
			return -E2BIG;
	}
	size = align8(size);
	im = calloc(1, size);
	if (!im)
		return -ENOMEM;
	h.magic = IMAGE_MAGIC;
	h.abi = LH_ABI;
	h.size = size;
	memset(h.hash, 0, sizeof(h.hash));
	memcpy(im, &h, sizeof(h));
	for (i = 0; i < n; i++)
		if (parts[i].bytes)
			memcpy((char *)im + parts[i].place->offset,
			       parts[i].data, parts[i].bytes);
	image_hash(im, size, im->hash);
	*out = im;
	return 0;
}
