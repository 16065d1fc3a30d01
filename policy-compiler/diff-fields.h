/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What one policy opens and closes besides files.
 */
#ifndef LH_DIFF_FIELDS_H
#define LH_DIFF_FIELDS_H

#include "diff.h"

int policy_diff_fields(const struct policy *a, const struct policy *b,
		       diff_take *take, void *arg);

#endif
