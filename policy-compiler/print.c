// SPDX-License-Identifier: GPL-2.0-only
/*
 * A policy as text: every default written out, every path expanded, always in
 * the same order; it parses again to the same image. Values of the environment
 * are secrets and never printed: null stands for them.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <yajl/yajl_gen.h>

#include "policy.h"

/* yajl_gen remembers its first failure, so that one check at the end does. */
static void put(yajl_gen g, const char *s)
{
	yajl_gen_string(g, (const unsigned char *)s, strlen(s));
}

static void put_pair(yajl_gen g, const char *key, const char *value)
{
	put(g, key);
	put(g, value);
}

static void put_bits(yajl_gen g, const char *key,
		     const struct word_bit *words, uint32_t bits)
{
	put(g, key);
	yajl_gen_array_open(g);
	for (; words->word; words++)
		if (bits & words->bit)
			put(g, words->word);
	yajl_gen_array_close(g);
}

/* A dollar sign doubles, so that it is not expanded a second time. */
static int put_path(yajl_gen g, const struct policy_root *r)
{
	const char *s = r->path;
	char *text = malloc(2 * strlen(s) + 2), *t = text;

	if (!text)
		return -ENOMEM;
	if (r->optional)
		*t++ = '?';
	for (; *s; s++) {
		if (*s == '$')
			*t++ = '$';
		*t++ = *s;
	}
	*t = 0;
	put(g, text);
	free(text);
	return 0;
}

static int put_roots(yajl_gen g, const struct policy *p,
		     enum policy_list list)
{
	size_t i;
	int r = 0;

	put(g, strrchr(list_pointers[list], '/') + 1);
	yajl_gen_array_open(g);
	for (i = 0; !r && i < p->root_count; i++)
		if (p->roots[i].list == list)
			r = put_path(g, &p->roots[i]);
	yajl_gen_array_close(g);
	return r;
}

static int put_sandbox(yajl_gen g, const struct policy *p)
{
	int r;

	put(g, "process_sandbox");
	yajl_gen_map_open(g);
	put_bits(g, "presets", presets, p->presets);
	r = put_roots(g, p, LIST_READ);
	if (!r)
		r = put_roots(g, p, LIST_WRITE);
	if (!r)
		r = put_roots(g, p, LIST_DENY);
	yajl_gen_map_close(g);
	return r;
}

static void put_environment(yajl_gen g, const struct policy *p)
{
	size_t i;

	put(g, "environment");
	yajl_gen_map_open(g);
	put_pair(g, "mode", env_mode_names[p->env_mode]);
	put(g, "pass");
	yajl_gen_array_open(g);
	for (i = 0; i < p->env_count; i++)
		if (!p->env[i].value)
			put(g, p->env[i].name);
	yajl_gen_array_close(g);
	put(g, "set");
	yajl_gen_map_open(g);
	for (i = 0; i < p->env_count; i++)
		if (p->env[i].value) {
			put(g, p->env[i].name);
			yajl_gen_null(g);
		}
	yajl_gen_map_close(g);
	yajl_gen_map_close(g);
}

static void put_limits(yajl_gen g, const struct policy_limits *l)
{
	char text[32];

	put(g, "limits");
	yajl_gen_map_open(g);
	if (l->wall_time != IMAGE_NO_LIMIT) {
		limit_time_text(l->wall_time, text);
		put_pair(g, "wall_time", text);
	}
	limit_time_text(l->grace, text);
	put_pair(g, "grace", text);
	if (l->memory != IMAGE_NO_LIMIT) {
		limit_size_text(l->memory, text);
		put_pair(g, "memory", text);
	}
	put(g, "pids");
	yajl_gen_integer(g, l->pids);
	yajl_gen_map_close(g);
}

static int put_policy(yajl_gen g, const struct policy *p)
{
	int r;

	yajl_gen_map_open(g);
	put(g, "version");
	yajl_gen_integer(g, 1);
	if (*p->name)
		put_pair(g, "name", p->name);
	if (p->description)
		put_pair(g, "description", p->description);
	put_pair(g, "sandbox_profile", profile_names[p->profile]);
	put_pair(g, "side_effect_level", level_names[p->level]);
	put(g, "capabilities");
	yajl_gen_map_open(g);
	put_bits(g, "workspace", workspace_caps, p->caps);
	put_bits(g, "process", process_caps, p->caps);
	yajl_gen_map_close(g);
	r = put_roots(g, p, LIST_WORKSPACE);
	if (!r)
		r = put_roots(g, p, LIST_READ_ONLY);
	if (!r)
		r = put_sandbox(g, p);
	put_environment(g, p);
	put_limits(g, &p->limits);
	yajl_gen_map_close(g);
	return r;
}

/* yajl breaks the line inside empty brackets; no string holds a raw newline. */
static size_t close_empty(const char *in, size_t len, char *out)
{
	size_t i, k, o = 0;

	for (i = 0; i < len; i++) {
		out[o++] = in[i];
		if (in[i] != '[' && in[i] != '{')
			continue;
		for (k = i + 1; k < len && (in[k] == '\n' || in[k] == ' ');)
			k++;
		if (k > i + 1 && in[i + 1] == '\n' && k < len &&
		    (in[k] == ']' || in[k] == '}'))
			i = k - 1;
	}
	return o;
}

int policy_print(const struct policy *p, char **out, size_t *len)
{
	yajl_gen g = yajl_gen_alloc(NULL);
	const unsigned char *text;
	size_t size;
	char *copy;
	int r;

	if (!g)
		return -ENOMEM;
	yajl_gen_config(g, yajl_gen_beautify, 1);
	yajl_gen_config(g, yajl_gen_indent_string, "  ");
	r = put_policy(g, p);
	if (!r && yajl_gen_get_buf(g, &text, &size) != yajl_gen_status_ok)
		r = -EINVAL;
	copy = r ? NULL : malloc(size + 1);
	if (copy) {
		*len = close_empty((const char *)text, size, copy);
		copy[*len] = 0;
		*out = copy;
	}
	yajl_gen_free(g);
	return r ? r : copy ? 0 : -ENOMEM;
}
