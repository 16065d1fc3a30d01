/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the summary of a run keeps of its refusals. For denials.c alone; what
 * it says is denials_summary().
 */
#ifndef LH_SUMMARY_H
#define LH_SUMMARY_H

#include "denials.h"

/* Refusals that are no expected probes, @count of them. */
void summary_take(struct denials *d, const struct event *ev, uint64_t count);
void summary_free(struct denials *d);

#endif
