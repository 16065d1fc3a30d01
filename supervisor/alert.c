// SPDX-License-Identifier: GPL-2.0-only
/*
 * Words for kinds of refusals: by what was tried first, then by why not.
 */
#include <string.h>

#include "alert.h"

static bool crosses(const struct event *ev)
{
	switch (ev->d.op) {
	case LH_OP_PTRACE: case LH_OP_SIGNAL: case LH_OP_PROC:
	case LH_OP_SCHED: case LH_OP_IPC:
		return true;
	}
	return ev->d.why == LH_WHY_PROCESS;
}

static bool needs_privilege(const struct event *ev)
{
	switch (ev->d.op) {
	case LH_OP_MOUNT: case LH_OP_CHROOT: case LH_OP_BPF:
	case LH_OP_NAMESPACE: case LH_OP_MODULE: case LH_OP_PERF:
	case LH_OP_QUOTA:
		return true;
	}
	return ev->d.why == LH_WHY_SETID || ev->d.why == LH_WHY_DEVICE ||
	       ev->d.why == LH_WHY_GUARD || ev->d.why == LH_WHY_NEVER;
}

/* A path: outside of what is granted, or where nobody writes. */
static const char *path_word(const struct event *ev)
{
	switch (ev->d.why) {
	case LH_WHY_DENIED: case LH_WHY_NOT_GRANTED: case LH_WHY_OUTSIDE_MOUNT:
		return "PATH_TRAVERSAL_INTERCEPTED";
	case LH_WHY_READ_ONLY: case LH_WHY_PROTECTED: case LH_WHY_PINNED:
		return "PROTECTED_WRITE_BLOCKED";
	}
	return "POLICY_VIOLATION_BLOCKED";
}

const char *alert_word(const struct event *ev)
{
	size_t len;

	event_object(ev, &len);
	if (ev->d.op == LH_OP_SYSCALL)
		return "SYSCALL_BLOCKED";
	if (ev->mechanism == MECHANISM_LOCAL_SOCKET)
		return "LOCAL_SOCKET_BLOCKED";
	if (ev->mechanism == MECHANISM_EGRESS)
		return ev->d.op == LH_OP_ACCEPT ? "INGRESS_BLOCKED" :
						  "EGRESS_BLOCKED";
	if (crosses(ev))
		return "PROCESS_BOUNDARY_BLOCKED";
	if (needs_privilege(ev))
		return "PRIVILEGED_OPERATION_BLOCKED";
	if (ev->d.why == LH_WHY_NO_EXEC)
		return "EXEC_BLOCKED";
	return len ? path_word(ev) : "POLICY_VIOLATION_BLOCKED";
}
