// SPDX-License-Identifier: GPL-2.0-only
/*
 * Refused system calls in words. The names are libseccomp's, made at build.
 */
#include <asm/unistd.h>
#include <errno.h>
#include <linux/audit.h>

#include "../policy-compiler/filter.h"
#include "call.h"

const char *call_name(const struct event *ev)
{
	int args;

	return filter_call(ev->d.target, ev->d.arg, &args);
}

void call_settle(struct event *ev)
{
	if (ev->d.target != AUDIT_ARCH_X86_64 || ev->d.err != -EPERM ||
	    (ev->d.arg != __NR_socket && ev->d.arg != __NR_socketpair))
		return;
	ev->d.op = LH_OP_SOCKET;
	ev->d.why = LH_WHY_FAMILY;
	ev->d.target = 0;
	ev->d.family = ev->args[0];
	ev->d.arg = ev->args[1];
	ev->d.protocol = ev->args[2];
}

/* Which call, and the numbers it was given: never what these point to. */
void call_write(const struct event *ev, struct writer *w)
{
	const char *arch = ev->d.target == AUDIT_ARCH_I386 ? "i386" :
			   ev->d.target != AUDIT_ARCH_X86_64 ? NULL :
			   ev->d.arg & 0x40000000 ? "x32" : "x86_64";
	const char *name;
	int count, i;

	name = filter_call(ev->d.target, ev->d.arg, &count);
	writer_str(w, "syscall", name);
	writer_uint(w, "syscall_number", ev->d.arg);
	writer_str(w, "arch", arch);
	if (count < 0) {
		writer_null(w, "args");
		return;
	}
	writer_open_array(w, "args");
	for (i = 0; i < count && i < LH_SYSCALL_ARGS; i++)
		writer_uint(w, NULL, ev->args[i]);
	writer_close_array(w);
}
