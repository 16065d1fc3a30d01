/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a session makes in places that all share, and that outlives its
 * processes: files in /dev/shm, message queues, objects of System V. The
 * engine knows who made each; at the end they are removed, and no others.
 */
#ifndef LH_LEFTOVER_H
#define LH_LEFTOVER_H

#include "engine.h"

/* After the session's last process is gone, before engine_forget(). */
void leftover_remove(const struct engine_made *m);

#endif
