/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Variables of the environment by their names.
 */
#ifndef LH_VARIABLES_H
#define LH_VARIABLES_H

#include <stdbool.h>

/* What programs need to run at all, and a site to reach its proxy. */
bool variable_is_essential(const char *name);
/* What looks like a secret passes only where it is named, in any mode. */
bool variable_is_secret(const char *name);

#endif
