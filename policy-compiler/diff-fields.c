// SPDX-License-Identifier: GPL-2.0-only
/*
 * What two policies say apart from files, field by field.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "diff-fields.h"
#include "index.h"
#include "net.h"

struct fields_diff {
	const struct policy *a, *b;
	diff_take *take;
	void *arg;
	int r;			/* once it is not 0, nothing more is told */
};

static void tell(struct fields_diff *f, bool opens, const char *what,
		 const char *object)
{
	struct diff_item item = {
		.change = opens ? DIFF_OPENS : DIFF_CLOSES, .what = what,
		.object = object, .rule = "",
	};

	if (!f->r)
		f->r = f->take(f->arg, &item);
}

/* A word that means more the further it stands in its list. */
static void tell_word(struct fields_diff *f, const char *what, unsigned int a,
		      unsigned int b, const char *const *words, bool more)
{
	char text[96];

	if (a == b)
		return;
	snprintf(text, sizeof(text), "%s, was %s", words[b], words[a]);
	tell(f, (b > a) == more, what, text);
}

static void tell_bits(struct fields_diff *f, const char *what, uint32_t a,
		      uint32_t b, const struct word_bit *words)
{
	for (; words->word; words++)
		if ((a ^ b) & words->bit)
			tell(f, b & words->bit, what, words->word);
}

static void tell_grants(struct fields_diff *f)
{
	static const struct word_bit words[] = {
		{ "tcp", GRANT_LOOPBACK_TCP }, { "udp", GRANT_LOOPBACK_UDP },
		{ NULL, 0 },
	};
	static const struct word_bit others[] = {
		{ "user_namespaces", GRANT_USER_NAMESPACES },
		{ "ptrace", GRANT_PTRACE }, { NULL, 0 },
	};

	tell_bits(f, "loopback", f->a->grants, f->b->grants, words);
	tell_bits(f, "process", f->a->grants, f->b->grants, others);
	tell_word(f, "bind_any", f->a->bind_any, f->b->bind_any,
		  bind_any_names, true);
}

/* Ranges of ports that one of the two has and the other has not. */
static void tell_ports(struct fields_diff *f, enum policy_port_list list,
		       const char *what, bool opens)
{
	bool from[PORTS_COUNT], to[PORTS_COUNT];
	struct policy_ports range;
	uint32_t port;
	char text[16];

	ports_mark(opens ? f->a : f->b, list, from);
	ports_mark(opens ? f->b : f->a, list, to);
	for (port = 1; port < PORTS_COUNT; port++) {
		if (!to[port] || from[port])
			continue;
		range.lo = port;
		while (port + 1 < PORTS_COUNT && to[port + 1] &&
		       !from[port + 1])
			port++;
		range.hi = port;
		ports_text(&range, text);
		tell(f, opens, what, text);
	}
}

/* Sockets below @path: does @p let them be reached? */
static bool has_sockets(const struct root_index *x, const char *path)
{
	const struct policy_root *r;
	size_t len, at;

	for (len = strlen(path); len; len = index_parent(path, len))
		for (at = 0; (r = index_next(x, path, len, &at));)
			if (r->list == LIST_SOCKET)
				return true;
	return false;
}

static void tell_sockets(struct fields_diff *f, bool opens)
{
	const struct policy *from = opens ? f->a : f->b;
	const struct policy *to = opens ? f->b : f->a;
	struct root_index x;
	size_t i;

	if (index_begin(&x, from)) {
		f->r = f->r ? f->r : -ENOMEM;
		return;
	}
	for (i = 0; i < to->root_count; i++)
		if (to->roots[i].list == LIST_SOCKET &&
		    !has_sockets(&x, to->roots[i].path))
			tell(f, opens, "unix_socket_roots",
			     to->roots[i].path);
	index_end(&x);
}

/* Is all of @n in rules of @p of its kind? */
static bool has_rule(const struct policy *p, const struct policy_net *n)
{
	size_t i;

	for (i = 0; i < p->net_count; i++)
		if (p->net[i].deny == n->deny &&
		    (n->deny ? net_covers(&p->net[i], n) :
		     net_allows(&p->net[i], n)))
			return true;
	return false;
}

static void tell_rules(struct fields_diff *f, bool newer)
{
	const struct policy *from = newer ? f->a : f->b;
	const struct policy *to = newer ? f->b : f->a;
	char text[NET_TEXT_MAX];
	size_t i;

	if (to->level < LEVEL_NETWORK)
		return;
	for (i = 0; i < to->net_count; i++) {
		if (from->level == LEVEL_NETWORK &&
		    has_rule(from, &to->net[i]))
			continue;
		net_text(&to->net[i], text);
		tell(f, newer != to->net[i].deny, to->net[i].deny ?
		     "egress.deny" : "egress.allow", text);
	}
}

