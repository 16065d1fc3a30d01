// SPDX-License-Identifier: GPL-2.0-only
/*
 * A grant that is the host's to give: "ptrace". What the host withholds makes
 * a session no weaker, so a profile that may go on with less goes on without.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "../policy-compiler/policy.h"
#include "cleanup.h"
#include "confine.h"
#include "say.h"

#define SCOPE "/proc/sys/kernel/yama/ptrace_scope"
#define GRANT "process_sandbox.ptrace"

const char *confine_no_tracing(void)
{
	_cleanup_file_ FILE *f = fopen(SCOPE, "re");
	int scope;

	/* Without Yama only credentials count, and those are the session's. */
	if (!f || fscanf(f, "%d", &scope) != 1 || scope < 2)
		return NULL;
	return scope == 2 ?
		"kernel.yama.ptrace_scope is 2, which lets only privileged "
		"processes trace; sysctl kernel.yama.ptrace_scope=1 lets a "
		"process trace those below it" :
		"kernel.yama.ptrace_scope is 3, which lets nobody trace until "
		"the next boot; set kernel.yama.ptrace_scope=1 in /etc/sysctl.d"
		" and boot again";
}

int confine_tracing(struct run *r, struct err *e)
{
	const char *why;

	if (!(r->load.im->flags & IMAGE_PTRACE) ||
	    r->result.confinement == CONFINE_NONE)
		return 0;
	if (!r->engine) {
		err_set(e, -ENOTSUP, GRANT " cannot be granted: without the "
			"process rules nothing holds it inside the session; "
			"take it out of the policy");
		return confine_refused(r, "linux_ptrace", true, e);
	}
	why = confine_no_tracing();
	if (!why)
		return 0;
	if (r->load.im->profile > PROFILE_WORKTREE) {
		err_set(e, -ENOTSUP, GRANT " cannot be granted: %s (or take "
			"it out of the policy)", why);
		return confine_refused(r, "linux_ptrace", true, e);
	}
	r->result.not_granted = GRANT;
	if (!r->o.quiet)
		say("not granted: " GRANT ": %s", why);
	return 0;
}
