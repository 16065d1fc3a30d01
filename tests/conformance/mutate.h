/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Planted faults: programs of the engine that are off their hooks, or that have
 * one beside them which refuses a session all; and the rows that are played.
 */
#ifndef LH_MUTATE_H
#define LH_MUTATE_H

#include <stdbool.h>

#define MUTATE_OPTIONS							\
	{ "off", required_argument, NULL, 'o' },			\
	{ "strict", required_argument, NULL, 's' },			\
	{ "row", required_argument, NULL, 'r' },			\
	{ "wait", required_argument, NULL, 'w' }

/* An option of these with its argument: false if there are too many. */
bool mutate_option(int option, const char *arg);
/* Is that row to be played? All are, if none was named. */
bool mutate_plays(const char *group, const char *row);
/* The faults are there once both sessions live: 0, or -errno and @what. */
int mutate_begin(const char **what);
/* And gone, as if they had never been: likewise. */
int mutate_end(const char **what);

#endif
