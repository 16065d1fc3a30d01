/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A refusal as the kernel reports it, taken apart and put into words. A record
 * is untrusted bytes with lengths: nothing is read beyond them.
 */
#ifndef LH_EVENT_H
#define LH_EVENT_H

#include <stdbool.h>
#include <stddef.h>

#include "../bpf/abi.h"
#include "writer.h"

enum mechanism {
	MECHANISM_EGRESS, MECHANISM_LOCAL_SOCKET, MECHANISM_HOME_READ,
	MECHANISM_WRITE, MECHANISM_UNKNOWN, MECHANISM_COUNT,
};

/* Room for the deepest path of empty names: "/" before each byte. */
#define EVENT_PATH_MAX (2 * LH_DATA_MAX)

struct event {
	struct lh_denial d;
	char path[EVENT_PATH_MAX], other[EVENT_PATH_MAX], exe[EVENT_PATH_MAX];
	size_t path_len, other_len, exe_len;	/* 0: none */
	__u64 args[LH_SYSCALL_ARGS];	/* of a system call */
	enum mechanism mechanism;
	bool probe;		/* programs try it and live well without */
};

/* 0, or -EBADMSG: not a record of this ABI. @home: for home_read. */
int event_parse(const void *data, size_t size, const char *home,
		struct event *ev);
/* The path that was refused; *len may be 0. */
const char *event_object(const struct event *ev, size_t *len);

const char *event_operation(const struct event *ev);
const char *event_reason(const struct event *ev);	/* short token */
const char *mechanism_name(enum mechanism m);
/* "192.0.2.1" or ""; @size at least INET6_ADDRSTRLEN. */
void event_address(const struct event *ev, char *text, size_t size);

struct event_context {
	const char *session;
	const char *rule;	/* its text */
	unsigned long long count;	/* equal refusals in this line */
};

/* Write the whole record as one object into @w. */
void event_write(const struct event *ev, const struct event_context *c,
		 struct writer *w);

#endif
