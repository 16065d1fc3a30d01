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

#include "net.h"

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

/* As root_expand() takes it for what it is, and nothing is expanded twice. */
static int put_path(yajl_gen g, const char *s, bool optional)
{
	char *text = malloc(2 * strlen(s) + 2), *t = text;

	if (!text)
		return -ENOMEM;
	if (optional)
		*t++ = '?';
	for (; *s; s++) {
		if (strchr("$*?", *s))
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
			r = put_path(g, p->roots[i].path,
				     p->roots[i].optional);
	yajl_gen_array_close(g);
	return r;
}

static void put_bool(yajl_gen g, const char *key, bool value)
{
	put(g, key);
	yajl_gen_bool(g, value);
}

static void put_ports(yajl_gen g, const struct policy *p,
		      enum policy_port_list list, const char *key)
{
	char text[16];
	size_t i;

	put(g, key);
	yajl_gen_array_open(g);
	for (i = 0; i < p->port_count; i++) {
		if (p->ports[i].list != list)
			continue;
		ports_text(&p->ports[i], text);
		if (p->ports[i].lo == p->ports[i].hi)
			yajl_gen_integer(g, p->ports[i].lo);
		else
			put(g, text);
	}
	yajl_gen_array_close(g);
}

static int put_sandbox(yajl_gen g, const struct policy *p)
{
	const uint32_t both = GRANT_LOOPBACK_TCP | GRANT_LOOPBACK_UDP;
	int r;

	put(g, "process_sandbox");
	yajl_gen_map_open(g);
	put_bits(g, "presets", presets, p->presets);
	r = put_roots(g, p, LIST_READ);
	if (!r)
		r = put_roots(g, p, LIST_WRITE);
	if (!r)
		r = put_roots(g, p, LIST_DENY);
	put_bool(g, "allow_loopback", (p->grants & both) == both);
	put_bool(g, "allow_tcp_loopback", p->grants & GRANT_LOOPBACK_TCP);
	put_ports(g, p, PORTS_LOOPBACK, "loopback_ports");
	put_ports(g, p, PORTS_PUBLISH, "publish_ports");
	put_pair(g, "bind_any", bind_any_names[p->bind_any]);
	if (!r)
		r = put_roots(g, p, LIST_SOCKET);
	put_bool(g, "user_namespaces", p->grants & GRANT_USER_NAMESPACES);
	put_bool(g, "ptrace", p->grants & GRANT_PTRACE);
	yajl_gen_map_close(g);
	return r;
}

static void put_names(yajl_gen g, const struct policy *p, bool exclude,
		      const char *key)
{
	size_t i;

	put(g, key);
	yajl_gen_array_open(g);
	for (i = 0; i < p->protect_count; i++)
		if (p->protects[i].exclude == exclude)
			put(g, p->protects[i].name);
	yajl_gen_array_close(g);
}

static void put_protect(yajl_gen g, const struct policy *p)
{
	put(g, "protect");
	yajl_gen_map_open(g);
	put_names(g, p, false, "add");
	put_names(g, p, true, "exclude");
	yajl_gen_map_close(g);
}

static void put_rules(yajl_gen g, const struct policy *p, bool deny,
		      const char *key)
{
	char text[NET_TEXT_MAX];
	size_t i;

	put(g, key);
	yajl_gen_array_open(g);
	for (i = 0; i < p->net_count; i++) {
		if (p->net[i].deny != deny)
			continue;
		net_text(&p->net[i], text);
		put(g, text);
	}
	yajl_gen_array_close(g);
}

/* Below the level network it may not be written, and means nothing. */
static void put_egress(yajl_gen g, const struct policy *p)
{
	if (p->level < LEVEL_NETWORK)
		return;
	put(g, "egress");
	yajl_gen_map_open(g);
	put_pair(g, "default", egress_default_names[p->egress_default]);
	put_rules(g, p, false, "allow");
	put_rules(g, p, true, "deny");
	yajl_gen_map_close(g);
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
		if (p->env[i].value && !p->env[i].from_file) {
			put(g, p->env[i].name);
			yajl_gen_null(g);
		}
	yajl_gen_map_close(g);
	yajl_gen_map_close(g);
}

static int put_env_files(yajl_gen g, const struct policy *p)
{
	size_t i;
	int r = 0;

	put(g, "env_files");
	yajl_gen_array_open(g);
	for (i = 0; !r && i < p->env_file_count; i++)
		r = put_path(g, p->env_files[i].path, false);
	yajl_gen_array_close(g);
	return r;
}

static void put_limit(yajl_gen g, const char *key, uint64_t value,
		      void (*words)(uint64_t, char[32]))
{
	char text[32];

	if (value == IMAGE_NO_LIMIT)
		return;
	put(g, key);
	if (words) {
		words(value, text);
		put(g, text);
	} else {
		yajl_gen_integer(g, value);
	}
}

static void put_limits(yajl_gen g, const struct policy_limits *l)
{
	put(g, "limits");
	yajl_gen_map_open(g);
	put_limit(g, "wall_time", l->wall_time, limit_time_text);
	put_limit(g, "grace", l->grace, limit_time_text);
	put_limit(g, "idle_time", l->idle_time, limit_time_text);
	put_limit(g, "memory", l->memory, limit_size_text);
	put_limit(g, "swap", l->swap, limit_size_text);
	put_limit(g, "pids", l->pids, NULL);
	put_limit(g, "cpu", l->cpu, limit_percent_text);
	put_limit(g, "io", l->io, limit_size_text);
	put_limit(g, "open_files", l->open_files, NULL);
	put_limit(g, "file_size", l->file_size, limit_size_text);
	put_limit(g, "capture_bytes", l->capture_bytes, limit_size_text);
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
	put_protect(g, p);
	put_egress(g, p);
	put_environment(g, p);
	if (!r)
		r = put_env_files(g, p);
	put_limits(g, &p->limits);
	put_pair(g, "mode", mode_names[p->mode]);
	put_pair(g, "on_loss", on_loss_names[p->on_loss]);
	yajl_gen_map_close(g);
	return r;
}

/* yajl breaks the line inside empty brackets; no string holds a raw newline. */
size_t policy_tidy(const char *in, size_t len, char *out)
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
		*len = policy_tidy((const char *)text, size, copy);
		copy[*len] = 0;
		*out = copy;
	}
	yajl_gen_free(g);
	return r ? r : copy ? 0 : -ENOMEM;
}
