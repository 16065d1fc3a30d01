// SPDX-License-Identifier: GPL-2.0-only
/*
 * Level by level from the object up: the names that hang below the level along
 * the way, the root that it is, the protected pairs. bpf/walk.bpf.c does the
 * same over dentries.
 */
#include <string.h>

#include "../bpf/fold.h"
#include "trail.h"

struct walk {
	const struct table *t;
	const struct trail_step *steps;
	size_t count, granting;
	struct lh_trail trail;
	/* the step that each rule field came from */
	size_t read, write, deny, pin, socket;
};

static const struct lh_root *root_of(const struct table *t, size_t object)
{
	size_t i;

	if (object == TRAIL_NO_OBJECT)
		return NULL;
	for (i = 0; i < t->count; i++)
		if (t->items[i].kind == LH_ITEM_ROOT &&
		    t->items[i].fd == t->objects[object].fd)
			return &t->items[i].root;
	return NULL;
}

uint32_t trail_flags(const struct table *t, size_t object)
{
	const struct lh_root *root = root_of(t, object);

	return root ? root->flags : 0;
}

static const struct lh_name *name_of(const struct table *t, int fd,
				     uint64_t node, uint64_t hash)
{
	size_t i;

	for (i = 0; i < t->count; i++) {
		const struct lh_item *it = &t->items[i];

		if (it->kind == LH_ITEM_NAME && it->hash == hash &&
		    it->fd == fd && (fd >= 0 || it->parent == node))
			return &it->name;
	}
	return NULL;
}

/* Note who wrote each rule field since @before. */
static void note(struct walk *w, const struct lh_trail *before, size_t step)
{
	const uint32_t found = ~LH_FOUND_MINE;
	const struct lh_trail *now = &w->trail;

	if (now->rule_read != before->rule_read ||
	    (now->rights & ~before->rights & (LH_ROOT_READ | LH_ROOT_EXEC) &&
	     !(before->rights & (LH_ROOT_READ | LH_ROOT_EXEC))))
		w->read = step;
	if (now->rule_write != before->rule_write ||
	    (now->rights & ~before->rights & LH_TRAIL_WRITES))
		w->write = step;
	if (now->rights & ~before->rights & LH_ROOT_SOCKET)
		w->socket = step;
	if (now->rule_deny != before->rule_deny ||
	    (now->found & found && !(before->found & found)))
		w->deny = step;
	if (now->rule_pin != before->rule_pin ||
	    (now->found & ~before->found & (LH_FOUND_PIN | LH_FOUND_PARTIAL)))
		w->pin = step;
}

static uint64_t hash_of(const struct trail_step *s)
{
	size_t len = strlen(s->name);

	return s->folds ? entry_fold_hash(s->name, len, s->folds) :
		entry_name_hash(s->name, len);
}

/*
 * The level below @level, as the names of its tree go: from beside a bind mount
 * over the mount's root, else past it. COUNT: none is left.
 */
static size_t level_below(const struct walk *w, size_t level, bool *aside)
{
	while (level-- > 0) {
		const struct trail_step *s = &w->steps[level];

		if (*aside && s->mounted)
			*aside = false;
		else if (*aside ? !s->aside : s->aside || s->mounted)
			continue;
		return level;
	}
	return w->count;
}

/* Names below the anchor at @level, along the way down to the object. */
static void meet_names(struct walk *w, size_t level, int fd, uint64_t lens)
{
	bool aside = w->steps[level].aside, beside = aside;
	bool grants = level < w->granting && !aside;
	uint64_t node = 0;
	size_t depth;

	for (depth = 0; depth < LH_NAME_DEPTH; depth++) {
		struct lh_trail before = w->trail;
		const struct trail_step *s;
		const struct lh_name *n;
		uint32_t flags;
		size_t len;

		level = level_below(w, level, &beside);
		if (level == w->count)
			return;
		s = &w->steps[level];
		len = strlen(s->name);
		if (len > LH_NAME_MAX ||
		    (!s->folds && !(lens & lh_len_bit(len))))
			return;
		n = name_of(w->t, depth ? -1 : fd, node, hash_of(s));
		flags = !n ? 0 : s->folds ? n->folded : n->flags;
		if (!flags)
			return;
		lh_trail_name(&w->trail, flags, n->rule, level == 0, !grants);
		note(w, &before, level);
		if (!n->node)
			return;
		node = n->node;
		lens = n->name_lens;
	}
}

