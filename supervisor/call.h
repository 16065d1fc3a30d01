/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A system call that seccomp refused, in words.
 */
#ifndef LH_CALL_H
#define LH_CALL_H

#include "event.h"

/* Its name; NULL: it has none. */
const char *call_name(const struct event *ev);
/*
 * Which sockets a policy has use for is asked of seccomp, but a socket refused
 * is a refusal of the network: .op and .why become that, .args stay.
 */
void call_settle(struct event *ev);
/* Its members of the record. */
void call_write(const struct event *ev, struct writer *w);

#endif
