/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The probe: a program that makes one system call when asked and answers with
 * the errno. It runs inside a session and, as its twin, outside of any. It
 * judges nothing; the tests do.
 */
#ifndef LH_TEST_PROBE_H
#define LH_TEST_PROBE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#define PROBE_ARGS 8
#define PROBE_FRAME 16384	/* bytes of one request, at most */

/* What `probe serve` answers to each frame. */
struct probe_reply {
	int32_t err;		/* 0 or a positive errno */
	int32_t value;		/* what the call returned, if it did */
	char text[248];		/* what was read, if anything */
};

struct probe_op {
	const char *name;
	int args;		/* how many it needs; more are optional */
	/* 0 or errno; arguments that are absent are NULL */
	int (*run)(char **arg, struct probe_reply *r);
};

extern const struct probe_op probe_fs_ops[];
extern const struct probe_op probe_meta_ops[];
extern const struct probe_op probe_process_ops[];
extern const struct probe_op probe_kernel_ops[];
extern const struct probe_op probe_credentials_ops[];
extern const struct probe_op probe_table_ops[];
extern const struct probe_op probe_storage_ops[];
extern const struct probe_op probe_ways_ops[];
extern const struct probe_op probe_attr_ops[];
extern const struct probe_op probe_ipc_ops[];
extern const struct probe_op probe_random_ops[];
extern const struct probe_op probe_unix_ops[];
extern const struct probe_op probe_inet_ops[];
extern const struct probe_op probe_odd_ops[];
extern const struct probe_op probe_seccomp_ops[];
extern const struct probe_op probe_ptrace_ops[];

/* Find the operation and run it: 0 or errno, -1 if there is none such. */
int probe_run(char **arg, struct probe_reply *r);

/* O_* from letters, see probe_fs.c. */
int probe_open_flags(const char *how);

/* Of probe_meta.c: something that has no place in any tree. */
int probe_nameless(const char *kind);

/* Of probe_inet.c: the descriptor in slot @n; an address in a sockaddr. */
int *probe_slot(const char *n);
socklen_t probe_address(const char *addr, const char *port,
			struct sockaddr_storage *ss);
/* IP options: a source route through @hop, or to "record" it. 0: neither */
int probe_options(const char *hop, unsigned char options[8]);

/* Of probe_odd.c: the same along with @m; "-": none */
union probe_control {
	struct cmsghdr header;
	char room[CMSG_SPACE(8)];
};

void probe_control(const char *hop, union probe_control *c, struct msghdr *m);

/* The errno of a call that returned @ret. */
int probe_errno(long ret);

#endif
