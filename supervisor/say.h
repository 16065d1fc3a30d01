/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Our own words: one line on stderr each, with our name before it. Only main,
 * the session's loop and the summary speak.
 */
#ifndef LH_SAY_H
#define LH_SAY_H

__attribute__((format(printf, 1, 2)))
void say(const char *fmt, ...);

#endif
