/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A simulator of seccomp's machine, for verdicts without a system call.
 */
#ifndef LH_TEST_CLASSIC_H
#define LH_TEST_CLASSIC_H

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdint.h>
#include <string.h>

/* Classic BPF as seccomp runs it; 0 for what seccomp would not take. */
static inline uint32_t run(const struct sock_filter *f, size_t count,
		    const struct seccomp_data *d)
{
	uint32_t a = 0;
	size_t pc = 0;
	int taken;

	while (pc < count) {
		const struct sock_filter *i = &f[pc++];

		switch (i->code) {
		case BPF_LD | BPF_W | BPF_ABS:
			if (i->k > sizeof(*d) - 4 || i->k & 3)
				return 0;
			memcpy(&a, (const char *)d + i->k, 4);
			continue;
		case BPF_ALU | BPF_AND | BPF_K:
			a &= i->k;
			continue;
		case BPF_JMP | BPF_JA:
			pc += i->k;
			continue;
		case BPF_JMP | BPF_JEQ | BPF_K:
			taken = a == i->k;
			break;
		case BPF_JMP | BPF_JGT | BPF_K:
			taken = a > i->k;
			break;
		case BPF_JMP | BPF_JGE | BPF_K:
			taken = a >= i->k;
			break;
		case BPF_JMP | BPF_JSET | BPF_K:
			taken = (a & i->k) != 0;
			break;
		case BPF_RET | BPF_K:
			return i->k;
		default:
			return 0;
		}
		pc += taken ? i->jt : i->jf;
	}
	return 0;
}

#endif
