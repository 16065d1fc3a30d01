/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Of what a session may do to a process: the reason, the rule and a word more.
 */
#ifndef LH_EXPLAIN_PROCESS_H
#define LH_EXPLAIN_PROCESS_H

#include <stdbool.h>

#include "image.h"

struct process_answer {
	unsigned int why;	/* LH_WHY_* */
	const char *rule, *note;	/* static; .note may be NULL */
};

/*
 * @who: "self", one of the session's own, or a process id. 0, or -EINVAL with
 * *e set: it is neither.
 */
int explain_process(const struct image *im, bool traces, const char *who,
		    struct process_answer *a, struct err *e);

#endif
