/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Limits that a session came up against, as records beside those of refusals:
 * which limit, its value, how often, and of memory who was killed for it.
 */
#ifndef LH_REACHED_H
#define LH_REACHED_H

#include <stdbool.h>
#include <stddef.h>

#include "../bpf/abi.h"

/* Whom the kernel killed. */
struct victim {
	__u32 pid, uid;
	char comm[LH_COMM_LEN];
};

struct run;

/*
 * Is @line, a record of the kernel's log, about a process that was killed for
 * the memory of session @id? What can be in it of a session's making is a
 * name: 15 bytes, of any kind.
 */
bool reached_victim(const char *line, const char *id, struct victim *v);
/* Before the command starts: from here on the kernel's log is the session's. */
void reached_begin(struct run *r);
/* At its end, with r->result filled. */
void reached_end(struct run *r);

#endif
