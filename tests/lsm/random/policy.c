// SPDX-License-Identifier: GPL-2.0-only
/*
 * A random policy: its text, and what the reference has to know of it. Grants
 * are directories or files that are there; what is forbidden may be anything.
 */
#define _GNU_SOURCE
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "game.h"

struct text {
	char s[16384];
	size_t len;
};

__attribute__((format(printf, 2, 3)))
static void add(struct text *t, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	t->len += vsnprintf(t->s + t->len, sizeof(t->s) - t->len, fmt, ap);
	va_end(ap);
	if (t->len >= sizeof(t->s))
		abort();
}

static void add_rule(struct game *g, enum rule_kind kind, const char *path)
{
	if (g->rules == RULES)
		abort();
	g->rule[g->rules].kind = kind;
	g->rule[g->rules].itself = false;
	snprintf(g->rule[g->rules].path, TEXT, "%s", path);
	g->rules++;
}

/* What is there, by a path without links; false: none was found. */
static bool real_path(struct game *g, const char *place, char out[TEXT])
{
	for (int i = 0; i < 20; i++) {
		char *real;

		tree_path(g, at(g->w, "%s", place), out);
		if (strstr(out, "/.."))
			continue;
		real = realpath(out, NULL);
		if (real && !strcmp(real, out)) {
			free(real);
			return true;
		}
		free(real);
	}
	return false;
}

/* What need not be there, with up to eight parents that are not. */
static void any_path(struct game *g, const char *place, char out[TEXT])
{
	unsigned int more = roll(g, 3) ? 0 : 1 + roll(g, 8);
	size_t len;

	do
		tree_path(g, at(g->w, "%s", place), out);
	while (strstr(out, "/.."));
	len = strlen(out);
	for (unsigned int i = 0; i < more; i++)
		len += snprintf(out + len, TEXT - len, "/%s",
				roll(g, 2) ? "late" : tree_name(g));
}

typedef void path_fn(struct game *g, struct text *t, int i, const char *);

static void list(struct game *g, struct text *t, const char *name,
		 enum rule_kind kind, unsigned int most)
{
	static const char *const places[] = { "ws", "ws", "ws", "w2", "rd" };
	unsigned int n = roll(g, most + 1), told = 0;
	char path[TEXT];

	add(t, "\"%s\":[", name);
	while (n--) {
		const char *place = ONE_OF(g, places);

		if (kind == RULE_DENY)
			any_path(g, place, path);
		else if (kind == RULE_ONLY && roll(g, 2))
			any_path(g, "ws", path);
		else if (!real_path(g, place, path))
			continue;
		add(t, "%s\"%s\"", told++ ? "," : "", path);
		add_rule(g, kind, path);
	}
	/* Outside of all that is written, too. */
	if (kind == RULE_ONLY || kind == RULE_READ) {
		const char *dir = at(g->w, kind == RULE_ONLY ? "ro" : "rd");

		add(t, "%s\"%s\"", told ? "," : "", dir);
		add_rule(g, kind, dir);
	}
	add(t, "]");
}

static void workspaces(struct game *g, struct text *t)
{
	static const char *const sets[][2] = {
		{ "ws", NULL }, { "ws", NULL }, { "ws", "w2" },
		{ "ws/a", "w2" }, { "ws", "ws/b" },
	};
	const char *const *set = sets[roll(g, 5)];

	if (!exists(at(g->w, "%s", set[0])) ||
	    (set[1] && !exists(at(g->w, "%s", set[1]))))
		set = sets[0];
	add(t, "\"workspace_roots\":[");
	for (int i = 0; i < 2 && set[i]; i++) {
		add(t, "%s\"%s\"", i ? "," : "", at(g->w, "%s", set[i]));
		add_rule(g, RULE_WRITE, at(g->w, "%s", set[i]));
	}
	add(t, "],");
}

/* Mostly all of them. */
static void capabilities(struct game *g, struct text *t)
{
	static const char *const levels[] = {
		"process_exec", "process_exec", "process_exec", "process_exec",
		"process_exec", "process_exec", "workspace_write",
		"workspace_write", "read_only", "none",
	};
	static const char *const sets[] = {
		"\"read_text\",\"write_text\",\"delete\"",
		"\"list\",\"delete\"", "\"exists\"", "\"write_text\"",
		"\"delete\"", "\"read_text\",\"write_text\"",
	};
	unsigned int level = roll(g, 10), set = roll(g, 3) ? 0 : roll(g, 6);
	bool exec = roll(g, 8);

	add(t, "\"side_effect_level\":\"%s\",", levels[level]);
	add(t, "\"capabilities\":{\"workspace\":[%s],\"process\":[%s]},",
	    sets[set], exec ? "\"exec\"" : "");
	g->reads = level < 9 && set != 3 && set != 4;
	g->writes = level < 8 && (set == 0 || set == 3 || set == 5);
	g->deletes = level < 8 && (set == 0 || set == 1 || set == 4);
	g->runs = level < 6 && exec;
}

