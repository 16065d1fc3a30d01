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

/* What a policy changes in it */
#define FILTER_NAMESPACES 0x1u	/* new user namespaces */
#define FILTER_TCP 0x2u		/* sockets of IPv4 and IPv6 */
#define FILTER_UDP 0x4u
#define FILTER_PTRACE 0x8u	/* tracing; programs judge whom */
#define FILTER_KINDS 16u	/* that makes so many filters */

/* Of image.flags and image.net_flags. */
uint32_t filter_flags(uint32_t flags, uint32_t net_flags);

/*
 * Build the filter of kind @flags. *out is malloc'd, for SECCOMP_SET_
 * MODE_FILTER; 0, or negative errno with *e set and the outputs untouched.
 */
int filter_build(uint32_t flags, struct sock_filter **out, size_t *count,
		 struct err *e);

/* What filter_build() makes of it, made when this was built. */
const struct sock_filter *filter_ready(uint32_t flags, size_t *count);

/* What it answers to a call: SECCOMP_RET_*. Ends, whatever @f is. */
struct seccomp_data;
uint32_t filter_run(const struct sock_filter *f, size_t count,
		    const struct seccomp_data *d);
/* Every refusal in @f becomes a notification of who holds the listener. */
void filter_tell(struct sock_filter *f, size_t count);
/*
 * Name of a system call in the table @arch (AUDIT_ARCH_*); NULL: no such table,
 * or no name in it. On x86-64, with bit 30 set, of x32's. *args is how many
 * arguments it takes, -1: that is not known here.
 */
const char *filter_call(uint32_t arch, uint32_t nr, int *args);

/* Name of the call @nr if libseccomp has none for it yet, or NULL. */
const char *filter_newer(uint32_t nr);

/* The tables as text: a line each, "allow NAME", "refuse NAME" or
 * "refuse NAME arg N VALUE…", in a fixed order. */
void filter_dump(FILE *f);

#endif
