/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tables of what a policy is expected to say: "OP OBJECT [OBJECT] allow|refuse
 * [RULE]", a row a line; "#" begins a comment; a word in double quotes is a
 * JSON string.
 */
#ifndef LH_ROWS_H
#define LH_ROWS_H

#include "context.h"
#include "diag.h"
#include "explain.h"

#define ROWS_BYTES_MAX (1u << 20)
#define ROWS_MAX 65536u

struct row {
	unsigned int line;
	struct question q;
	bool allow;		/* what is expected */
	const char *rule;	/* likewise, or NULL */
};

/* Zero, then rows_read(). All that it points to is its own. */
struct rows {
	struct arena mem;
	struct row *row;
	size_t count;
};

/*
 * The @len bytes at @text; objects are expanded as a policy's paths, relative
 * to the workspace of @c. 0, or -EINVAL with all errors in @d, or -ENOMEM.
 */
int rows_read(const char *text, size_t len, const char *file,
	      const struct context *c, struct rows *rows, struct diags *d);
void rows_free(struct rows *rows);

#endif
