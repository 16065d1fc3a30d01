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
#include "say.h"
#include "step.h"

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
		r->denials.fd = named_output(&r->id, "--denials", arg,
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
	int ret = denials_target(r, e), place;

	/* Also after an error: it is told there, if that is a place for it. */
	if (r->o.result) {
		struct err other = {};

		place = named_whole(&r->id, "--result", r->o.result,
				    writable(r), &r->result_file,
				    ret ? &other : e);
		r->result_refused = place < 0;
		ret = ret ? ret : place;
	}
	if (!ret && r->status_fd >= 0) {
		int copy = named_descriptor("--status-fd", r->o.status_fd,
					    writable(r), e);

		ret = copy < 0 ? copy : 0;
		close_fd(&copy);
	}
	return ret;
}

/* A run that failed early: nothing ran that could write there. */
static int late_place(struct run *r)
{
	struct err e = {};
	int ret;

	if (r->result_refused || r->result_file.dir >= 0 || !r->id.name)
		return 0;
	ret = named_whole(&r->id, "--result", r->o.result, NULL,
			  &r->result_file, &e);
	if (ret)
		say("%s", e.msg);
	return ret;
}

int run_tell(struct run *r)
{
	_cleanup_free_ char *line = NULL;
	int ret = r->o.result ? late_place(r) : 0, sent = 0;
	size_t len;

	if (r->result_file.dir < 0 && r->status_fd < 0 && !r->o.json)
		return ret;
	line = result_line(&r->result, &len);
	step("undone");
	if (r->result_file.dir >= 0) {
		ret = named_whole_put(&r->id, &r->result_file, line, len);
		if (ret)
			say("--result %s: %s", r->o.result, strerror(-ret));
	}
	if (r->status_fd >= 0) {
		sent = result_send(r->status_fd, line, len);
		if (sent)
			say("--status-fd %d: %s", r->o.status_fd,
			    strerror(-sent));
	}
	if (r->o.json)
		result_send(STDERR_FILENO, line, len);
	step("told");
	return ret ? ret : sent;
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
