// SPDX-License-Identifier: GPL-2.0-only
/*
 * One item an inode: what several rules say of it is merged here, by the
 * precedence that decide.h has between roots. Written out in the order of
 * paths, so the same tree gives the same table.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../bpf/decide.h"
#include "table.h"

#define READS (LH_ROOT_READ | LH_ROOT_EXEC | LH_ROOT_OWN)
#define WRITES (LH_ROOT_WRITE | LH_ROOT_DELETE)

void *table_room(void *array, uint32_t count, uint32_t *room, size_t size)
{
	void *p;

	if (count < *room)
		return array;
	p = realloc(array, (*room ? *room * 2 : 64) * size);
	if (p)
		*room = *room ? *room * 2 : 64;
	return p;
}

static int no_memory(struct builder *b)
{
	return err_set(b->e, -ENOMEM, "no memory for the session's table");
}

static int object_fd(const struct builder *b, const struct object *o)
{
	return o->fd >= 0 ? o->fd : b->es.entry[o->entry].fd;
}

static int object_find(struct builder *b, uint32_t entry, int fd, dev_t dev,
		       ino_t ino, uint32_t *object)
{
	uint64_t hash = lh_hash_word(lh_hash_word(LH_HASH_SEED, dev), ino);
	struct object *o;
	size_t at = 0;
	uint32_t i;

	while ((i = slots_next(&b->object_slots, hash, &at)) != SLOTS_NONE) {
		o = &b->objects[i];
		if (o->dev == dev && o->ino == ino &&
		    entry_same_inode(object_fd(b, o), fd)) {
			*object = i;
			return 0;
		}
	}
	o = table_room(b->objects, b->object_count, &b->object_room,
		       sizeof(*o));
	if (!o)
		return no_memory(b);
	b->objects = o;
	if (slots_add(&b->object_slots, hash, b->object_count))
		return no_memory(b);
	*object = b->object_count++;
	o[*object] = (struct object){ .entry = entry, .fd = -1, .dev = dev,
				      .ino = ino };
	return 0;
}

int table_object(struct builder *b, uint32_t entry, uint32_t *object)
{
	struct entry *p = &b->es.entry[entry];
	int r = 0;

	if (p->object == ENTRY_NONE)
		r = object_find(b, entry, p->fd, p->dev, p->ino, &p->object);
	if (!r)
		*object = p->object;
	return r;
}

int table_object_fd(struct builder *b, int fd, uint32_t *object)
{
	struct stat st;
	int r;

	if (fstat(fd, &st)) {
		r = err_sys(b->e, -errno, "descriptor of the command");
		close(fd);
		return r;
	}
	r = object_find(b, ENTRY_NONE, fd, st.st_dev, st.st_ino, object);
	if (!r && b->objects[*object].entry == ENTRY_NONE &&
	    b->objects[*object].fd < 0)
		b->objects[*object].fd = fd;
	else
		close(fd);
	return r;
}

int table_root(struct builder *b, uint32_t entry, uint32_t flags,
	       uint16_t rule)
{
	struct lh_root *r;
	uint32_t object;
	int err = table_object(b, entry, &object);

	if (err)
		return err;
	r = &b->objects[object].root;
	if ((flags & READS) && !(r->flags & READS))
		r->rule_read = rule;
	if ((flags & LH_ROOT_RDONLY) && !(r->flags & LH_ROOT_RDONLY))
		r->rule_write = rule;
	else if ((flags & WRITES) && !(r->flags & LH_TRAIL_WRITES))
		r->rule_write = rule;
	if ((flags & LH_ROOT_DENY) && !(r->flags & LH_ROOT_DENY))
		r->rule_deny = rule;
	else if ((flags & LH_ROOT_PROTECT) &&
		 !(r->flags & (LH_ROOT_DENY | LH_ROOT_PROTECT)))
		r->rule_deny = rule;
	else if ((flags & LH_ROOT_APART) && !r->rule_deny)
		r->rule_deny = rule;
	if ((flags & LH_ROOT_SOCKET) && !(r->flags & LH_ROOT_SOCKET))
		r->rule_socket = rule;
	r->flags |= flags & LH_ROOT_MASK;
	return 0;
}

static void pin(struct lh_root *r, uint16_t rule)
{
	if (!(r->flags & LH_ROOT_PIN) && !r->self)
		r->rule_self = rule;
	r->flags |= LH_ROOT_PIN;
}

int table_self(struct builder *b, uint32_t object, uint32_t rights,
	       uint16_t rule)
{
	struct lh_root *r = &b->objects[object].root;

	if (!r->self)
		r->rule_self = rule;
	r->self |= rights;
	/* The right to write a file's content is none to its name. */
	if (rights & LH_ROOT_WRITE)
		pin(r, rule);
	return 0;
}

