// SPDX-License-Identifier: GPL-2.0-only
/*
 * How a run ended. The fields are a format: they may grow, never change.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "../policy-compiler/policy.h"
#include "alert.h"
#include "build_id.h"
#include "call.h"
#include "launch.h"
#include "limits.h"
#include "recorded.h"
#include "result.h"
#include "version.h"
#include "writer.h"

#define SEND_WAIT_MS 5000

/* An end of its own, and not a good one: what explains it best. */
static const char *failure_word(const struct result *r)
{
	/* Not a signal that somebody sent. */
	bool own = !r->signal || r->signal == SIGABRT ||
		   r->signal == SIGSEGV || r->signal == SIGBUS;

	if (r->usage.oom_kills && (own || r->signal == SIGKILL))
		return "oom";
	if (r->usage.pids_refused && own)
		return "pids";
	if (r->signal)
		return "killed";
	return r->denials && r->denials->alerts ? "permission_denied" : "error";
}

static const char *status_word(const struct result *r)
{
	switch (r->status) {
	case RESULT_TIMED_OUT:
		return "timed_out";
	case RESULT_IDLE:
		return "idle";
	case RESULT_EXITED:
		return r->exit_code ? failure_word(r) : "ok";
	case RESULT_SIGNALED:
		return failure_word(r);
	case RESULT_NOT_STARTED:
		if (r->exit_status != EXIT_OURS)
			return failure_word(r);
		break;
	case RESULT_KILLED:
		break;
	}
	return "supervisor_error";
}

const char *const confinement_names[] = {
	[CONFINE_FULL] = "full", [CONFINE_PARTIAL] = "partial",
	[CONFINE_NONE] = "none",
};

void result_lacks(struct result *r, const char *what)
{
	unsigned int i;

	for (i = 0; i < r->not_enforced_count; i++)
		if (!strcmp(r->not_enforced[i], what))
			return;
	if (r->not_enforced_count < RESULT_NOTES_MAX)
		r->not_enforced[r->not_enforced_count++] = what;
}

static void put_time(struct writer *w, const char *key,
		     const struct timespec *t)
{
	char text[48];
	struct tm tm;
	size_t n;

	if (!t->tv_sec) {
		writer_null(w, key);
		return;
	}
	gmtime_r(&t->tv_sec, &tm);
	n = strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &tm);
	snprintf(text + n, sizeof(text) - n, ".%09ldZ", t->tv_nsec);
	writer_str(w, key, text);
}

static void put_outcome(struct writer *w, const struct result *r)
{
	char signal_name[32];

	writer_str(w, "status", status_word(r));
	if (r->exit_code >= 0)
		writer_int(w, "exit_code", r->exit_code);
	else
		writer_null(w, "exit_code");
	if (r->signal) {
		const char *s = sigabbrev_np(r->signal);

		snprintf(signal_name, sizeof(signal_name), s ? "SIG%s" :
			 "SIG%s%d", s ? s : "", r->signal);
		writer_str(w, "signal", signal_name);
	} else {
		writer_null(w, "signal");
	}
	writer_bool(w, "timed_out", r->timed_out);
	writer_int(w, "exit_status", r->exit_status);
	writer_str(w, "error", r->error[0] ? r->error : NULL);
}

/*
 * The policy itself and the hash of its text. Never the image's: that one has
 * the values of variables in it, and its hash would tell a guess from a secret.
 */
static void put_policy(struct writer *w, const struct image *im)
{
	const char *text;
	char hex[65];

	if (!im) {
		writer_null(w, "policy");
		return;
	}
	text = (const char *)im + im->policy.offset;
	policy_hash(text, im->policy.count, hex);
	writer_open_map(w, "policy");
	writer_str(w, "name", image_string(im, im->name));
	writer_str(w, "source", image_string(im, im->source));
	writer_str(w, "hash", hex);
	writer_str(w, "profile", profile_names[im->profile]);
	writer_json(w, "resolved", text, im->policy.count);
	writer_close_map(w);
}

static void put_sandbox(struct writer *w, const struct result *r)
{
	writer_open_map(w, "sandbox");
	writer_str(w, "confinement", confinement_names[r->confinement]);
	writer_str(w, "decided_by", r->decided_by);
	writer_str(w, "selector", r->selector);
	writer_bool(w, "selector_honored", r->selector_honored);
	writer_close_map(w);
}

static void put_refusal(struct writer *w, const struct result *r)
{
	if (!r->refusal.mechanism) {
		writer_null(w, "refusal");
		return;
	}
	writer_open_map(w, "refusal");
	writer_str(w, "source", "sandbox_mechanism");
	writer_str(w, "mechanism", r->refusal.mechanism);
	writer_str(w, "availability", r->refusal.availability);
	writer_str(w, "profile", r->im ? profile_names[r->im->profile] : NULL);
	writer_str(w, "requirement", r->refusal.requirement);
	writer_bool(w, "selector_honored", r->refusal.selector_honored);
	writer_close_map(w);
}

static void put_user(struct writer *w, const struct identity *id)
{
	if (!id || !id->name) {
		writer_null(w, "user");
		return;
	}
	writer_open_map(w, "user");
	writer_str(w, "name", id->name);
	writer_uint(w, "uid", id->user.uid);
	writer_uint(w, "gid", id->user.gid);
	writer_close_map(w);
}

