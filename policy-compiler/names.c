// SPDX-License-Identifier: GPL-2.0-only
/*
 * Rules for names that may not exist: a trie below the deepest directory that
 * does, its anchor. The anchor is known by its inode, what hangs below it by
 * small odd numbers, which no kernel address ever equals.
 */
#include <errno.h>
#include <string.h>

#include "../bpf/fold.h"
#include "table.h"

static uint64_t key_hash(uint32_t object, uint64_t parent, uint64_t hash)
{
	uint64_t h = lh_hash_word(LH_HASH_SEED, object);

	return lh_hash_word(lh_hash_word(h, parent), hash);
}

/* The rule for one component, made if there is none. */
static int find_or_make(struct builder *b, uint32_t object, uint64_t parent,
			uint64_t hash, uint32_t *out)
{
	uint64_t key = key_hash(object, parent, hash);
	struct name_rule *n;
	uint32_t i;
	size_t at = 0;

	while ((i = slots_next(&b->name_slots, key, &at)) != SLOTS_NONE) {
		n = &b->names[i];
		if (n->object == object && n->parent == parent &&
		    n->hash == hash) {
			*out = i;
			return 0;
		}
	}
	n = table_room(b->names, b->name_count, &b->name_room, sizeof(*n));
	if (!n)
		return -ENOMEM;
	b->names = n;
	i = b->name_count;
	if (slots_add(&b->name_slots, key, i))
		return -ENOMEM;
	n[i] = (struct name_rule){ .object = object, .parent = parent,
				   .hash = hash };
	b->name_count++;
	*out = i;
	return 0;
}

/*
 * The stronger rule is the one that a refusal names. @flags hold for this very
 * spelling, @folded where names are folded.
 */
static void merge(struct lh_name *n, uint32_t flags, uint32_t folded,
		  uint16_t rule)
{
	static const uint32_t strength[] = {
		LH_NAME_DENY, LH_NAME_PROTECT, LH_NAME_RDONLY, LH_NAME_WRITE,
		LH_NAME_SOCKET, LH_NAME_PARTIAL,
	};
	size_t i;

	for (i = 0; i < sizeof(strength) / sizeof(strength[0]); i++) {
		if ((n->flags | n->folded) & strength[i])
			break;
		if ((flags | folded) & strength[i]) {
			n->rule = rule;
			break;
		}
	}
	n->flags |= flags;
	n->folded |= folded;
}

/*
 * The component @name as a directory may have it that folds names: under the
 * hash of its folded form; and for vfat's short names, which may stand for it
 * and of which it is not known what they lead to. What lies below hangs below
 * the spelling and the folded form alike: the node of entry *at, if it has one;
 * NAMES_INNER: there is no such entry. What only may be the name is granted
 * nothing.
 */
static int add_folded(struct builder *b, uint32_t object, uint64_t parent,
		      const char *name, size_t len, uint32_t flags,
		      uint32_t whole, uint16_t rule, uint32_t *at)
{
	uint64_t hash = entry_fold_hash(name, len, FOLDS);
	bool wide = hash == LH_HASH_WIDE;
	struct lh_name *n;
	int r;

	whole &= ~LH_NAME_SOCKET;
	if (whole) {
		r = find_or_make(b, object, parent, LH_HASH_SHORT, at);
		if (r)
			return r;
		merge(&b->names[*at].name, 0, whole, rule);
	}
	*at = NAMES_INNER;
	if (wide && !whole)
		return 0;
	r = find_or_make(b, object, parent, hash, at);
	if (r)
		return r;
	n = &b->names[*at].name;
	merge(n, 0, wide ? whole : flags, rule);
	if (!wide && (flags & LH_NAME_PARTIAL) && !n->node)
		n->node = 2 * (uint64_t)*at + 1;
	return 0;
}

/*
 * The component by its short name, @hash, where that may be no more than its
 * beginning: as under its folded form, which entry @folded is. What another
 * rule goes on below is not told apart.
 */
static int add_short(struct builder *b, uint32_t object, uint64_t parent,
		     uint64_t hash, uint32_t flags, uint32_t whole,
		     uint16_t rule, uint32_t folded)
{
	uint64_t node = folded == NAMES_INNER ? 0 : b->names[folded].name.node;
	struct lh_name *n;
	uint32_t at;
	int r;

	if (!hash)
		return 0;
	r = find_or_make(b, object, parent, hash, &at);
	if (r)
		return r;
	n = &b->names[at].name;
	if ((flags & LH_NAME_PARTIAL) &&
	    (!node || (n->node && n->node != node)))
		flags = whole;
	merge(n, 0, flags & ~LH_NAME_SOCKET, rule);
	if (!n->node)
		n->node = node;
	return 0;
}

static size_t components(const char *rest)
{
	size_t n = *rest != 0;

	while ((rest = strchr(rest, '/'))) {
		rest++;
		n++;
	}
	return n;
}

/*
 * How far up a rule says that its name begins: in a home, at the top, or where
 * a variable leads. A credential is not even looked at there.
 */
static size_t said(const struct builder *b, uint16_t rule)
{
	static const char list[] = "builtin:credentials/";
	const char *text = table_rule_text(b, rule);

	return strncmp(text, list, sizeof(list) - 1) ? 0 :
		components(text + sizeof(list) - 1);
}

