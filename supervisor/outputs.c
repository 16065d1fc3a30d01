// SPDX-License-Identifier: GPL-2.0-only
/*
 * Where records and the result go: opened with the rights of who named it, and
 * refused where the session could write it. And what the command writes.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cleanup.h"
#include "named.h"
#include "run.h"

/* Where a session may write; an unconfined one may wherever its user may. */
static const struct table *writable(const struct run *r)
{
	return r->resolved ? &r->table : NULL;
}

static int denials_target(struct run *r, struct err *e)
{
	const char *arg = r->o.denials;
	char *end;
	long fd;

	if (!arg)
		return 0;
	r->denials.given = true;
	if (strncmp(arg, "fd:", 3)) {
		r->denials.named = arg;
		r->denials.fd = named_output(&r->id, "--denials", arg, true,
					     writable(r), e);
		return r->denials.fd < 0 ? r->denials.fd : 0;
	}
	fd = strtol(arg + 3, &end, 10);
	if (arg[3] < '0' || arg[3] > '9' || *end || fd > 1 << 20)
		return err_set(e, -EINVAL, "--denials: not a descriptor: %s",
			       arg);
	if (fd <= 2)
		return err_set(e, -EINVAL, "--denials: descriptors 0 to 2 are "
			       "the command's own; use 3 or higher");
	r->denials.fd = named_descriptor("--denials", fd, writable(r), e);
	return r->denials.fd < 0 ? r->denials.fd : 0;
}

int run_outputs(struct run *r, struct err *e)
{
	int ret = denials_target(r, e);

	/* Also after an error: it is told there, if that is a place for it. */
	if (r->o.result) {
		struct err other = {};

		r->result_fd = named_output(&r->id, "--result", r->o.result,
					    false, writable(r),
					    ret ? &other : e);
		r->result_refused = r->result_fd < 0;
		if (!ret && r->result_refused)
			ret = r->result_fd;
	}
	if (!ret && r->status_fd >= 0) {
		int copy = named_descriptor("--status-fd", r->o.status_fd,
					    writable(r), e);

		ret = copy < 0 ? copy : 0;
		close_fd(&copy);
	}
	return ret;
}

int run_flow(struct run *r, struct err *e)
{
	uint64_t most = r->load.im->limits.capture_bytes;

	if (most == IMAGE_NO_LIMIT)
		most = FLOW_CAPTURE;
	if (r->o.capture)
		r->result.flow = &r->flow;
	if (r->o.pty)
		return flow_terminal(&r->flow, &r->id, true,
				     r->o.capture ? most : 0, e);
	if (r->o.capture)
		return flow_capture(&r->flow, &r->id, most, e);
	if (r->load.im->limits.idle_time == IMAGE_NO_LIMIT)
		return 0;
	/* Who looks at a terminal gets one, and not a pipe. */
	if (isatty(STDOUT_FILENO))
		return flow_terminal(&r->flow, &r->id, false, 0, e);
	return flow_pass(&r->flow, &r->id, e);
}
