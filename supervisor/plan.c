// SPDX-License-Identifier: GPL-2.0-only
/*
 * --dry-run: what would be enforced, on stdout, for people or as JSON. Nothing
 * is made and nothing runs; it needs no root and no engine, so of what this
 * host lacks it says what everybody may see.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../policy-compiler/policy.h"
#include "cleanup.h"
#include "confine.h"
#include "escape.h"
#include "limits.h"
#include "plan.h"

static const struct {
	uint32_t bit;
	const char *word;
	char letter;
} rights[] = {
	{ LH_ROOT_READ, "read", 'r' }, { LH_ROOT_WRITE, "write", 'w' },
	{ LH_ROOT_EXEC, "exec", 'x' }, { LH_ROOT_DELETE, "delete", 'd' },
	{ LH_ROOT_RDONLY, "read_only", 'R' },
	{ LH_ROOT_PROTECT, "protect", 'P' }, { LH_ROOT_DENY, "deny", 'D' },
	{ LH_ROOT_OWN, "own", 'o' }, { LH_ROOT_SOCKET, "socket", 's' },
};

#define RIGHTS (sizeof(rights) / sizeof(*rights))

static uint32_t all_rights(void)
{
	uint32_t all = 0;
	size_t i;

	for (i = 0; i < RIGHTS; i++)
		all |= rights[i].bit;
	return all;
}

static const char *escaped(char *safe, size_t size, const char *s)
{
	return escape_text(safe, size, s, strlen(s));
}

void plan_line(const char *what, const char *fmt, ...)
{
	char text[3 * 4096], safe[4 * sizeof(text) + 1];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	printf("%-12s %s\n", what, escaped(safe, sizeof(safe), text));
}

static void put_limits(const struct image_limits *l)
{
	size_t i;

	for (i = 0; i < LIMITS; i++) {
		uint64_t v = limit_value(&limits[i], l);
		char text[32] = "none";

		if (v != IMAGE_NO_LIMIT)
			limits[i].text(v, text);
		plan_line(limits[i].words, "%s", text);
	}
}

/* "rw-x----", then the path, then who says so. */
static void put_root(uint32_t flags, const char *path, const char *note,
		     const char *rule)
{
	char safe[4 * 4096 + 1], safe_rule[4 * 4096 + 1], letters[RIGHTS + 1];
	size_t i;

	for (i = 0; i < RIGHTS; i++)
		letters[i] = flags & rights[i].bit ? rights[i].letter : '-';
	letters[i] = 0;
	printf("  %s %s%s  (%s)\n", letters, escaped(safe, sizeof(safe), path),
	       note, escaped(safe_rule, sizeof(safe_rule), rule));
}

/* Where a root's path leads, if that is somewhere else; free() it. */
static char *leads_to(const struct run *r, const char *path, bool *absent)
{
	struct explain x = {};
	int ret;

	*absent = false;
	/* What the user may not look at is not told by us. */
	if (identity_as(RESOLVE_AS_USER, (void *)&r->id))
		return NULL;
	ret = table_explain(r->load.im, &r->table, path, LH_STAT, &x, NULL);
	identity_as(RESOLVE_AS_SELF, (void *)&r->id);
	if (ret)
		return NULL;
	*absent = x.absent;
	free(x.root);
	if (x.absent || !strcmp(x.object, path)) {
		free(x.object);
		return NULL;
	}
	return x.object;
}

/* In the policy or on the command line, as against our own lists. */
static bool is_named(const char *rule)
{
	return *rule == '/' || !strncmp(rule, "flag:", 5) ||
	       !strncmp(rule, "ceiling:", 8);
}

static void put_named(const struct run *r)
{
	const struct image *im = r->load.im;
	const struct image_root *root = image_roots(im);
	uint32_t i;

	printf("roots        (r read, w write, x exec, d delete, R read-only, "
	       "P protected, D denied, o own, s sockets)\n");
	for (i = 0; i < im->roots.count; i++) {
		const char *path = image_string(im, root[i].path);
		const char *rule = image_rule(im, root[i].rule);
		_cleanup_free_ char *target = NULL;
		bool absent;

		if (!is_named(rule))
			continue;
		target = leads_to(r, path, &absent);
		put_root(root[i].flags, path, absent ? " [absent]" : "", rule);
		if (target)
			plan_line("", "        leads to %s", target);
	}
}