/* One name against one rule's, which has two hashes. */
static bool wild_is(const struct trail_step *s, uint64_t name, uint64_t fold)
{
	uint64_t hash = hash_of(s);

	return s->folds ? hash == fold || hash == LH_HASH_SHORT : hash == name;
}

static const struct trail_step *step_at(const struct walk *w, size_t level)
{
	static const struct trail_step none = { .name = "" };

	return level < w->count ? &w->steps[level] : &none;
}

/* What the mount covers whose root is above @level, or that root. */
static const struct trail_step *step_over(const struct walk *w, size_t level)
{
	if (++level < w->count && w->steps[level].mounted)
		while (++level < w->count && w->steps[level].aside)
			;
	return step_at(w, level);
}

static void meet_wild(struct walk *w, size_t level, uint32_t access)
{
	bool becomes = level == 0 && (access & LH_BECOME);
	struct lh_trail before = w->trail;
	const struct trail_step *s = &w->steps[level], *up, *over;
	uint32_t i;

	if (level && !s->folds &&
	    !(w->t->wild_lens & lh_len_bit(strlen(s->name))))
		return;
	up = step_at(w, level + 1);
	over = step_over(w, level);
	for (i = 0; i < w->t->wild_count; i++) {
		const struct lh_wild *p = &w->t->wild[i];

		if (wild_is(s, p->name_hash, p->name_fold) &&
		    (wild_is(up, p->parent_hash, p->parent_fold) ||
		     wild_is(over, p->parent_hash, p->parent_fold))) {
			lh_trail_wild(&w->trail, p);
			break;
		}
		/* A directory that arrives as PARENT brings its NAME along. */
		if (becomes && wild_is(s, p->parent_hash, p->parent_fold)) {
			w->trail.found |= LH_FOUND_PARTIAL;
			w->trail.rule_pin = p->rule;
			break;
		}
	}
	note(w, &before, level);
}

static size_t decided(const struct walk *w, const struct lh_verdict *v,
		      uint32_t access)
{
	switch (v->why) {
	case LH_WHY_DENIED:
	case LH_WHY_PROTECTED:
		return w->deny;
	case LH_WHY_PINNED:
		return w->pin;
	case LH_WHY_READ_ONLY:
		return w->write;
	}
	if (v->why == LH_WHY_ALLOW &&
	    (access == LH_CONNECT ||
	     (access == LH_BIND && (w->trail.found & LH_FOUND_BIND))))
		return w->socket;
	return access & LH_CHANGES && (v->why == LH_WHY_ALLOW ||
				       (w->trail.rights & LH_ROOT_DELETE)) ?
		w->write : w->read;
}

struct trail_result trail_walk(const struct table *t,
			       const struct trail_step *steps, size_t count,
			       uint32_t access, bool mine)
{
	return trail_walk_part(t, steps, count, count, access, mine);
}

struct trail_result trail_walk_part(const struct table *t,
				    const struct trail_step *steps,
				    size_t count, size_t granting,
				    uint32_t access, bool mine)
{
	struct walk w = {
		.t = t, .steps = steps, .count = count,
		.granting = granting,
		.trail.found = mine ? LH_FOUND_MINE : 0,
	};
	struct trail_result r = { 0 };
	size_t i;

	for (i = 0; i < count; i++) {
		const struct lh_root *root = root_of(t, steps[i].object);
		struct lh_trail before;

		/* The names first: they lie deeper than their anchor. */
		if (root && (root->flags & LH_ROOT_ANCHOR))
			meet_names(&w, i, t->objects[steps[i].object].fd,
				   root->name_lens);
		before = w.trail;
		if (root)
			lh_trail_root(&w.trail, root, i == 0,
				      i >= granting || steps[i].aside);
		note(&w, &before, i);
		if (access & LH_CHANGES)
			meet_wild(&w, i, access);
	}
	r.verdict = lh_trail_judge(&w.trail, access);
	r.met = r.verdict.rule != LH_RULE_NONE;
	r.step = decided(&w, &r.verdict, access);
	return r;
}
