// SPDX-License-Identifier: GPL-2.0-only
/*
 * The end of a session, in the opposite order of its start and from wherever
 * that came to. What is not done here, the keeper does, or the next start.
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/wait.h>

#include "cleanup.h"
#include "leftover.h"
#include "run.h"
#include "say.h"
#include "step.h"
#include "temp.h"

static void undo_command(struct run *r)
{
	if (r->launch.pid <= 0)
		return;
	/* Not released, or already waited for: EOF ends it at its gate. */
	close_fd(&r->launch.gate);
	if (r->launch.pidfd >= 0) {
		siginfo_t si;

		cgroup_kill(&r->group);
		waitid(P_PIDFD, r->launch.pidfd, &si, WEXITED);
		close_fd(&r->launch.pidfd);
	}
	r->launch.pid = 0;
}

void run_undo(struct run *r)
{
	struct err e = {};

	step("undo");
	undo_command(r);
	if (r->group.dir >= 0 && cgroup_empty(&r->group, 10000))
		say("session %s: processes do not die; the next start tries "
		    "again", r->registry.id);
	step("leftovers");
	if (r->admitted)
		leftover_remove(&r->made);
	if (r->admitted && engine_forget(r->engine, &r->es, &e))
		say("%s", e.msg);
	r->admitted = false;
	e = (struct err){};
	step("forgotten");
	if (cgroup_remove(&r->group, &e))
		say("%s", e.msg);
	cgroup_close(&r->group);
	step("no-group");
	if (r->temp && temp_remove(&r->id, &r->id.user, r->registry.id) &&
	    r->o.verbose)
		say("%s: cannot remove all of it", r->temp);
	if (r->cache)
		temp_cache_prune(&r->id, r->cache);
	step("no-files");
	registry_leave(&r->registry);
	step("left");
	keeper_dismiss(&r->keeper);
	engine_close(r->engine);
	r->engine = NULL;
}
