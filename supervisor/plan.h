/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a run would miss here, as far as anybody may see it: nothing is loaded
 * or tried.
 */
#ifndef LH_PLAN_H
#define LH_PLAN_H

#include "run.h"

/* Each mechanism that is wanted and known not to be there, and why. */
void plan_lacks(const struct run *r,
		void (*each)(const char *what, const char *why, void *arg),
		void *arg);

#endif
