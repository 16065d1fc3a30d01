// SPDX-License-Identifier: GPL-2.0-only
/*
 * The filters as they were built: see make-filter.c.
 */
#include <linux/filter.h>

#include "filter.h"
#include "gen/filter.inc"
#include "image.h"

const struct sock_filter *filter_ready(uint32_t flags, size_t *count)
{
	if (flags & IMAGE_NO_EXEC) {
		*count = sizeof(filter_no_exec) / sizeof(*filter_no_exec);
		return filter_no_exec;
	}
	*count = sizeof(filter_exec) / sizeof(*filter_exec);
	return filter_exec;
}
