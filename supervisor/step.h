/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The steps of a session's start and end, between any two of which supervisor,
 * keeper or the command's process may die. In what is shipped they do nothing;
 * tests/fault links others in their place.
 */
#ifndef LH_STEP_H
#define LH_STEP_H

/* Behind everything that came before, in the process that step_as() named. */
void step(const char *name);
/* After a fork: whose steps are counted from here on. */
void step_as(const char *who);

#endif
