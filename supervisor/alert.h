/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a refusal is called by who only wants to know of which kind it was. The
 * words are a format: they may grow, never change.
 */
#ifndef LH_ALERT_H
#define LH_ALERT_H

#include "event.h"

/* "EGRESS_BLOCKED"; static. */
const char *alert_word(const struct event *ev);

#endif
