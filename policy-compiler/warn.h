/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What is no error in a policy, but hardly what its writer meant: entries that
 * have no effect, and roots that this machine does not have.
 */
#ifndef LH_WARN_H
#define LH_WARN_H

#include "compile.h"

/*
 * Warn about @p, which policy_check() has passed, as @o compiles it; with
 * .check also of what is merely needless, and of what the machine lacks, which
 * a run says by itself. @policy_file: where @p was read from, or NULL.
 */
void policy_warn(const struct policy *p, const struct compile_options *o,
		 const char *policy_file, struct diags *d);

#endif