int names_hold(struct builder *b, uint32_t dir, const char *rest,
	       uint32_t flags, uint16_t rule)
{
	int r = names_add(b, dir, rest, flags, rule);
	size_t n;

	while (!r && dir != ENTRY_TOP) {
		rest = arena_print(&b->es.arena, "%s/%s", b->es.entry[dir].name,
				   rest);
		if (!rest)
			return err_set(b->e, -ENOMEM, "no memory for names");
		dir = b->es.entry[dir].parent;
		n = components(rest);
		if ((!table_rights(b, dir) && n > said(b, rule)) ||
		    n > LH_NAME_DEPTH)
			break;
		r = names_add(b, dir, rest, flags, rule);
	}
	return r;
}

int names_add(struct builder *b, uint32_t dir, const char *rest,
	      uint32_t flags, uint16_t rule)
{
	uint32_t object, anchor, i, folded;
	enum entry_folds how = entry_fat(&b->es.entry[dir]);
	__u64 node = 0, below, *lens, *also;
	int r;

	if (components(rest) > LH_NAME_DEPTH)
		return -ENAMETOOLONG;
	r = table_object(b, dir, &anchor);
	if (!r)
		r = table_hold(b, dir, rule);
	if (r)
		return r;
	object = anchor;
	b->objects[anchor].root.flags |= LH_ROOT_ANCHOR;
	lens = also = &b->objects[anchor].root.name_lens;
	while (*rest) {
		size_t len = strcspn(rest, "/");
		bool last = !rest[len];
		uint32_t here = last ? flags : LH_NAME_PARTIAL;
		struct lh_name *n;

		*lens |= lh_len_bit(len);
		*also |= lh_len_bit(len);
		r = add_folded(b, object, node, rest, len, here, flags, rule,
			       &folded);
		if (!r)
			r = add_short(b, object, node,
				      entry_short_hash(rest, len, how), here,
				      flags, rule, folded);
		if (!r)
			r = find_or_make(b, object, node,
					 entry_name_hash(rest, len), &i);
		if (r)
			return err_set(b->e, r, "no memory for name rules");
		n = &b->names[i].name;
		merge(n, here, 0, rule);
		below = folded == NAMES_INNER ? 0 :
			b->names[folded].name.node;
		if (!last && !n->node)
			n->node = below ? : 2 * (uint64_t)i + 1;
		object = NAMES_INNER;
		node = n->node;
		lens = &n->name_lens;
		/* Not told apart: it has nothing of its own below. */
		also = below ? &b->names[folded].name.name_lens : lens;
		rest += len + !last;
	}
	return 0;
}

static int add_wild(struct builder *b, struct table *t, const struct lh_wild *w)
{
	if (t->wild_count == LH_WILD_MAX)
		return err_set(b->e, -E2BIG,
			       "more than %d names are protected at any depth",
			       LH_WILD_MAX);
	t->wild[t->wild_count++] = *w;
	return 0;
}

/* The pair by short names that are no more than a beginning. */
static int add_short_wild(struct builder *b, struct table *t, struct lh_wild w,
			  uint64_t parent, uint64_t name)
{
	const __u64 fold[2] = { w.parent_fold, w.name_fold };
	int i, r = 0;

	/* In no spelling where names are not folded. */
	w.parent_hash = w.name_hash = LH_HASH_SHORT;
	for (i = 1; i < 4 && !r; i++) {
		if (((i & 1) && !parent) || ((i & 2) && !name))
			continue;
		w.parent_fold = i & 1 ? parent : fold[0];
		w.name_fold = i & 2 ? name : fold[1];
		r = add_wild(b, t, &w);
	}
	return r;
}

/* How a writable root has it, if any that is on FAT has more than a tilde. */
static enum entry_folds writable_fat(const struct builder *b)
{
	enum entry_folds how;
	uint32_t i;

	for (i = 0; i < b->writable_count; i++) {
		how = entry_fat(&b->es.entry[b->writables[i].entry]);
		if (how > FOLDS_SHORT)
			return how;
	}
	return FOLDS_NOT;
}

int names_wild(struct builder *b, struct table *t)
{
	const struct image_protect *p = image_protects(b->im);
	enum entry_folds how = writable_fat(b);
	uint32_t i;
	int r = 0;

	for (i = 0; i < b->im->protects.count && !r; i++) {
		const char *name = image_string(b->im, p[i].name);
		const char *slash = strchr(name, '/');
		size_t len = slash ? strlen(slash + 1) : 0;
		struct lh_wild w = { .rule = p[i].rule };

		if (p[i].kind != PROTECT_WILD)
			continue;
		if (!len || slash == name || strchr(slash + 1, '/') ||
		    len >= LH_NAME_MAX || slash - name > LH_NAME_MAX)
			return err_set(b->e, -EINVAL,
				       "protected name \"%s\" (%s): two components are wanted, PARENT/NAME",
				       name, table_rule_text(b, p[i].rule));
		w.parent_hash = entry_name_hash(name, slash - name);
		w.name_hash = entry_name_hash(slash + 1, len);
		w.parent_fold = entry_fold_hash(name, slash - name, FOLDS);
		w.name_fold = entry_fold_hash(slash + 1, len, FOLDS);
		t->wild_lens |= lh_len_bit(len);
		r = add_wild(b, t, &w);
		if (!r)
			r = add_short_wild(b, t, w,
				entry_short_hash(name, slash - name, how),
				entry_short_hash(slash + 1, len, how));
	}
	return r;
}
