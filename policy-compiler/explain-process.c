// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the process hooks, and for tracing the filter before them, would say.
 */
#include <errno.h>
#include <string.h>

#include "explain-process.h"

#define OWN "the session's own processes are open to it"
#define YAMA "as far as kernel.yama.ptrace_scope allows it: 0, any of the " \
	     "same user; 1, those below it and who asks for it; 2 and 3, none"

int explain_process(const struct image *im, bool traces, const char *who,
		    struct process_answer *a, struct err *e)
{
	bool own = !strcmp(who, "self"), granted = true;

	if (!own && (!*who || who[strspn(who, "0123456789")]))
		return err_set(e, -EINVAL, "%s: wanted is a process id, or "
			       "self for one of the session's own", who);
	if (traces)
		granted = im->flags & IMAGE_PTRACE;
	*a = (struct process_answer){
		.why = !own ? LH_WHY_PROCESS :
		       granted ? LH_WHY_ALLOW : LH_WHY_NOT_GRANTED,
		.rule = own && traces && granted ?
			"/process_sandbox/ptrace" : "default",
		.note = !granted ? NULL : !own ? OWN : traces ? YAMA : NULL,
	};
	return 0;
}