/* How many places each preset, in the order of the list, comes to. */
static void put_presets(const struct image *im)
{
	const struct image_root *root = image_roots(im);
	const char *begin = "presets";
	uint32_t i, k, n;

	for (k = 0; presets[k].word; k++) {
		size_t len = strlen(presets[k].word);

		for (n = i = 0; i < im->roots.count; i++) {
			const char *rule = image_rule(im, root[i].rule);

			n += !strncmp(rule, "preset:", 7) &&
			     !strncmp(rule + 7, presets[k].word, len) &&
			     rule[7 + len] == '/';
		}
		if (n)
			plan_line(begin, "%s: %u places, as far as they are "
				  "there  (preset:%s/...)", presets[k].word, n,
				  presets[k].word);
		else if (presets[k].bit == PRESET_USER_TEMP &&
			 (im->flags & IMAGE_USER_TEMP))
			plan_line(begin, "user_temp: a directory of its own, "
				  "removed at the end  (preset:user_temp)");
		else
			continue;
		begin = "";
	}
	if (*begin)
		plan_line(begin, "none");
}

static unsigned int credentials(const struct image *im)
{
	const struct image_root *root = image_roots(im);
	unsigned int n = 0;
	uint32_t i;

	for (i = 0; i < im->roots.count; i++)
		n += root[i].kind == ROOT_CREDENTIAL;
	return n;
}

static void put_builtin(const struct run *r)
{
	const struct image *im = r->load.im;
	char but[64] = "";

	if (r->load.lifted_count)
		snprintf(but, sizeof(but), ", but for %zu lifted",
			 (size_t)r->load.lifted_count);
	plan_line("credentials", "%u places denied, there or not%s  "
		  "(builtin:credentials/...)", credentials(im), but);
	plan_line("protected", "%u names in repositories, homes and at any "
		  "depth  (builtin:protect/...)", im->protects.count);
}

static const char *path_of(const struct table *t, int fd)
{
	size_t i;

	for (i = 0; i < t->object_count; i++)
		if (t->objects[i].fd == fd)
			return t->objects[i].path;
	return "?";
}

/* -v: all that the kernel would get. */
static void put_table(const struct run *r)
{
	const struct table *t = &r->table;
	const struct image *im = r->load.im;
	size_t i, names = 0;

	printf("table        (what exists, links resolved)\n");
	for (i = 0; i < t->count; i++) {
		const struct lh_item *item = &t->items[i];
		unsigned int rule = item->root.rule_deny ?
			item->root.rule_deny : item->root.rule_write ?
			item->root.rule_write : item->root.rule_read ?
			item->root.rule_read : item->root.rule_self;
		uint32_t below = item->root.flags & all_rights();

		names += item->kind == LH_ITEM_NAME;
		if (item->kind == LH_ITEM_ROOT && (below | item->root.self))
			put_root(below | item->root.self,
				 path_of(t, item->fd),
				 below ? "" : " [itself]",
				 table_rule(im, t, rule));
	}
	plan_line("names", "%zu rules for names that need not exist, %u "
		  "protected pairs at any depth", names, t->wild_count);
	printf("denied       (there or not)\n");
	for (i = 0; i < im->roots.count; i++)
		if (image_roots(im)[i].kind == ROOT_CREDENTIAL)
			put_root(image_roots(im)[i].flags,
				 image_string(im, image_roots(im)[i].path), "",
				 image_rule(im, image_roots(im)[i].rule));
}

static void put_widened(const char *item, void *arg)
{
	const char **begin = arg;

	plan_line(*begin, "%s", item);
	*begin = "";
}

static void put_lack(const char *what, const char *why, void *arg)
{
	const char **begin = arg;

	plan_line(*begin, "%s: %s", what, why);
	*begin = "";
}

/* Rights that are of no place. */
static void put_grants(const struct image *im)
{
	bool spaces = im->flags & IMAGE_USER_NAMESPACES;
	bool traces = im->flags & IMAGE_PTRACE;

	if (spaces || traces)
		plan_line("grants", "%s%s%s", spaces ? "new user namespaces" :
			  "", spaces && traces ? ", " : "", traces ?
			  "tracing within this session" : "");
}

