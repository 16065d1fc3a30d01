/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A filter while it is written.
 */
#ifndef LH_FILTER_CODE_H
#define LH_FILTER_CODE_H

#include <errno.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>

#include "filter.h"

struct code {
	struct sock_filter insn[FILTER_INSNS_MAX];
	size_t count;
};

static inline void emit(struct code *c, uint16_t op, uint32_t k, uint8_t jt,
			uint8_t jf)
{
	struct sock_filter f = { .code = op, .jt = jt, .jf = jf, .k = k };

	if (c->count < FILTER_INSNS_MAX)
		c->insn[c->count++] = f;
}

#define JEQ (BPF_JMP | BPF_JEQ | BPF_K)
#define JSET (BPF_JMP | BPF_JSET | BPF_K)
#define LOAD (BPF_LD | BPF_W | BPF_ABS)
#define AND (BPF_ALU | BPF_AND | BPF_K)
#define RETURN (BPF_RET | BPF_K)
#define REFUSE (SECCOMP_RET_ERRNO | EPERM)
#define ARG(n) (offsetof(struct seccomp_data, args) + 8 * (n))

/*
 * What socket(2) and socketpair(2) may make, under filter flags @flags: what
 * lh_socket_may() says. For calls of the native table, whose number is loaded;
 * what passes goes on behind it, with anything loaded.
 */
void emit_sockets(struct code *c, uint32_t flags);

/*
 * The checks of arguments, for calls of the native table; falls through to what
 * follows, which loads what it needs anew. Foreign tables are the tree's to
 * refuse.
 */
void emit_checks(struct code *c, uint32_t flags);
/* The same as text, a line each. */
void dump_checks(FILE *f);

#endif