int table_hold(struct builder *b, uint32_t entry, uint16_t rule)
{
	struct hold *h = table_room(b->holds, b->hold_count, &b->hold_room,
				    sizeof(*h));

	if (!h)
		return no_memory(b);
	b->holds = h;
	h[b->hold_count++] = (struct hold){ .entry = entry, .rule = rule };
	return 0;
}

int table_new_rule(struct builder *b, const char *text, uint16_t *rule)
{
	uint32_t i;
	char **p;

	for (i = 0; i < b->rule_count; i++)
		if (strcmp(b->rules[i], text) == 0) {
			*rule = b->im->rules.count + i;
			return 0;
		}
	if (b->im->rules.count + b->rule_count >= IMAGE_RULES_MAX)
		return err_set(b->e, -E2BIG, "the policy has too many rules");
	p = table_room(b->rules, b->rule_count, &b->rule_room, sizeof(*p));
	if (!p)
		return no_memory(b);
	b->rules = p;
	p[b->rule_count] = strdup(text);
	if (!p[b->rule_count])
		return no_memory(b);
	*rule = b->im->rules.count + b->rule_count++;
	return 0;
}

const char *table_rule_text(const struct builder *b, uint16_t rule)
{
	if (rule < b->im->rules.count)
		return image_rule(b->im, rule);
	return b->rules[rule - b->im->rules.count];
}

static uint32_t flags_at(const struct builder *b, uint32_t entry)
{
	uint32_t object = b->es.entry[entry].object, flags;

	if (object == ENTRY_NONE)
		return 0;
	flags = b->objects[object].root.flags;
	return flags & LH_ROOT_RDONLY ? flags & ~WRITES : flags;
}

uint32_t table_rights(const struct builder *b, uint32_t entry)
{
	uint32_t rights = 0;

	for (;; entry = b->es.entry[entry].parent) {
		uint32_t flags = flags_at(b, entry);

		rights |= flags & (LH_ROOT_READ | LH_ROOT_EXEC |
				   LH_ROOT_SOCKET);
		if (!(rights & LH_TRAIL_WRITES))
			rights |= flags & LH_TRAIL_WRITES;
		if (entry == ENTRY_TOP)
			return rights;
	}
}

/* The highest place at or above @entry that grants writing, or NONE. */
static uint32_t area_of(const struct builder *b, uint32_t entry)
{
	uint32_t area = ENTRY_NONE;

	for (;; entry = b->es.entry[entry].parent) {
		if (flags_at(b, entry) & WRITES)
			area = entry;
		if (entry == ENTRY_TOP)
			return area;
	}
}

bool table_is_writable(const struct builder *b, uint32_t entry)
{
	return area_of(b, entry) != ENTRY_NONE;
}

/* Nothing between a root and the top of its writable area may move. */
static int pin_all(struct builder *b)
{
	uint32_t i, object;
	int r;

	for (i = 0; i < b->hold_count; i++) {
		uint32_t at = b->holds[i].entry, area = area_of(b, at);

		if (area == ENTRY_NONE)
			continue;
		for (;; at = b->es.entry[at].parent) {
			r = table_object(b, at, &object);
			if (r)
				return r;
			pin(&b->objects[object].root, b->holds[i].rule);
			if (at == area)
				break;
		}
	}
	return 0;
}

static char *path_of_fd(int fd)
{
	char link[32], path[PATH_MAX];
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, path, sizeof(path) - 1);
	return strndup(n > 0 ? path : "?", n > 0 ? n : 1);
}

static int by_path(const void *x, const void *y, void *arg)
{
	const struct object *objects = arg;
	uint32_t i = *(const uint32_t *)x, j = *(const uint32_t *)y;
	int r = strcmp(objects[i].path, objects[j].path);

	return r ? r : (i > j) - (i < j);
}

/* Numbers of the objects that have something to say, by path. */
static int sort_objects(struct builder *b, uint32_t *order, uint32_t *count)
{
	uint32_t i, n = 0;

	for (i = 0; i < b->object_count; i++) {
		struct object *o = &b->objects[i];

		if (!o->root.flags && !o->root.self)
			continue;
		o->path = o->entry == ENTRY_NONE ? path_of_fd(o->fd) :
			entries_path(&b->es, o->entry);
		if (!o->path)
			return no_memory(b);
		order[n++] = i;
	}
	qsort_r(order, n, sizeof(*order), by_path, b->objects);
	*count = n;
	return 0;
}