static void put_policy(const struct run *r)
{
	const struct image *im = r->load.im;
	const char *widened = "widened", *lacking = "lacking here";
	char hex[65];

	policy_hash((const char *)im + im->policy.offset, im->policy.count,
		    hex);
	plan_line("policy", "%s", image_string(im, im->name));
	plan_line("source", "%s", image_string(im, im->source));
	plan_line("hash", "%s", hex);
	plan_line("profile", "%s", profile_names[im->profile]);
	if (r->result.confinement == CONFINE_NONE)
		plan_line("confinement", "NONE (%s): nothing below is enforced",
		     r->result.decided_by);
	plan_line("level", "%s%s", level_names[im->level],
	     im->flags & IMAGE_NO_EXEC ?
	     ", and no exec after the command itself" : "");
	put_grants(im);
	plan_line("user", "%s", r->id.name);
	plan_line("directory", "%s", r->cwd_path);
	plan_line("command", "%s", r->command ? r->command : "(none given)");
	widen_each(r, put_widened, &widened);
	plan_lacks(r, put_lack, &lacking);
	put_limits(&im->limits);
	if (im->flags & IMAGE_KILL_ON_LOSS)
		plan_line("on loss", "of a record, the session is killed");
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

static void put_text(const struct run *r)
{
	put_policy(r);
	put_named(r);
	put_presets(r->load.im);
	put_builtin(r);
	plan_network(r);
	put_environment(r);
	plan_line("seccomp", "%u instructions", r->load.im->filter.count);
	if (r->o.verbose)
		put_table(r);
	else
		printf("             (-v shows every place)\n");
}

/* --- as JSON */

static void write_root(const struct run *r, struct writer *w,
		       const struct image_root *root)
{
	const struct image *im = r->load.im;
	const char *path = image_string(im, root->path);
	const char *rule = image_rule(im, root->rule);
	_cleanup_free_ char *target = NULL;
	bool absent;
	size_t i;

	target = leads_to(r, path, &absent);
	writer_open_map(w, NULL);
	writer_bytes(w, "path", path, strlen(path));
	writer_open_array(w, "rights");
	for (i = 0; i < RIGHTS; i++)
		if (root->flags & rights[i].bit)
			writer_str(w, NULL, rights[i].word);
	writer_close_array(w);
	writer_bool(w, "itself", root->flags & IMAGE_ROOT_SELF);
	writer_bool(w, "exists", !absent);
	if (target)
		writer_bytes(w, "leads_to", target, strlen(target));
	else
		writer_null(w, "leads_to");
	writer_str(w, "rule", rule);
	writer_close_map(w);
}

static void write_item(const char *item, void *arg)
{
	writer_str(arg, NULL, item);
}

static void write_lack(const char *what, const char *why, void *arg)
{
	writer_open_map(arg, NULL);
	writer_str(arg, "mechanism", what);
	writer_str(arg, "reason", why);
	writer_close_map(arg);
}

static void write_policy(const struct run *r, struct writer *w)
{
	const struct image *im = r->load.im;
	const char *source = image_string(im, im->source);
	char hex[65];

	policy_hash((const char *)im + im->policy.offset, im->policy.count,
		    hex);
	writer_open_map(w, "policy");
	writer_str(w, "name", image_string(im, im->name));
	writer_bytes(w, "source", source, strlen(source));
	writer_str(w, "hash", hex);
	writer_str(w, "profile", profile_names[im->profile]);
	writer_str(w, "level", level_names[im->level]);
	writer_bool(w, "exec", !(im->flags & IMAGE_NO_EXEC));
	writer_close_map(w);
	writer_str(w, "confinement", r->result.confinement == CONFINE_NONE ?
		   "none" : "full");
	writer_str(w, "user", r->id.name);
	writer_bytes(w, "directory", r->cwd_path, strlen(r->cwd_path));
	if (r->command)
		writer_bytes(w, "command", r->command, strlen(r->command));
	else
		writer_null(w, "command");
	writer_open_array(w, "widened");
	widen_each(r, write_item, w);
	writer_close_array(w);
	writer_open_array(w, "lacking_here");
	plan_lacks(r, write_lack, w);
	writer_close_array(w);
	limits_write(w, &im->limits);
}

static void write_names(const struct run *r, struct writer *w)
{
	const struct image *im = r->load.im;
	const struct image_protect *p = image_protects(im);
	size_t i;

	writer_open_array(w, "protected");
	for (i = 0; i < im->protects.count; i++) {
		writer_open_map(w, NULL);
		writer_str(w, "name", image_string(im, p[i].name));
		writer_str(w, "rule", image_rule(im, p[i].rule));
		writer_close_map(w);
	}
	writer_close_array(w);
	writer_open_map(w, "environment");
	writer_str(w, "mode", env_mode_names[im->env_mode]);
	writer_open_array(w, "names");
	for (i = 0; i < r->env.count; i++) {
		_cleanup_free_ char *name = strndup(r->env.vars[i],
				strcspn(r->env.vars[i], "="));

		writer_str(w, NULL, name);
	}
	writer_close_array(w);
	writer_close_map(w);
}

static void put_json(const struct run *r)
{
	_cleanup_writer_ struct writer *w = writer_new();
	const struct image *im = r->load.im;
	_cleanup_free_ char *text = NULL;
	uint32_t i;

	writer_open_map(w, NULL);
	writer_str(w, "schema", "lh.plan.v1");
	write_policy(r, w);
	writer_open_array(w, "roots");
	for (i = 0; i < im->roots.count; i++)
		write_root(r, w, &image_roots(im)[i]);
	writer_close_array(w);
	write_names(r, w);
	writer_uint(w, "seccomp_instructions", im->filter.count);
	writer_json(w, "resolved_policy", (const char *)im + im->policy.offset,
		    im->policy.count);
	writer_close_map(w);
	text = writer_line(w, NULL);
	fputs(text, stdout);
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
	if (r->o.json)
		put_json(r);
	else
		put_text(r);
	if (fflush(stdout)) {
		err_sys(e, -EIO, "standard output");
		return EXIT_OURS;
	}
	return 0;
}
