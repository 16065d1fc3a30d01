// SPDX-License-Identifier: GPL-2.0-only
/*
 * Socket families, types and protocols. A filter decides, and not a program at
 * socket_create, which every socket that the host makes would pass through; and
 * the kernel has then not yet looked for a module of that family.
 */
#include <asm/unistd.h>
#include <linux/netlink.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "filter-code.h"

#define TYPES 0xfu	/* the rest of the argument: SOCK_CLOEXEC … */

/* Where a step goes on, and what it is called itself. */
enum label { NEXT, PASS, FAIL, MADE, NETLINK, INET, TCP, UDP };

static const struct step {
	enum label at;
	uint16_t op;
	uint32_t k;
	enum label yes, no;
} steps[] = {
	{ NEXT, JEQ, __NR_socket, MADE, NEXT },
	{ NEXT, JEQ, __NR_socketpair, MADE, PASS },
	{ MADE, LOAD, ARG(0), NEXT, NEXT },
	{ NEXT, JEQ, AF_UNIX, PASS, NEXT },
	{ NEXT, JEQ, AF_INET, INET, NEXT },
	{ NEXT, JEQ, AF_INET6, INET, NEXT },
	/* Interfaces, addresses, routes; to change them takes a capability. */
	{ NEXT, JEQ, AF_NETLINK, NETLINK, FAIL },
	{ NETLINK, LOAD, ARG(2), NEXT, NEXT },
	{ NEXT, JEQ, NETLINK_ROUTE, NEXT, FAIL },
	{ NEXT, LOAD, ARG(1), NEXT, NEXT },
	{ NEXT, AND, TYPES, NEXT, NEXT },
	{ NEXT, JEQ, SOCK_RAW, PASS, NEXT },
	{ NEXT, JEQ, SOCK_DGRAM, PASS, FAIL },
	{ INET, LOAD, ARG(1), NEXT, NEXT },
	{ NEXT, AND, TYPES, NEXT, NEXT },
	{ NEXT, JEQ, SOCK_STREAM, TCP, NEXT },
	{ NEXT, JEQ, SOCK_DGRAM, UDP, FAIL },
	{ TCP, LOAD, ARG(2), NEXT, NEXT },
	{ NEXT, JEQ, 0, PASS, NEXT },
	{ NEXT, JEQ, IPPROTO_TCP, PASS, NEXT },
	{ NEXT, JEQ, IPPROTO_MPTCP, PASS, FAIL },
	{ UDP, LOAD, ARG(2), NEXT, NEXT },
	{ NEXT, JEQ, 0, PASS, NEXT },
	{ NEXT, JEQ, IPPROTO_UDP, PASS, FAIL },
	{ FAIL, RETURN, REFUSE, NEXT, NEXT },
};

#define STEPS (sizeof(steps) / sizeof(steps[0]))

/* How far it is to the label @to from behind step @i. */
static uint8_t hop(enum label to, size_t i, uint32_t flags)
{
	size_t at;

	if (to == NEXT)
		return 0;
	if (to == PASS)
		return STEPS - 1 - i;
	if ((to == NETLINK && !(flags & (FILTER_TCP | FILTER_UDP))) ||
	    (to == TCP && !(flags & FILTER_TCP)) ||
	    (to == UDP && !(flags & FILTER_UDP)))
		to = FAIL;
	for (at = i + 1; steps[at].at != to;)
		at++;
	return at - 1 - i;
}

void emit_sockets(struct code *c, uint32_t flags)
{
	size_t i;

	for (i = 0; i < STEPS; i++)
		emit(c, steps[i].op, steps[i].k, hop(steps[i].yes, i, flags),
		     hop(steps[i].no, i, flags));
}
