// SPDX-License-Identifier: GPL-2.0-only
/*
 * The reference: what the words of the policy say of a path, as slowly and as
 * plainly as can be. At the start each root is followed by hand, and what it
 * leads to is known from then on by its inode; what forbids holds by its name
 * too, seen from each directory above it. Later only paths are compared.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "game.h"

#define ROOM (4 * TEXT)

static unsigned int components(const char *path)
{
	unsigned int n = *path != 0;

	for (; *path; path++)
		n += *path == '/';
	return n;
}

static bool inside(const char *path, const char *dir)
{
	size_t n = strlen(dir);

	return !strncmp(path, dir, n) && (!path[n] || path[n] == '/');
}

static bool forbids(enum rule_kind kind)
{
	return kind == RULE_DENY || kind == RULE_PROTECT || kind == RULE_ONLY;
}

/* Does such a rule say anything, with the capabilities that are left? */
static bool counts(const struct game *g, enum rule_kind kind)
{
	return kind == RULE_WRITE ? g->reads || g->writes || g->deletes :
		kind == RULE_READ ? g->reads : true;
}

static bool grants(const struct game *g, enum rule_kind kind)
{
	return counts(g, kind) && (kind == RULE_WRITE || kind == RULE_READ ||
				   kind == RULE_ONLY || kind == RULE_TEMP);
}

static bool may_write(const struct game *g, enum rule_kind kind)
{
	return kind == RULE_TEMP ||
	       (kind == RULE_WRITE && (g->writes || g->deletes));
}

/* The paths of grants have no links in them, so a prefix says it. */
static bool is_granted(const struct game *g, const char *path)
{
	for (unsigned int i = 0; i < g->rules; i++)
		if (grants(g, g->rule[i].kind) && inside(path, g->rule[i].path))
			return true;
	return false;
}

/* What is named both ways is never written. */
static bool is_only(const struct game *g, const char *path)
{
	for (unsigned int i = 0; i < g->rules; i++)
		if (g->rule[i].kind == RULE_ONLY &&
		    !strcmp(g->rule[i].path, path))
			return true;
	return false;
}

/* The highest root above @path that may be written, or NULL. */
static const char *area(const struct game *g, const char *path)
{
	const char *best = NULL;

	for (unsigned int i = 0; i < g->rules; i++)
		if (may_write(g, g->rule[i].kind) &&
		    inside(path, g->rule[i].path) &&
		    (!best || strlen(g->rule[i].path) < strlen(best)) &&
		    !is_only(g, g->rule[i].path))
			best = g->rule[i].path;
	return best;
}

static struct id id_of(const char *path)
{
	struct stat st;

	if (lstat(path, &st))
		return (struct id){ 0 };
	return (struct id){ st.st_dev, st.st_ino };
}

static bool is_pin(const struct game *g, const struct id *id)
{
	for (unsigned int i = 0; i < g->pins; i++)
		if (same(&g->pin[i], id))
			return true;
	return false;
}

/* A root, and what is above it inside a writable area, stays in place. */
static void stays(struct game *g, const char *path)
{
	const char *top = area(g, path);
	char up[TEXT];

	if (!top)
		return;
	snprintf(up, sizeof(up), "%s", path);
	for (;;) {
		g->pin[g->pins] = id_of(up);
		if (!is_pin(g, &g->pin[g->pins]) && ++g->pins == PINS)
			abort();
		if (!strcmp(up, top))
			return;
		*strrchr(up, '/') = 0;
	}
}

/*
 * The name @rest below the directory @dir, which is there: held as it is seen
 * from there, and from what lies above as far as something is granted.
 */
static void holds_name(struct game *g, enum rule_kind kind, const char *dir,
		       const char *rest)
{
	char above[TEXT], name[2 * TEXT];

	snprintf(above, sizeof(above), "%s", dir);
	snprintf(name, sizeof(name), "%s", rest);
	for (;;) {
		struct hold *h = &g->hold[g->holds];
		char *slash = strrchr(above, '/'), more[2 * TEXT];

		if (components(name) > 8)
			return;
		if (g->holds++ == HOLDS)
			abort();
		h->kind = kind;
		h->anchor = id_of(above);
		snprintf(h->rest, sizeof(h->rest), "%.1000s", name);
		stays(g, above);
		if (slash == above)
			return;
		snprintf(more, sizeof(more), "%s/%.1000s", slash + 1, name);
		*slash = 0;
		if (!is_granted(g, above))
			return;
		snprintf(name, sizeof(name), "%s", more);
	}
}

