/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What differs between kernels, and between what C says and what a verifier
 * takes: once, here, behind a name. Facts of the boot (lh_have_*) are set by
 * the loader before it loads; the verifier drops the branch not taken.
 */
#ifndef LH_COMPAT_BPF_H
#define LH_COMPAT_BPF_H

#include <asm-generic/errno.h>
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_tracing.h>

/*
 * 1 as 0, else ERR: clang would make arithmetic of a plain conditional, and
 * from 6.12 an LSM program's return value must be provably in [-4095, 0].
 */
#define LH_RESULT(refused, err)					\
	({							\
		int r_ = 0;					\
		if (refused)					\
			asm volatile("%0 = %1"			\
				     : "=r"(r_)			\
				     : "i"(-(err)));		\
		r_;						\
	})

/* Low half of a pointer as a number; of the whole no verifier makes one. */
#define LH_LOW_HALF(p)							\
	({								\
		__u32 l_;						\
		asm volatile("%0 = %1" : "=w"(l_) : "w"((__u32)(__u64)(p))); \
		l_;							\
	})

/* bpf_rdonly_cast: from 6.2. Before, untyped memory is read by probing. */
extern void *bpf_rdonly_cast(void *obj, __u32 btf_id) __ksym __weak;
extern const volatile bool lh_have_cast;

#define LH_READ_AS(type, addr, field)					\
	({								\
		typeof(((type *)0)->field) v_;				\
		if (lh_have_cast) {					\
			type *p_ = bpf_rdonly_cast((void *)(addr),	\
				bpf_core_type_id_kernel(type));		\
			v_ = p_->field;					\
		} else {						\
			v_ = BPF_CORE_READ((type *)(addr), field);	\
		}							\
		v_;							\
	})

#endif
