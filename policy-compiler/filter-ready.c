// SPDX-License-Identifier: GPL-2.0-only
/*
 * The filters, and names for what they refuse, as they were built: see
 * make-filter.c.
 */
#include <linux/audit.h>
#include <linux/filter.h>
#include <string.h>

#include "filter.h"
#include "gen/filter.inc"

const struct sock_filter *filter_ready(uint32_t flags, size_t *count)
{
	flags %= FILTER_KINDS;
	*count = filters[flags].count;
	return filters[flags].insn;
}

#define X32 0x40000000u

static const char *nth(const char *names, size_t size, uint32_t n)
{
	const char *end = names + size - 1;

	while (n-- && names < end)
		names += strlen(names) + 1;
	return names < end && *names ? names : NULL;
}

const char *filter_call(uint32_t arch, uint32_t nr, int *args)
{
	const char *name = NULL;

	*args = -1;
	if (arch == AUDIT_ARCH_I386)
		name = nth(names_i386, sizeof(names_i386), nr);
	else if (arch == AUDIT_ARCH_X86_64 && (nr & X32))
		name = nth(names_x32, sizeof(names_x32), nr & ~X32);
	else if (arch == AUDIT_ARCH_X86_64)
		name = nth(names_x86_64, sizeof(names_x86_64), nr);
	if (!name)
		return NULL;
	if (*name >= '0' && *name <= '9')
		*args = *name - '0';
	return name + 1;
}
