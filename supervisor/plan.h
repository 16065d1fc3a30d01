/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a run would be, as far as anybody may see it: nothing is loaded or
 * tried.
 */
#ifndef LH_PLAN_H
#define LH_PLAN_H

#include "run.h"

/* Each mechanism that is wanted and known not to be there, and why. */
void plan_lacks(const struct run *r,
		void (*each)(const char *what, const char *why, void *arg),
		void *arg);

/* One line of the plan for people: @what, and what is said of it. */
__attribute__((format(printf, 2, 3)))
void plan_line(const char *what, const char *fmt, ...);

/* The lines of loopback and of egress. */
void plan_network(const struct run *r);

#endif