static void put_engine(struct writer *w)
{
	struct utsname u;

	writer_open_map(w, "engine");
	writer_str(w, "version", LH_VERSION);
	writer_uint(w, "abi", LH_ABI);
	writer_str(w, "build", LH_BUILD_ID);
	writer_str(w, "kernel", uname(&u) ? NULL : u.release);
	writer_close_map(w);
}

static void put_first(struct writer *w, const struct denials *d,
		      const struct denials_first *first)
{
	const struct event *ev = first->ev;
	char address[64];
	size_t len;
	const char *path = event_object(ev, &len);

	event_address(ev, address, sizeof(address));
	writer_open_map(w, NULL);
	writer_uint(w, "seq", ev->d.seq);
	writer_uint(w, "count", first->count);
	writer_str(w, "alert", alert_word(ev));
	writer_str(w, "mechanism", mechanism_name(ev->mechanism));
	writer_str(w, "operation", event_operation(ev));
	writer_str(w, "reason", event_reason(ev));
	writer_str(w, "rule", denials_rule(d, ev));
	if (len)
		writer_bytes(w, "path", path, len);
	if (ev->d.op == LH_OP_SYSCALL)
		writer_str(w, "syscall", call_name(ev));
	if (address[0]) {
		writer_str(w, "address", address);
		writer_uint(w, "port", ev->d.port);
	}
	writer_close_map(w);
}

/* Those that no honest start-up tries by itself come first, and alone. */
static void put_denials(struct writer *w, const struct result *r)
{
	const struct denials *d = r->denials;
	unsigned int i;
	int m;

	writer_open_map(w, "denials");
	writer_uint(w, "total", r->denials_total);
	writer_uint(w, "lost", r->denials_lost);
	writer_uint(w, "unwritten", d ? d->unwritten : 0);
	writer_str(w, "file", d ? d->path[0] ? d->path : d->named : NULL);
	writer_open_map(w, "by_mechanism");
	for (m = 0; m < MECHANISM_COUNT; m++)
		writer_uint(w, mechanism_name(m), d ? d->by_mechanism[m] : 0);
	writer_close_map(w);
	writer_open_array(w, "first");
	for (i = 0; d && i < d->first_count; i++)
		put_first(w, d, &d->first[i]);
	writer_close_array(w);
	writer_close_map(w);
	writer_str(w, "security_alert", d && d->first_count ?
		   alert_word(d->first[0].ev) : NULL);
}

static void put_amount(struct writer *w, const char *key, uint64_t v)
{
	if (v)
		writer_uint(w, key, v);
	else
		writer_null(w, key);
}

static void put_resources(struct writer *w, const struct result *r)
{
	if (r->im)
		limits_write(w, &r->im->limits);
	else
		writer_null(w, "limits");
	writer_open_map(w, "resources");
	writer_uint(w, "wall_ns", r->wall_ns);
	writer_uint(w, "user_us", r->usage.user_us);
	writer_uint(w, "system_us", r->usage.system_us);
	put_amount(w, "max_rss_bytes", r->max_rss);
	put_amount(w, "memory_peak_bytes", r->usage.memory_peak);
	put_amount(w, "pids_peak", r->usage.pids_peak);
	writer_uint(w, "oom_kills", r->usage.oom_kills);
	writer_uint(w, "pids_refused", r->usage.pids_refused);
	writer_uint(w, "throttled_us", r->usage.throttled_us);
	writer_close_map(w);
}

char *result_line(const struct result *r, size_t *len)
{
	_cleanup_writer_ struct writer *w = writer_new();
	unsigned int i;

	writer_open_map(w, NULL);
	writer_str(w, "schema", RESULT_SCHEMA);
	writer_str(w, "session", r->session);
	writer_str(w, "name", r->name);
	labels_write(w, r->labels);
	put_outcome(w, r);
	flow_write(r->flow, w);
	writer_str(w, "command", r->command);
	put_policy(w, r->im);
	put_user(w, r->id);
	put_engine(w);
	put_sandbox(w, r);
	put_refusal(w, r);
	writer_open_array(w, "allowed_credentials");
	for (i = 0; i < r->credential_count; i++)
		writer_str(w, NULL, r->credentials[i]);
	writer_close_array(w);
	writer_open_array(w, "not_enforced");
	for (i = 0; i < r->not_enforced_count; i++)
		writer_str(w, NULL, r->not_enforced[i]);
	writer_close_array(w);
	/* Less than the policy gives, not more. */
	writer_open_array(w, "not_granted");
	if (r->not_granted)
		writer_str(w, NULL, r->not_granted);
	writer_close_array(w);
	/* Refused all the same, but nobody is told. */
	writer_open_array(w, "not_recorded");
	if (r->unheard)
		writer_str(w, NULL, "seccomp");
	writer_close_array(w);
	put_denials(w, r);
	hostexec_write(r->host_exec, w);
	put_resources(w, r);
	put_time(w, "started", &r->started);
	put_time(w, "ended", &r->ended);
	writer_close_map(w);
	return writer_line(w, len);
}

int result_send(int fd, const char *line, size_t len)
{
	size_t done = 0;

	while (done < len) {
		struct pollfd p = { .fd = fd, .events = POLLOUT };
		size_t n = len - done < 4096 ? len - done : 4096;
		ssize_t w;

		if (poll(&p, 1, SEND_WAIT_MS) != 1)
			return -ETIMEDOUT;
		w = write(fd, line + done, n);
		if (w > 0)
			done += w;
		else if (errno != EINTR && errno != EAGAIN)
			return -errno;
	}
	return 0;
}
