/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The seccomp filter of a session: an allow list. What the kernel programs
 * judge passes here; what no program can judge, or nobody honest needs, is
 * refused. Same input, same bytes.
 */
#ifndef LH_FILTER_H
#define LH_FILTER_H

#include <linux/filter.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "err.h"

#define FILTER_INSNS_MAX 4096	/* BPF_MAXINSNS */

/*
 * Build the filter for image.flags @flags. *out is malloc'd, for SECCOMP_SET_
 * MODE_FILTER; 0, or negative errno with *e set and the outputs untouched.
 */
int filter_build(uint32_t flags, struct sock_filter **out, size_t *count,
		 struct err *e);

/* What filter_build() makes of @flags, made when this was built. */
const struct sock_filter *filter_ready(uint32_t flags, size_t *count);

/* The tables as text: a line each, "allow NAME", "refuse NAME" or
 * "refuse NAME arg N VALUE…", in a fixed order. */
void filter_dump(FILE *f);

#endif