static bool has_name(const struct policy *p, const struct policy_protect *n)
{
	size_t i;

	for (i = 0; i < p->protect_count; i++)
		if (p->protects[i].exclude == n->exclude &&
		    !strcmp(p->protects[i].name, n->name))
			return true;
	return false;
}

static void tell_protects(struct fields_diff *f, bool newer)
{
	const struct policy *from = newer ? f->a : f->b;
	const struct policy *to = newer ? f->b : f->a;
	const struct policy_protect *n;
	size_t i;

	for (i = 0; i < to->protect_count; i++) {
		n = &to->protects[i];
		if (!has_name(from, n))
			tell(f, newer == n->exclude, n->exclude ?
			     "protect.exclude" : "protect.add", n->name);
	}
}

static const struct policy_env *variable(const struct policy *p,
					 const char *name)
{
	size_t i;

	for (i = 0; i < p->env_count; i++)
		if (!strcmp(p->env[i].name, name))
			return &p->env[i];
	return NULL;
}

static void tell_variables(struct fields_diff *f, bool opens)
{
	const struct policy *from = opens ? f->a : f->b;
	const struct policy *to = opens ? f->b : f->a;
	const struct policy_env *e;
	size_t i;

	for (i = 0; i < to->env_count; i++) {
		e = &to->env[i];
		if (!variable(from, e->name))
			tell(f, opens, e->value ? "environment.set" :
			     "environment.pass", e->name);
	}
}

static void tell_env(struct fields_diff *f)
{
	const struct policy_env *was, *is;
	size_t i;

	tell_word(f, "environment.mode", f->a->env_mode, f->b->env_mode,
		  env_mode_names, false);
	tell_variables(f, true);
	tell_variables(f, false);
	/* Its value is nobody's business, that it is another one is. */
	for (i = 0; i < f->b->env_count; i++) {
		is = &f->b->env[i];
		was = variable(f->a, is->name);
		if (was && !!was->value != !!is->value)
			tell(f, !is->value, "environment.pass", is->name);
		else if (was && is->value && strcmp(was->value, is->value))
			tell(f, true, "environment.set (value)", is->name);
	}
}

static void tell_limit(struct fields_diff *f, const char *what, uint64_t a,
		       uint64_t b, void (*words)(uint64_t, char[32]))
{
	char was[32] = "none", is[32] = "none", text[80];

	if (a == b)
		return;
	if (a != IMAGE_NO_LIMIT)
		words(a, was);
	if (b != IMAGE_NO_LIMIT)
		words(b, is);
	snprintf(text, sizeof(text), "%s, was %s", is, was);
	tell(f, b > a, what, text);
}

static void count_text(uint64_t n, char out[32])
{
	snprintf(out, 32, "%llu", (unsigned long long)n);
}

#define LIMIT(name, words) \
	tell_limit(f, "limits." #name, f->a->limits.name, f->b->limits.name, \
		   words)

static void tell_limits(struct fields_diff *f)
{
	LIMIT(wall_time, limit_time_text);
	LIMIT(grace, limit_time_text);
	LIMIT(idle_time, limit_time_text);
	LIMIT(memory, limit_size_text);
	LIMIT(swap, limit_size_text);
	LIMIT(pids, count_text);
	LIMIT(cpu, limit_percent_text);
	LIMIT(io, limit_size_text);
	LIMIT(open_files, count_text);
	LIMIT(file_size, limit_size_text);
	LIMIT(capture_bytes, limit_size_text);
}

int policy_diff_fields(const struct policy *a, const struct policy *b,
		       diff_take *take, void *arg)
{
	struct fields_diff f = { a, b, take, arg, 0 };
	const uint32_t was = policy_caps(a), is = policy_caps(b);

	tell_word(&f, "sandbox_profile", a->profile, b->profile,
		  profile_names, false);
	tell_word(&f, "side_effect_level", a->level, b->level, level_names,
		  true);
	tell_bits(&f, "capabilities", was, is, workspace_caps);
	tell_bits(&f, "capabilities", was, is, process_caps);
	tell_grants(&f);
	tell_ports(&f, PORTS_LOOPBACK, "loopback_ports", true);
	tell_ports(&f, PORTS_LOOPBACK, "loopback_ports", false);
	tell_ports(&f, PORTS_PUBLISH, "publish_ports", true);
	tell_ports(&f, PORTS_PUBLISH, "publish_ports", false);
	tell_sockets(&f, true);
	tell_sockets(&f, false);
	tell_word(&f, "egress.default", a->egress_default, b->egress_default,
		  egress_default_names, true);
	tell_rules(&f, true);
	tell_rules(&f, false);
	tell_protects(&f, true);
	tell_protects(&f, false);
	tell_env(&f);
	tell_limits(&f);
	tell_word(&f, "mode", a->mode, b->mode, mode_names, true);
	tell_word(&f, "on_loss", a->on_loss, b->on_loss, on_loss_names, false);
	return f.r;
}