/* Go along a rule's path as open(2) would, and note what it meets. */
static void follow(struct game *g, struct rule *r)
{
	char todo[ROOM], path[ROOM] = "", next[2 * ROOM], target[TEXT];
	int links = 0;

	snprintf(todo, sizeof(todo), "%s", r->path + 1);
	while (*todo) {
		size_t n = strcspn(todo, "/");
		char name[TEXT], rest[ROOM];
		struct stat st;
		ssize_t len;

		snprintf(name, sizeof(name), "%.*s", (int)n, todo);
		snprintf(rest, sizeof(rest), "%s", todo + n + (todo[n] == '/'));
		if (!*name || !strcmp(name, ".")) {
			strcpy(todo, rest);
			continue;
		}
		if (!strcmp(name, "..")) {
			if (*path)
				*strrchr(path, '/') = 0;
			strcpy(todo, rest);
			continue;
		}
		snprintf(next, sizeof(next), "%s/%s", path, name);
		/* Nothing is there, or no directory: the name alone is left. */
		if (lstat(next, &st) ||
		    (*rest && !S_ISDIR(st.st_mode) && !S_ISLNK(st.st_mode))) {
			if (forbids(r->kind))
				holds_name(g, r->kind, path, todo);
			return;
		}
		if (S_ISLNK(st.st_mode) && (*rest || !r->itself)) {
			/* What comes in the link's place is held as well. */
			if (forbids(r->kind)) {
				stays(g, next);
				holds_name(g, r->kind, path, todo);
			}
			if (++links > 40)
				return;
			len = readlink(next, target, sizeof(target) - 1);
			target[len > 0 ? len : 0] = 0;
			if (*target == '/')
				*path = 0;
			snprintf(todo, sizeof(todo), "%s%s%.3000s", target,
				 *rest ? "/" : "", rest);
			continue;
		}
		strcpy(path, next);
		strcpy(todo, rest);
	}
	r->id = id_of(path);
	stays(g, path);
	if (forbids(r->kind)) {
		char *slash = strrchr(path, '/');

		*slash = 0;
		holds_name(g, r->kind, path, slash + 1);
	}
}

int reference_start(struct game *g)
{
	g->holds = g->pins = 0;
	for (unsigned int i = 0; i < g->rules; i++)
		if (counts(g, g->rule[i].kind))
			follow(g, &g->rule[i]);
	return 0;
}

/* Is @l a root of this kind? */
static bool is_root(const struct game *g, const struct level *l,
		    enum rule_kind kind)
{
	for (unsigned int i = 0; i < g->rules; i++)
		if (g->rule[i].kind == kind && counts(g, kind) &&
		    same(&g->rule[i].id, &l->id))
			return true;
	return false;
}

#define ON_THE_WAY 1
#define ASIDE 2		/* where the source of a bind mount lies */

static int side_of(const struct level *l)
{
	return l->aside ? ASIDE : ON_THE_WAY;
}

/*
 * Is the object, or something above it, at a name that a rule of this kind
 * holds? @down: how far below the name the object is, "" for there. @sides: of
 * names on the way, and of those that are not.
 */
static bool is_named(const struct game *g, const struct spot *p,
		     enum rule_kind kind, const char *down, int sides)
{
	char want[2 * TEXT];

	for (unsigned int i = 0; i < p->count; i++)
		for (unsigned int k = 0; k < g->holds; k++) {
			const struct hold *h = &g->hold[k];

			if (h->kind != kind ||
			    !(sides & side_of(&p->level[i])) ||
			    !same(&h->anchor, &p->level[i].id))
				continue;
			if (!down) {
				if (inside(p->level[i].below, h->rest))
					return true;
				continue;
			}
			snprintf(want, sizeof(want), "%s%s%s", h->rest,
				 *down ? "/" : "", down);
			if (!strcmp(p->level[i].below, want))
				return true;
		}
	return false;
}

/* By whatever name: of it, of something above it. */
static bool is_held(const struct game *g, const struct spot *p,
		    enum rule_kind kind)
{
	for (unsigned int i = 0; i < p->count; i++)
		if (is_root(g, &p->level[i], kind))
			return true;
	return is_named(g, p, kind, NULL, ON_THE_WAY | ASIDE);
}

