/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the summary of a run keeps of its refusals. For denials.c alone; what
 * it says is denials_summary().
 */
#ifndef LH_SUMMARY_H
#define LH_SUMMARY_H

#include "denials.h"

/* A refusal that is no expected probe. */
void summary_take(struct denials *d, const struct event *ev);
void summary_free(struct denials *d);

#endif
