/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How much stands between a run's command and the machine: all that its policy
 * asks for, unless somebody who may do so said otherwise. What is missing is
 * an error or is named, on stderr and in the result; never passed over.
 */
#ifndef LH_CONFINE_H
#define LH_CONFINE_H

#include "run.h"

/* Read LH_SANDBOX. 0 or -EINVAL. */
int confine_select(struct run *r, struct err *e);
/*
 * With the policy at hand: --no-sandbox, its profile, LH_SANDBOX=off, and
 * whether the ceiling permits them. Fills r->result.confinement.
 */
int confine_decide(struct run *r, struct err *e);
/* Say aloud what was decided; before anything runs. */
void confine_say(const struct run *r);

/* Each: 0 to go on without, else a negative errno with *e. */

/* Limits whose controllers this host lacks. */
int confine_limits(struct run *r, struct err *e);
/* The same of swap, which its group alone can tell. */
int confine_swap(struct run *r, struct err *e);
/* The engine did not load: *e says why, and is cleared where 0 is returned. */
int confine_no_engine(struct run *r, enum engine_lack lack, struct err *e);
/*
 * Tracing, where the policy grants it: whether Yama lets anybody do it, and the
 * engine is there to hold it inside the session.
 */
int confine_tracing(struct run *r, struct err *e);
/* Never 0: what no run goes without. @mechanism: "linux_cgroup_v2". */
int confine_refused(struct run *r, const char *mechanism, bool absent,
		    struct err *e);

/* Why a limit of @l does not hold here, or not wholly, by mechanism. */
void confine_each_lack(const struct image_limits *l, const char *cgroup_root,
		       void (*each)(const char *what, const char *why,
				    void *arg), void *arg);
/* Why nobody can trace here, or NULL; static. */
const char *confine_no_tracing(void);

/* --- widen.c */

/* One line that names what the command line granted beyond the policy. */
void widen_say(const struct run *r);
/* The same, each by itself. */
void widen_each(const struct run *r,
		void (*each)(const char *item, void *arg), void *arg);

#endif
