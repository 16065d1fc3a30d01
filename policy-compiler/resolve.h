/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * From an image's paths to a session's table: opens every root once (O_PATH),
 * resolves symlinks, finds the anchors of names that do not exist, the
 * ancestors that must stay in place, and the repositories whose hooks are
 * protected. The table is what the kernel gets and what `explain` judges by.
 */
#ifndef LH_RESOLVE_H
#define LH_RESOLVE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "image.h"

/* Credentials under which a path is opened. */
enum resolve_as { RESOLVE_AS_USER, RESOLVE_AS_SELF };

struct resolve_options {
	/*
	 * Called before opens: switch the calling thread's file-system
	 * credentials. NULL: everything is opened as the caller.
	 */
	int (*as)(enum resolve_as who, void *arg);
	void *arg;
	const char *temp_dir;	/* session's temp directory, or NULL */
	const char *temp_base;	/* where all of the user's lie, or NULL */
	const char *command;	/* resolved path of the command, or NULL */
	const int *stdio;	/* three descriptors to grant in their own
				 * mode, or NULL; -1: none */
	const int *kept;	/* more of the kind, or NULL */
	size_t kept_count;
	const char *cgroup_dir;	/* session's cgroup directory (read), or NULL */
	const char *policy_file;	/* write-denied if it exists, or NULL */
};

/* One object of the table. Several items may share one object. */
struct table_object {
	int fd;			/* O_PATH|O_CLOEXEC; owned by the table */
	dev_t dev;		/* for explain only */
	ino_t ino;
	char *path;		/* resolved; owned by the table */
};

struct table {
	struct lh_item *items;	/* sorted, merged: one root item an inode;
				 * .fd is the object's fd */
	size_t count;
	struct table_object *objects;
	size_t object_count;
	struct lh_wild wild[LH_WILD_MAX];
	uint32_t wild_count;
	uint64_t wild_lens;
	/*
	 * rule texts that resolving added (temp directory, command, stdio …):
	 * rule numbers go on after the image's: image rules count + index.
	 */
	char **extra_rules;
	size_t extra_rule_count;
	char **writable;	/* resolved paths of the writable roots */
	size_t writable_count;
	/*
	 * The soft limit on open files before resolving had to raise it, for
	 * the command to get back; 0: untouched.
	 */
	uint64_t open_files;
};

/* 0, or negative errno with *e naming path, rule and remedy. */
int table_resolve(const struct image *im, const struct resolve_options *o,
		  struct table *t, struct err *e);
void table_free(struct table *t);
/* Text of a rule number from a record: never NULL. */
const char *table_rule(const struct image *im, const struct table *t,
		       unsigned int rule);

/*
 * What the kernel would say of @access (LH_*) to @path, lexical or through
 * links as open(2) would; the same decide.h over the same table. *trail_path
 * (malloc'd, may be NULL) is the resolved object. 0 or negative errno.
 */
struct explain {
	struct { unsigned int why, rule; } verdict;
	char *object;		/* resolved path; caller frees */
	char *root;		/* path of the root that decided, or NULL */
	bool absent;		/* the object does not exist */
};
int table_explain(const struct image *im, const struct table *t,
		  const char *path, uint32_t access, struct explain *x,
		  struct err *e);

#endif
