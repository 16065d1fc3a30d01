/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Of explain: internet addresses, by the text that the kernel's programs run.
 */
#ifndef LH_EXPLAIN_INET_H
#define LH_EXPLAIN_INET_H

#include <stdbool.h>

#include "image.h"

struct inet_answer {
	unsigned int why;	/* enum lh_why */
	const char *rule;
	const char *depends;	/* what only the session knows, or NULL */
	const char *note;	/* or NULL */
	const char *text;	/* the reason, or NULL: as for any rule */
};

/* Connect to @object, or bind to it. 0, or negative errno with *e. */
int explain_inet(const struct image *im, bool bind, const char *object,
		 struct inet_answer *a, struct err *e);
/* Is it an address of loopback? What is no address is none. */
bool explain_is_loopback(const char *object, bool bind);

#endif
