/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Random policies that use the whole language, as text.
 */
#ifndef RANDOM_POLICY_H
#define RANDOM_POLICY_H

#include <stdarg.h>

#include "compile_test.h"

/* Text that grows; what does not fit ends the test. */
struct text {
	char s[8192];
	size_t len;
};

__attribute__((format(printf, 2, 3)))
static void add(struct text *t, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	t->len += vsnprintf(t->s + t->len, sizeof(t->s) - t->len, fmt, args);
	va_end(args);
	if (t->len >= sizeof(t->s))
		abort();
}

typedef void one_of(struct text *t, uint64_t *seed);

static void a_path(struct text *t, uint64_t *seed)
{
	unsigned int depth = 1 + dice(seed, 3);

	add(t, "\"");
	while (depth--)
		add(t, dice(seed, 2) ? "/a" : "/b");
	add(t, "\"");
}

static void a_port(struct text *t, uint64_t *seed)
{
	unsigned int lo = 1 + dice(seed, 20);

	if (dice(seed, 2))
		add(t, "%u", lo);
	else
		add(t, "\"%u-%u\"", lo, lo + dice(seed, 10));
}

static void a_rule(struct text *t, uint64_t *seed)
{
	static const char *const protocols[] = { "", "tcp/", "udp/" };
	static const char *const blocks[] = {
		"0.0.0.0/0", "10.0.0.0/8", "10.9.0.0/16", "10.9.1.0/24",
		"10.9.1.1", "192.0.2.7", "::/0", "2001:db8::/32",
		"2001:db8::1",
	};
	const char *block = blocks[dice(seed, 9)];
	unsigned int lo = 1 + dice(seed, 20);
	bool v6 = strchr(block, ':');

	add(t, "\"%s", protocols[dice(seed, 3)]);
	if (dice(seed, 2))
		add(t, "%s\"", block);
	else
		add(t, "%s%s%s:%u-%u\"", v6 ? "[" : "", block, v6 ? "]" : "",
		    lo, lo + dice(seed, 10));
}

static void a_name(struct text *t, uint64_t *seed)
{
	static const char *const names[] = { "k", "a/k", "**/a/k", "b" };

	add(t, "\"%s\"", names[dice(seed, 4)]);
}

static void a_protected(struct text *t, uint64_t *seed)
{
	static const char *const names[] = {
		".git/hooks", ".git/config", "**/.git/hooks", "~/.bashrc",
	};

	add(t, "\"%s\"", names[dice(seed, 4)]);
}

static void a_list(struct text *t, const char *key, one_of *one,
		   unsigned int max, uint64_t *seed)
{
	unsigned int n = dice(seed, max + 1), i;

	add(t, "\"%s\": [", key);
	for (i = 0; i < n; i++) {
		add(t, i ? ", " : "");
		one(t, seed);
	}
	add(t, "]");
}

static const char *yes(uint64_t *seed)
{
	return dice(seed, 2) ? "true" : "false";
}

/* No read-only roots: where a writable one stands they are an error. */
static void a_policy(struct text *t, uint64_t *seed)
{
	static const char *const modes[] = {
		"inherited", "isolated", "granted",
	};
	bool network = dice(seed, 2);

	t->len = 0;
	add(t, "{ \"version\": 1, \"sandbox_profile\": \"%s\", ",
	    profile_names[dice(seed, 2) ? PROFILE_WORKTREE :
			  PROFILE_OS_HARDENED]);
	add(t, "\"side_effect_level\": \"%s\", ", level_names[network ?
	    LEVEL_NETWORK : dice(seed, LEVEL_NETWORK)]);
	a_list(t, "workspace_roots", a_path, 2, seed);
	add(t, ", \"process_sandbox\": { \"presets\": [], ");
	a_list(t, "read_roots", a_path, 3, seed);
	add(t, ", ");
	a_list(t, "write_roots", a_path, 2, seed);
	add(t, ", ");
	a_list(t, "read_deny_roots", a_path, 1, seed);
	add(t, ", ");
	a_list(t, "unix_socket_roots", a_path, 2, seed);
	add(t, ", ");
	a_list(t, "loopback_ports", a_port, 3, seed);
	add(t, ", ");
	a_list(t, "publish_ports", a_port, 3, seed);
	add(t, ", \"allow_loopback\": %s, \"allow_tcp_loopback\": %s, "
	    "\"user_namespaces\": %s, \"ptrace\": %s, \"bind_any\": \"%s\" }",
	    yes(seed), yes(seed), yes(seed), yes(seed),
	    bind_any_names[dice(seed, 2)]);
	if (network) {
		add(t, ", \"egress\": { \"default\": \"%s\", ",
		    egress_default_names[!dice(seed, 4)]);
		a_list(t, "allow", a_rule, 4, seed);
		add(t, ", ");
		a_list(t, "deny", a_rule, 2, seed);
		add(t, " }");
	}
	add(t, ", \"protect\": { ");
	a_list(t, "add", a_name, 2, seed);
	add(t, ", ");
	a_list(t, "exclude", a_protected, 2, seed);
	add(t, " }, \"environment\": { \"mode\": \"%s\", \"pass\": [%s] }",
	    modes[dice(seed, 3)], dice(seed, 2) ? "\"A\"" : "");
	add(t, ", \"limits\": { \"pids\": %u, \"cpu\": \"%u%%\", "
	    "\"wall_time\": \"%us\" }", 1 + dice(seed, 99),
	    1 + dice(seed, 400), 1 + dice(seed, 9));
	add(t, ", \"mode\": \"%s\", \"on_loss\": \"%s\" }",
	    mode_names[dice(seed, 2)], on_loss_names[dice(seed, 2)]);
}

#endif
