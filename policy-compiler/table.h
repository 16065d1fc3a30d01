/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A table while it is being made: what each root, name and repository adds is
 * collected here, by inode, and written out once at the end.
 */
#ifndef LH_TABLE_H
#define LH_TABLE_H

#include "entry.h"

/* One inode that the table speaks of. */
struct object {
	uint32_t entry;		/* where it was met first, or ENTRY_NONE */
	int fd;			/* its own, without an entry; else -1 */
	dev_t dev;
	ino_t ino;
	struct lh_root root;
	char *path;		/* while being written */
	bool handed;		/* the descriptor is the table's now */
};

/* One component of a name rule. */
struct name_rule {
	uint32_t object;	/* anchor, or NAMES_INNER */
	uint64_t hash;
	uint64_t parent;	/* node it hangs below, inside */
	struct lh_name name;
};

#define NAMES_INNER UINT32_MAX

/* A place that must stay where it is, if it lies in a writable area. */
struct hold {
	uint32_t entry;
	uint16_t rule;
};

struct writable {
	uint32_t entry;
	uint32_t flags;
};

struct builder {
	const struct image *im;
	const struct resolve_options *o;
	struct err *e;
	struct entries es;
	struct object *objects;
	uint32_t object_count, object_room;
	struct slots object_slots;	/* by device and number */
	struct name_rule *names;
	uint32_t name_count, name_room;
	struct slots name_slots;	/* by parent and hash */
	struct hold *holds;
	uint32_t hold_count, hold_room;
	struct writable *writables;	/* roots that the policy names */
	uint32_t writable_count, writable_room;
	uint32_t *repositories;		/* git directories seen */
	uint32_t repository_count, repository_room;
	uint32_t looked;		/* directories, in search of them */
	int broken;			/* a look-up that failed for our sake */
	char **rules;			/* added texts */
	uint32_t rule_count, rule_room;
};

/* A root to be added. */
struct wish {
	uint32_t base;		/* entry that a relative path starts from */
	const char *path;
	uint32_t flags;		/* LH_ROOT_*, IMAGE_ROOT_* */
	uint16_t rule;
	bool self;		/* open it as root if the user may not */
};

/* Room for one more element of @size; NULL: no memory. */
void *table_room(void *array, uint32_t count, uint32_t *room, size_t size);

/*
 * Each gives 0 or negative errno with b->e set, unless said otherwise.
 */
int table_add(struct builder *b, const struct wish *w);
/* @flags on the object at @entry and all below it; merged by precedence. */
int table_root(struct builder *b, uint32_t entry, uint32_t flags,
	       uint16_t rule);
/* LH_ROOT_READ|WRITE|EXEC on one object alone. */
int table_self(struct builder *b, uint32_t object, uint32_t rights,
	       uint16_t rule);
int table_object(struct builder *b, uint32_t entry, uint32_t *object);
/* The object behind @fd, which the table owns from now on. */
int table_object_fd(struct builder *b, int fd, uint32_t *object);
int table_hold(struct builder *b, uint32_t entry, uint16_t rule);
/* Number of a rule that the image does not have. */
int table_new_rule(struct builder *b, const char *text, uint16_t *rule);
const char *table_rule_text(const struct builder *b, uint16_t rule);
/* The rights that roots met so far give at @entry: LH_ROOT_*. */
uint32_t table_rights(const struct builder *b, uint32_t entry);
/* Whether a session may change names in @entry, or some place above it. */
bool table_is_writable(const struct builder *b, uint32_t entry);

/*
 * The components @rest below the directory @dir carry @flags (LH_NAME_*).
 * -ENAMETOOLONG without b->e: more than LH_NAME_DEPTH.
 */
int names_add(struct builder *b, uint32_t dir, const char *rest,
	      uint32_t flags, uint16_t rule);

/*
 * The same, also as seen from each place above that some root grants or the
 * rule names: a directory on the way may be replaced by another of its name.
 */
int names_hold(struct builder *b, uint32_t dir, const char *rest,
	       uint32_t flags, uint16_t rule);
/* PARENT/NAME pairs, wherever they stand, into @t. */
int names_wild(struct builder *b, struct table *t);

/* A root that grants sockets: what is at @entry, or @rest below @dir. */
int socket_there(struct builder *b, const struct wish *w, uint32_t entry);
int socket_name(struct builder *b, const struct wish *w, uint32_t dir,
		const char *rest);
/* -ENAMETOOLONG in words. */
int table_too_deep(struct builder *b, const struct wish *w);

/* Whether a link on the way lies where a session may write. planted.c */
bool planted_is(struct builder *b, const struct route *way);
/* 0: such a grant gives nothing new; 1: leave it out; or negative errno. */
int planted_check(struct builder *b, const struct wish *w,
		  const struct route *way);

/* Repositories around the writable roots: what a linked one is granted … */
int repository_grants(struct builder *b);
/* … and what is protected in each, after all grants are known. */
int repository_protects(struct builder *b);

/* The command's own file, and what interprets it; its three descriptors. */
int command_itself(struct builder *b);
int command_stdio(struct builder *b);

/* Pin what must stay, and write *t. */
int table_finish(struct builder *b, struct table *t);
void table_discard(struct builder *b);

#endif
