// SPDX-License-Identifier: GPL-2.0-only
/*
 * Run while building: the filters that a session can have, as C. libseccomp
 * takes longer for one than all the rest of compiling a policy does.
 */
#include <stdio.h>
#include <stdlib.h>

#include "filter.h"
#include "image.h"

static int put(const char *name, uint32_t flags)
{
	struct sock_filter *f = NULL;
	struct err e = { 0 };
	size_t n = 0, i;

	if (filter_build(flags, &f, &n, &e)) {
		fprintf(stderr, "make-filter: %s\n", e.msg);
		return 1;
	}
	printf("static const struct sock_filter %s[] = {\n", name);
	for (i = 0; i < n; i++)
		printf("\t{ 0x%04x, %u, %u, 0x%08x },\n", f[i].code, f[i].jt,
		       f[i].jf, f[i].k);
	printf("};\n");
	free(f);
	return 0;
}

int main(void)
{
	return put("filter_plain", 0) |
	       put("filter_namespaces", IMAGE_USER_NAMESPACES);
}