/* Would a rule's name lead through this very name? */
static bool is_on_the_way(const struct game *g, const struct spot *p)
{
	for (unsigned int i = 0; i < p->count; i++)
		for (unsigned int k = 0; k < g->holds; k++) {
			const struct hold *h = &g->hold[k];
			const char *below = p->level[i].below;

			if (*below && !p->level[i].aside &&
			    same(&h->anchor, &p->level[i].id) &&
			    strcmp(h->rest, below) && inside(h->rest, below))
				return true;
		}
	return false;
}

/* PARENT/NAME somewhere in one of the object's names. */
static bool has_pair(const struct spot *p, const char *pair)
{
	char text[2 * TEXT], want[64];

	snprintf(want, sizeof(want), "/%s/", pair);
	for (unsigned int i = 0; i < p->count; i++) {
		snprintf(text, sizeof(text), "/%s/", p->level[i].below);
		if (strstr(text, want))
			return true;
	}
	return false;
}

static bool is_wild(const struct game *g, const struct spot *p)
{
	return (g->wild && has_pair(p, ".git/hooks")) ||
	       (g->wild_own && has_pair(p, "p/q"));
}

/* A directory that arrives as PARENT would bring its NAME along. */
static bool is_wild_parent(const struct game *g, const struct spot *p)
{
	const char *name = strrchr(p->path, '/') + 1;

	return (g->wild && !strcmp(name, ".git")) ||
	       (g->wild_own && !strcmp(name, "p"));
}

/*
 * Of a writable and a read-only root the deeper one decides: 1 writable, -1
 * read-only, 0 neither. What is never written is not where it is shown either.
 */
static int writing(const struct game *g, const struct spot *p, bool *temp)
{
	*temp = false;
	for (unsigned int i = 0; i < p->count; i++) {
		const struct level *l = &p->level[i];

		if (is_root(g, l, RULE_ONLY))
			return -1;
		*temp = !l->aside && is_root(g, l, RULE_TEMP);
		if (*temp || (!l->aside && is_root(g, l, RULE_WRITE) &&
			      (g->writes || g->deletes)))
			return 1;
		/* What the host put in its place is known by the name alone. */
		if (!l->mounted &&
		    is_named(g, p, RULE_ONLY, l->below, side_of(l)))
			return -1;
	}
	return 0;
}

/* What the object may be used for, if nothing forbids it. */
static unsigned int rights(const struct game *g, const struct spot *p)
{
	unsigned int may = 0;
	bool temp;

	for (unsigned int i = 0; i < p->count; i++) {
		const struct level *l = &p->level[i];

		if (l->aside)
			continue;
		if (is_root(g, l, RULE_TEMP) ||
		    (g->reads && (is_root(g, l, RULE_WRITE) ||
				  is_root(g, l, RULE_READ) ||
				  is_root(g, l, RULE_ONLY))))
			may |= NEED_READ | NEED_RUN;
	}
	if (writing(g, p, &temp) <= 0)
		return may;
	if (g->writes || temp)
		may |= NEED_WRITE | NEED_ARRIVE;
	return may | NEED_REMOVE | NEED_CARRY;
}

const char *reference_judge(const struct game *g, const struct spot *p,
			    unsigned int need)
{
	bool temp;

	if (is_held(g, p, RULE_DENY))
		return "denied";
	if (need == NEED_LOOK)
		return NULL;
	if ((need & NEED_CHANGE) && is_held(g, p, RULE_PROTECT))
		return "protected";
	if ((need & (NEED_WRITE | NEED_ARRIVE)) && is_wild(g, p))
		return "protected";
	if ((need & (NEED_REMOVE | NEED_CARRY)) && is_pin(g, &p->level[0].id))
		return "pinned";
	if ((need & (NEED_CARRY | NEED_ARRIVE)) && is_on_the_way(g, p))
		return "pinned";
	if ((need & NEED_ARRIVE) && is_wild_parent(g, p))
		return "pinned";
	if ((need & NEED_CHANGE) && writing(g, p, &temp) < 0)
		return "read_only";
	if (need & ~rights(g, p))
		return "not_granted";
	if ((need & NEED_RUN) && !g->runs)
		return "no_exec";
	return NULL;
}
