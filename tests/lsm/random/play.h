/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef LH_RANDOM_PLAY_H
#define LH_RANDOM_PLAY_H

#include "game.h"

struct score {
	unsigned long games, failed, ops, skipped;
	unsigned long refused;		/* by the policy */
	unsigned long ordinary;		/* by the kernel itself */
	unsigned long allowed;
};

/* One game of @ops calls; the same seed is the same game. False: it failed. */
bool game_play(uint64_t seed, unsigned long ops, struct score *score);

#endif