static bool inside(const char *path, const char *dir)
{
	size_t n = strlen(dir);

	return !strncmp(path, dir, n) && (!path[n] || path[n] == '/');
}

/* Does the policy let write there, or somewhere below? */
static bool is_near_writable(const struct game *g, const char *path)
{
	for (unsigned int i = 0; i < g->rules; i++)
		if (g->rule[i].kind == RULE_WRITE &&
		    (inside(path, g->rule[i].path) ||
		     inside(g->rule[i].path, path)))
			return true;
	return false;
}

/* A rule more than once would be no other. */
static bool add_once(struct game *g, enum rule_kind kind, const char *path)
{
	for (unsigned int i = 0; i < g->rules; i++)
		if (g->rule[i].kind == kind && !strcmp(g->rule[i].path, path))
			return false;
	add_rule(g, kind, path);
	return true;
}

/*
 * The names of the repository at @dir, policy.md's list. True: there is one,
 * and git looks no further up.
 */
static bool repository(struct game *g, const char *dir, bool config)
{
	static const char *const inner[] = {
		"hooks", "config.worktree", "info/attributes", "commondir",
		"config",
	};
	char path[TEXT], *real;
	struct stat st;
	size_t n = sizeof(inner) / sizeof(inner[0]) - !config;

	snprintf(path, sizeof(path), "%.700s/.git", dir);
	if (lstat(path, &st))
		return false;
	/* A directory stays in its place; a file or a link is not written. */
	if (is_near_writable(g, path) &&
	    add_once(g, S_ISDIR(st.st_mode) ? RULE_STAY : RULE_PROTECT, path))
		g->rule[g->rules - 1].itself = true;
	real = realpath(path, NULL);
	if (!real || stat(real, &st) || !S_ISDIR(st.st_mode)) {
		free(real);
		return false;
	}
	for (size_t i = 0; i < n && is_near_writable(g, real); i++) {
		snprintf(path, sizeof(path), "%.700s/%s", real, inner[i]);
		add_once(g, RULE_PROTECT, path);
	}
	snprintf(path, sizeof(path), "%.700s/HEAD", real);
	free(real);
	return !stat(path, &st) && S_ISREG(st.st_mode);
}

/* What is protected without being named: needs all roots. */
static void protect(struct game *g, struct text *t)
{
	bool keys = !roll(g, 3), pq = !roll(g, 3), config = roll(g, 6);
	unsigned int n = g->rules;
	char dir[TEXT];
	struct stat st;

	g->wild_own = pq && (g->writes || g->deletes);
	g->wild = roll(g, 6) && (g->writes || g->deletes);
	add(t, "\"protect\":{\"add\":[%s%s%s],\"exclude\":[%s%s%s]},",
	    keys ? "\"keys\"" : "", keys && pq ? "," : "",
	    pq ? "\"**/p/q\"" : "", config ? "" : "\".git/config\"",
	    config || g->wild ? "" : ",", g->wild || !(g->writes || g->deletes)
	    ? "" : "\"**/.git/hooks\"");
	if (!g->writes && !g->deletes)
		return;
	for (unsigned int i = 0; i < n; i++) {
		if (g->rule[i].kind != RULE_WRITE)
			continue;
		snprintf(dir, sizeof(dir), "%s", g->rule[i].path);
		if (stat(dir, &st))
			continue;
		if (!S_ISDIR(st.st_mode)) {
			*strrchr(dir, '/') = 0;
		} else if (keys) {
			char path[TEXT];

			snprintf(path, sizeof(path), "%.700s/keys", dir);
			add_once(g, RULE_PROTECT, path);
		}
		while (strlen(dir) > strlen(g->w->dir) &&
		       !repository(g, dir, config))
			*strrchr(dir, '/') = 0;
	}
}

int policy_random(struct game *g)
{
	struct text *t = calloc(1, sizeof(*t));
	int r;

	g->rules = 0;
	add(t, "{\"version\":1,\"name\":\"random\",");
	capabilities(g, t);
	workspaces(g, t);
	list(g, t, "read_only_roots", RULE_ONLY, 3);
	add(t, ",\"process_sandbox\":{\"presets\":[%s],",
	    roll(g, 3) ? "\"user_temp\"" : "");
	list(g, t, "read_roots", RULE_READ, 2);
	add(t, ",");
	list(g, t, "write_roots", RULE_WRITE, 2);
	add(t, ",");
	list(g, t, "read_deny_roots", RULE_DENY, 4);
	add(t, "},");
	protect(g, t);
	add(t, "\"sandbox_profile\":\"os_hardened\"}\n");
	r = world_file(g->w, at(g->w, "log/policy.json"), t->s);
	free(t);
	return r;
}