/* The object's descriptor and path change hands. */
static int write_object(struct builder *b, struct object *o, struct table *t)
{
	struct table_object *out = &t->objects[t->object_count++];
	struct lh_root *r = &o->root;

	*out = (struct table_object){ .fd = object_fd(b, o), .dev = o->dev,
				      .ino = o->ino, .path = o->path };
	if (o->fd < 0)
		b->es.entry[o->entry].fd = -1;
	o->fd = out->fd;
	o->path = NULL;
	o->handed = true;
	if (r->flags & LH_ROOT_RDONLY) {
		r->flags &= ~WRITES;
		r->self &= ~LH_ROOT_WRITE;
	}
	t->items[t->count++] = (struct lh_item){
		.kind = LH_ITEM_ROOT, .fd = out->fd, .root = *r,
	};
	if (!(r->flags & WRITES))
		return 0;
	t->writable[t->writable_count] = strdup(out->path);
	return t->writable[t->writable_count++] ? 0 : no_memory(b);
}

static void write_name(struct builder *b, const struct name_rule *n,
		       struct table *t)
{
	t->items[t->count++] = (struct lh_item){
		.kind = LH_ITEM_NAME,
		.fd = n->object == NAMES_INNER ? -1 : b->objects[n->object].fd,
		.parent = n->parent, .hash = n->hash, .name = n->name,
	};
}

static int write_items(struct builder *b, const uint32_t *order,
		       uint32_t count, struct table *t)
{
	uint32_t i;
	int r = 0;

	if (count + b->name_count > LH_ITEMS_MAX)
		return err_set(b->e, -E2BIG,
			       "the policy comes to %u roots and names, more than %u: name directories instead of single files",
			       count + b->name_count, LH_ITEMS_MAX);
	t->objects = calloc(count + 1, sizeof(*t->objects));
	t->items = calloc(count + b->name_count + 1, sizeof(*t->items));
	t->writable = calloc(count + 1, sizeof(*t->writable));
	if (!t->objects || !t->items || !t->writable)
		return no_memory(b);
	for (i = 0; i < count && !r; i++)
		r = write_object(b, &b->objects[order[i]], t);
	for (i = 0; i < b->name_count && !r; i++)
		write_name(b, &b->names[i], t);
	return r;
}

static void array_free(uint32_t **p)
{
	free(*p);
}

int table_finish(struct builder *b, struct table *t)
{
	uint32_t *order __attribute__((cleanup(array_free))) = NULL;
	uint32_t count = 0;
	int r = pin_all(b);

	if (r)
		return r;
	order = calloc(b->object_count + 1, sizeof(*order));
	if (!order)
		return no_memory(b);
	r = sort_objects(b, order, &count);
	if (!r)
		r = write_items(b, order, count, t);
	if (r)
		return r;
	t->extra_rules = b->rules;
	t->extra_rule_count = b->rule_count;
	b->rules = NULL;
	b->rule_count = 0;
	t->open_files = b->es.open_files;
	return 0;
}

void table_discard(struct builder *b)
{
	uint32_t i;

	for (i = 0; i < b->object_count; i++) {
		if (b->objects[i].fd >= 0 && !b->objects[i].handed)
			close(b->objects[i].fd);
		free(b->objects[i].path);
	}
	for (i = 0; i < b->rule_count; i++)
		free(b->rules[i]);
	free(b->rules);
	free(b->objects);
	free(b->names);
	free(b->holds);
	free(b->writables);
	free(b->repositories);
	slots_free(&b->object_slots);
	slots_free(&b->name_slots);
	entries_free(&b->es);
}

void table_free(struct table *t)
{
	size_t i;

	for (i = 0; i < t->object_count; i++) {
		close(t->objects[i].fd);
		free(t->objects[i].path);
	}
	for (i = 0; i < t->extra_rule_count; i++)
		free(t->extra_rules[i]);
	for (i = 0; i < t->writable_count; i++)
		free(t->writable[i]);
	free(t->objects);
	free(t->items);
	free(t->extra_rules);
	free(t->writable);
	*t = (struct table){ 0 };
}

const char *table_rule(const struct image *im, const struct table *t,
		       unsigned int rule)
{
	if (rule < im->rules.count)
		return image_rule(im, rule);
	rule -= im->rules.count;
	return rule < t->extra_rule_count ? t->extra_rules[rule] : "default";
}
