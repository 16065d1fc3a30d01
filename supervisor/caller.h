/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Who a thread is, from /proc, in a record's form. For one that waits for an
 * answer, so that its number is nobody else's meanwhile.
 */
#ifndef LH_CALLER_H
#define LH_CALLER_H

#include <stddef.h>

#include "../bpf/abi.h"

/*
 * Of the thread d->tid: .pid .ppid .uid .comm, and its program's path into @exe
 * as a record has it, leaf first; .exe_len is its length. What cannot be read
 * stays 0.
 */
void caller_read(struct lh_denial *d, char *exe, size_t size);
/*
 * "/a/b" to "b\0a\0" in @out: bytes written. What does not fit of the upper
 * components is left out, and marked with an empty one.
 */
size_t caller_path(const char *path, size_t len, char *out, size_t size);

#endif
