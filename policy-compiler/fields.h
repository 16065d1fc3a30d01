/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A field of the language: its name, the types it may have, and who takes it.
 */
#ifndef LH_FIELDS_H
#define LH_FIELDS_H

#include "policy.h"

#define IS(type) (1u << (type))

struct reader {
	struct json_doc *doc;
	struct policy *p;
	const struct context *c;
	const char *base;
	struct diags *d;
};

struct field {
	const char *name;
	unsigned int types;	/* IS(JSON_…) */
	void (*take)(struct reader *r, const struct json *v);
};

struct field_table {
	const char *pointer;	/* "" or "/process_sandbox" */
	const struct field *fields;
	size_t count;
};

enum fields {
	FIELDS_TOP, FIELDS_CAPABILITIES, FIELDS_SANDBOX, FIELDS_PROTECT,
	FIELDS_EGRESS, FIELDS_ENVIRONMENT, FIELDS_LIMITS, FIELDS_PERMISSIONS,
	FIELDS_MOUNT,
};

/* All objects of the language whose names are fixed: language.c */
extern const struct field_table field_tables[];
extern const size_t field_table_count;

/* Take every member of @v by its table; unknown names are errors. */
void fields_take(struct reader *r, const struct json *v, enum fields table);
/* An error at the value @v. */
__attribute__((format(printf, 3, 4)))
void field_error(struct reader *r, const struct json *v, const char *fmt, ...);
/* Remember where @what was written. */
void field_said(struct reader *r, enum policy_said what, const struct json *v);
/* @text, of @v, expanded to an absolute path; NULL after an error. */
const char *field_path(struct reader *r, const struct json *v,
		       const char *text);
/* Each string of the list @v; other members are errors. */
void field_strings(struct reader *r, const struct json *v,
		   void (*each)(struct reader *r, const struct json *s,
				void *arg), void *arg);
/*
 * The index of @v's word, or -1 after an error. @first: a pointer to the first
 * word; the next ones follow every @stride bytes, up to NULL.
 */
int field_word(struct reader *r, const struct json *v, const void *first,
	       size_t stride);

#endif
