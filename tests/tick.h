/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * File systems stamp what is written by a clock of their own, which is coarse.
 */
#ifndef LH_TEST_TICK_H
#define LH_TEST_TICK_H

#include <sched.h>
#include <time.h>

/* Until what is written is stamped later than what was. */
static inline void tick(void)
{
	struct timespec was, now;

	clock_gettime(CLOCK_REALTIME, &was);
	do {
		sched_yield();
		clock_gettime(CLOCK_REALTIME_COARSE, &now);
	} while (now.tv_sec < was.tv_sec ||
		 (now.tv_sec == was.tv_sec && now.tv_nsec <= was.tv_nsec));
}

#endif
