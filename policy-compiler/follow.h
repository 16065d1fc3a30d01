/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The links in a policy's roots, followed as they are now.
 */
#ifndef LH_FOLLOW_H
#define LH_FOLLOW_H

#include "policy.h"

/*
 * Where @path leads; what does not exist of it stays behind what does. In @mem,
 * or NULL without memory.
 */
char *follow_path(struct arena *mem, const char *path);
/*
 * Each grant's path becomes what it leads to; a root that forbids holds for the
 * link's name too, so where it leads is added beside it. What is missing stays
 * as it is written. 0, or -ENOMEM with an error in @d.
 */
int policy_follow(struct policy *p, struct diags *d);

#endif
