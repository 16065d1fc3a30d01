/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A policy that a result has recorded: its text, its hash, and what that run
 * went without. Applied again, it is checked like any other; what it lacked is
 * believed only where today's rules allow as much.
 */
#ifndef LH_RECORDED_H
#define LH_RECORDED_H

#include <stdbool.h>
#include <stddef.h>

#include "../policy-compiler/diag.h"
#include "identity.h"

struct recorded {
	char *text;		/* canonical policy; NULL: none was read */
	size_t len;
	char **lacks;		/* what that run did not enforce */
	size_t lack_count;
};

/*
 * Read the result @path as the user. 0, or negative errno with *e or errors in
 * @d. The caller owns *rec: recorded_free().
 */
int recorded_read(const struct identity *id, const char *path,
		  struct recorded *rec, struct diags *d, struct err *e);
bool recorded_lacks(const struct recorded *rec, const char *what);
void recorded_free(struct recorded *rec);

/* SHA-256 of a canonical policy, as results have it. */
void policy_hash(const char *text, size_t len, char hex[65]);

#endif
