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
	if (flags & IMAGE_USER_NAMESPACES) {
		*count = sizeof(filter_namespaces) / sizeof(*filter_namespaces);
		return filter_namespaces;
	}
	*count = sizeof(filter_plain) / sizeof(*filter_plain);
	return filter_plain;
}
