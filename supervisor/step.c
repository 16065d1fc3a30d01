// SPDX-License-Identifier: GPL-2.0-only
/*
 * Nothing happens between two steps.
 */
#include "step.h"

void step(const char *name)
{
	(void)name;
}

void step_as(const char *who)
{
	(void)who;
}
