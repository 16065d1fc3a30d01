// SPDX-License-Identifier: GPL-2.0-only
/*
 * A filter run as the kernel runs it. What the kernel would not take, or what
 * leads out of the program, is answered with 0, which no filter of ours gives.
 */
#include <linux/seccomp.h>
#include <string.h>

#include "filter.h"

uint32_t filter_run(const struct sock_filter *f, size_t count,
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

void filter_tell(struct sock_filter *f, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (f[i].code == (BPF_RET | BPF_K) &&
		    (f[i].k & SECCOMP_RET_ACTION_FULL) == SECCOMP_RET_ERRNO &&
		    (f[i].k & SECCOMP_RET_DATA))
			f[i].k = SECCOMP_RET_USER_NOTIF |
				 (f[i].k & SECCOMP_RET_DATA);
}
