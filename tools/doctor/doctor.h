/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * lh-doctor's findings. A check says what it found by trying, then what that
 * means, then what to do; the report says which profiles run.
 */
#ifndef LH_DOCTOR_H
#define LH_DOCTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#define FINDINGS_MAX 40

enum verdict {
	V_OK,
	V_LIMITED,	/* it is there, and not for all that it is for */
	V_MISSING,
	V_UNTRIED,	/* only root can try it */
};

/* What does not work without it. */
enum need {
	NEED_ALL,	/* any session */
	NEED_CONFINED,	/* profiles from worktree on */
	NEED_ENGINE,	/* the same, but for LH_SANDBOX=warn */
	NEED_LIMIT,	/* os_hardened, where a policy sets that limit */
	NEED_NOTHING,	/* a grant, or what is recorded */
};

struct finding {
	const char *id;
	enum verdict verdict;
	enum need need;
	char detail[768], effect[256], remedy[768];	/* "": none */
};

struct doctor {
	struct finding list[FINDINGS_MAX];
	unsigned int count;
	bool root;
	char *cgroup_root;	/* NULL: none */
};

/* A new finding; @fmt: what was seen. */
__attribute__((format(printf, 5, 6)))
struct finding *find(struct doctor *d, const char *id, enum need need,
		     enum verdict v, const char *fmt, ...);
/* What it means, and what helps, of @f. */
__attribute__((format(printf, 2, 3)))
void effect(struct finding *f, const char *fmt, ...);
__attribute__((format(printf, 2, 3)))
void remedy(struct finding *f, const char *fmt, ...);
/* "add ARG to … in FILE, run …, and boot", for this machine's boot loader. */
void boot_with(struct finding *f, const char *arg);

/* --- host.c: who we are, bpffs, directories, the ceiling */
void check_caller(struct doctor *d);
void check_places(struct doctor *d);
void check_ceiling(struct doctor *d);
/* --- cgroups.c */
void check_cgroups(struct doctor *d);
/* --- kernel.c: what the engine stands on, and the engine */
void check_kernel(struct doctor *d);
/* --- process.c: seccomp, tracing, user namespaces and the like */
void check_process(struct doctor *d);

/* --- report.c */
void report_text(const struct doctor *d);
void report_json(const struct doctor *d);
/* 0: all of os_hardened is there; else 1. */
int report_status(const struct doctor *d);

#endif
