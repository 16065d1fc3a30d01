// SPDX-License-Identifier: GPL-2.0-only
/*
 * --dry-run: what would be enforced, on stdout, for people. Nothing is made
 * and nothing runs; it needs no root and no engine.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../policy-compiler/policy.h"
#include "cleanup.h"
#include "escape.h"
#include "run.h"

static void line(const char *what, const char *value)
{
	char safe[4 * 4096 + 1];

	printf("%-12s %s\n", what, escape_text(safe, sizeof(safe), value,
					       strlen(value)));
}

static void put_limit(const char *what, uint64_t v,
		      void (*words)(uint64_t, char[32]))
{
	char text[32] = "none";

	if (v != IMAGE_NO_LIMIT)
		words(v, text);
	printf("%-12s %s\n", what, text);
}

static void count_text(uint64_t n, char out[32])
{
	snprintf(out, 32, "%" PRIu64, n);
}

static void put_root(const struct lh_item *item, const char *path,
		     const char *rule)
{
	char safe[4 * 4096 + 1], safe_rule[2048];
	unsigned int f = item->root.flags | item->root.self;

	printf("  %c%c%c%c%c%c %s%s  (%s)\n", f & LH_ROOT_READ ? 'r' : '-',
	       f & LH_ROOT_WRITE ? 'w' : f & LH_ROOT_DELETE ? 'd' : '-',
	       f & LH_ROOT_EXEC ? 'x' : '-', f & LH_ROOT_RDONLY ? 'R' : '-',
	       f & LH_ROOT_PROTECT ? 'P' : '-', f & LH_ROOT_DENY ? 'D' : '-',
	       escape_text(safe, sizeof(safe), path, strlen(path)),
	       item->root.flags ? "" : " (itself)",
	       escape_text(safe_rule, sizeof(safe_rule), rule, strlen(rule)));
}

static const char *path_of(const struct table *t, int fd)
{
	size_t i;

	for (i = 0; i < t->object_count; i++)
		if (t->objects[i].fd == fd)
			return t->objects[i].path;
	return "?";
}

static void put_roots(const struct run *r)
{
	const unsigned int shown = LH_ROOT_READ | LH_ROOT_WRITE |
		LH_ROOT_EXEC | LH_ROOT_DELETE | LH_ROOT_RDONLY |
		LH_ROOT_DENY | LH_ROOT_PROTECT;
	const struct table *t = &r->table;
	size_t i, names = 0;

	printf("roots        (r read, w write, d delete, x exec, R read-only, "
	       "P protected, D denied)\n");
	for (i = 0; i < t->count; i++) {
		const struct lh_item *item = &t->items[i];
		unsigned int rule = item->root.rule_deny ?
			item->root.rule_deny : item->root.rule_write ?
			item->root.rule_write : item->root.rule_read ?
			item->root.rule_read : item->root.rule_self;

		if (item->kind == LH_ITEM_NAME)
			names++;
		else if ((item->root.flags | item->root.self) & shown)
			put_root(item, path_of(t, item->fd),
				 table_rule(r->load.im, t, rule));
	}
	printf("names        %zu rules for names that need not exist, %u "
	       "protected pairs at any depth\n", names, t->wild_count);
}

static void put_policy(const struct run *r)
{
	const struct image *im = r->load.im;
	char hex[65];

	policy_hash((const char *)im + im->policy.offset, im->policy.count,
		    hex);
	line("policy", image_string(im, im->name));
	line("source", image_string(im, im->source));
	line("hash", hex);
	line("profile", profile_names[im->profile]);
	line("level", level_names[im->level]);
	line("user", r->id.name);
	line("directory", r->cwd_path);
	line("command", r->command ? r->command : "(none given)");
	put_limit("wall time", im->limits.wall_time, limit_time_text);
	put_limit("grace", im->limits.grace, limit_time_text);
	put_limit("memory", im->limits.memory, limit_size_text);
	put_limit("pids", im->limits.pids, count_text);
	printf("%-12s %u instructions\n", "seccomp", im->filter.count);
}

static void put_environment(const struct run *r)
{
	size_t i;

	printf("environment  (%s)", env_mode_names[r->load.im->env_mode]);
	for (i = 0; i < r->env.count; i++) {
		size_t len = strcspn(r->env.vars[i], "=");
		char safe[512];

		printf(" %s", escape_text(safe, sizeof(safe), r->env.vars[i],
					  len));
	}
	printf("\n");
}

int run_plan(struct run *r, struct err *e)
{
	struct resolve_options o = {
		.as = r->id.switches ? identity_as : NULL, .arg = &r->id,
		.command = r->command, .policy_file = r->load.file,
	};
	int ret = table_resolve(r->load.im, &o, &r->table, e);

	if (r->id.switches)
		identity_as(RESOLVE_AS_SELF, &r->id);
	if (ret)
		return EXIT_OURS;
	r->resolved = true;
	put_policy(r);
	put_environment(r);
	put_roots(r);
	if (fflush(stdout)) {
		err_sys(e, -EIO, "standard output");
		return EXIT_OURS;
	}
	return 0;
}
