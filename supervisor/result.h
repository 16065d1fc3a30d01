/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How a run ended, for machines: one JSON object, so that a command's own 125
 * is never taken for ours. It holds no environment value and no argument.
 */
#ifndef LH_RESULT_H
#define LH_RESULT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

#include "../policy-compiler/image.h"
#include "cgroup.h"
#include "denials.h"
#include "flow.h"
#include "hostexec.h"
#include "identity.h"
#include "labels.h"

#define RESULT_NOTES_MAX 16
#define RESULT_SCHEMA "lh.result.v2"

/* How it ended; what that is called also depends on what was refused. */
enum result_status {
	RESULT_NOT_STARTED, RESULT_EXITED, RESULT_SIGNALED, RESULT_TIMED_OUT,
	RESULT_KILLED,		/* by us: the reason is in .error */
	RESULT_IDLE,
};

/* What stands between the command and the machine. */
enum confinement {
	CONFINE_FULL,
	CONFINE_PARTIAL,	/* no engine: seccomp, credentials, cgroup */
	CONFINE_NONE,		/* cgroup and limits alone */
};

extern const char *const confinement_names[];

/* A run that was refused because this host lacks something. */
struct refusal {
	const char *mechanism;	/* "linux_bpf_lsm"; NULL: no such refusal */
	const char *availability;
	const char *requirement;	/* "profile" or "fallback" */
	bool selector_honored;	/* another LH_SANDBOX would have helped */
};

struct result {
	enum result_status status;
	int exit_code;		/* of the command; -1: none */
	int signal;		/* that ended it; 0: none */
	bool timed_out;		/* by the wall's time, or .idle */
	bool idle;
	int exit_status;	/* lh-supervise's own */
	char error[512];	/* ours, or "" */
	/* Borrowed; NULL where it did not come so far. */
	const char *session, *name, *command;
	const struct labels *labels;
	const struct image *im;
	const struct identity *id;
	const struct denials *denials;
	enum confinement confinement;
	const char *decided_by;	/* what took confinement away, or NULL */
	const char *selector;	/* LH_SANDBOX, or NULL */
	bool selector_honored;
	struct refusal refusal;
	char *const *credentials;	/* lifted by --allow-credential */
	unsigned int credential_count;
	bool unheard;		/* the filter has no listener */
	const struct flow *flow;	/* what the command wrote */
	const struct hostexec *host_exec;
	const char *not_enforced[RESULT_NOTES_MAX];
	unsigned int not_enforced_count;
	const char *not_granted;	/* what the host has not, or NULL */
	struct timespec started, ended;	/* CLOCK_REALTIME; zero: never */
	uint64_t wall_ns;
	uint64_t denials_total, denials_lost;
	struct cgroup_usage usage;
	uint64_t max_rss;	/* bytes, of the largest process waited for */
};

/* A word for result.not_enforced; a static string, once. */
void result_lacks(struct result *r, const char *what);
/* The object on one line; malloc'd. */
char *result_line(const struct result *r, size_t *len);
/* Write @line to @fd, waiting at most a few seconds for a reader. */
int result_send(int fd, const char *line, size_t len);

#endif
