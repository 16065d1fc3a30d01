/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The question that people ask of a policy, "may a session do OP to OBJECT?",
 * and the answer with its reasons. What is asked of the table is what the hooks
 * of the kernel ask; what the table cannot know is said in words.
 */
#ifndef LH_EXPLAIN_H
#define LH_EXPLAIN_H

#include "entry.h"

enum operation_kind {
	OPERATION_FILE,		/* one object */
	OPERATION_RENAME, OPERATION_LINK,	/* a second one may be given */
	OPERATION_CONNECT, OPERATION_BIND,	/* of a socket's address */
	OPERATION_PTRACE, OPERATION_SIGNAL,	/* of a process */
};

struct operation {
	const char *name;
	enum operation_kind kind;
	uint32_t access;	/* LH_* to the object, 0: to no file */
	bool name_itself;	/* it is about the name, be it a link's */
	bool makes;		/* the object need not be there */
};

/* NULL if there is none of this name. */
const struct operation *operation_find(const char *name);
/* Number @i from 0, or NULL. */
const struct operation *operation_number(size_t i);
bool operation_is_on_file(const struct operation *op);
bool operation_takes_two(const struct operation *op);

enum answer_verdict {
	ANSWER_ALLOW, ANSWER_REFUSE,
	ANSWER_DEPENDS,		/* only the running session can tell */
};

#define ANSWER_NOTES_MAX 4

/* A link met on the way. */
struct answer_link {
	const char *path, *target;
};

/* All that it points to is its own. */
struct answer {
	struct arena mem;
	enum answer_verdict verdict;
	unsigned int why;	/* enum lh_why */
	const char *code, *text;	/* the reason: for machines, people */
	const char *object;	/* resolved path, or the object as given */
	const char *other;	/* the second one, or NULL */
	bool second;		/* that is what decided */
	const char *rule;
	const char *root;	/* that the rule stands at, or NULL */
	bool absent;		/* what decided does not exist */
	const struct answer_link *links;
	size_t link_count;
	const char *notes[ANSWER_NOTES_MAX + 1];	/* then NULL */
	/* Of what decided: */
	uint32_t access;	/* what was wanted, LH_* */
	mode_t mode;		/* 0: absent */
	const char *place;	/* deepest directory above it that exists */
};

/* What is asked; the objects of operations on files are absolute paths. */
struct question {
	const struct operation *op;
	const char *object, *other;	/* other may be NULL */
};

/* 0, or negative errno with *e. On success the caller owns *a. */
int explain(const struct image *im, const struct table *t,
	    const struct question *q, struct answer *a, struct err *e);
void answer_free(struct answer *a);

#endif
