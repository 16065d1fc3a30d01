// SPDX-License-Identifier: GPL-2.0-only
/*
 * What programs seldom do with internet sockets: groups, options beside what is
 * sent, a sockaddr of raw bytes, sockets that somebody else has made.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "probe.h"

/* SLOT FD: a descriptor that came some other way */
static int op_iadopt(char **a, struct probe_reply *r)
{
	(void)r;
	*probe_slot(a[0]) = atoi(a[1]);
	return 0;
}

/* SLOT TEXT HEX LEN: raw bytes as a destination */
static int op_irawsend(char **a, struct probe_reply *r)
{
	unsigned char raw[128] = { 0 };

	(void)r;
	for (size_t i = 0; i < sizeof(raw) && a[2][2 * i]; i++)
		sscanf(a[2] + 2 * i, "%2hhx", &raw[i]);
	return probe_errno(sendto(*probe_slot(a[0]), a[1], strlen(a[1]),
				  MSG_NOSIGNAL, (struct sockaddr *)raw,
				  atoi(a[3])));
}

void probe_control(const char *hop, union probe_control *c, struct msghdr *m)
{
	unsigned char options[8];

	if (!probe_options(hop, options))
		return;
	memset(c, 0, sizeof(*c));
	c->header = (struct cmsghdr){
		.cmsg_level = IPPROTO_IP, .cmsg_type = IP_RETOPTS,
		.cmsg_len = CMSG_LEN(sizeof(options)),
	};
	memcpy(CMSG_DATA(&c->header), options, sizeof(options));
	m->msg_control = c;
	m->msg_controllen = sizeof(*c);
}

/* SLOT TEXT HOP [ADDRESS PORT]: with options as iroute has; "-": without */
static int op_isendmsg(char **a, struct probe_reply *r)
{
	union probe_control control;
	struct iovec one = { a[1], strlen(a[1]) };
	struct sockaddr_storage ss;
	struct msghdr m = { .msg_iov = &one, .msg_iovlen = 1 };

	(void)r;
	if (a[3]) {
		m.msg_namelen = probe_address(a[3], a[4], &ss);
		m.msg_name = &ss;
	}
	probe_control(a[2], &control, &m);
	return probe_errno(sendmsg(*probe_slot(a[0]), &m, MSG_NOSIGNAL));
}

/* SLOT ADDRESS: an echo request from a socket of ICMP */
static int op_iping(char **a, struct probe_reply *r)
{
	unsigned char echo[8] = { 8 };
	struct sockaddr_storage ss;
	socklen_t len = probe_address(a[1], "0", &ss);

	(void)r;
	return probe_errno(sendto(*probe_slot(a[0]), echo, sizeof(echo), 0,
				  (struct sockaddr *)&ss, len));
}

static const struct join {
	const char *how;
	int level, option;
} joins[] = {
	{ "mreq", IPPROTO_IP, IP_ADD_MEMBERSHIP },
	{ "mreqn", IPPROTO_IP, IP_ADD_MEMBERSHIP },
	{ "source", IPPROTO_IP, IP_ADD_SOURCE_MEMBERSHIP },
	{ "group", IPPROTO_IP, MCAST_JOIN_GROUP },
	{ "group_source", IPPROTO_IP, MCAST_JOIN_SOURCE_GROUP },
	{ "six", IPPROTO_IPV6, IPV6_ADD_MEMBERSHIP },
	{ "six_group", IPPROTO_IPV6, MCAST_JOIN_GROUP },
	{ "six_source", IPPROTO_IPV6, MCAST_JOIN_SOURCE_GROUP },
	{ "six_anycast", IPPROTO_IPV6, IPV6_JOIN_ANYCAST },
};

union join_value {
	struct ip_mreq mreq;
	struct ip_mreqn mreqn;
	struct ip_mreq_source source;
	struct group_req group;
	struct group_source_req group_source;
	struct ipv6_mreq six;
};

/* What @how takes; its length, or 0. */
static socklen_t join_fill(const char *how, const char *group,
			   const char *device, union join_value *v)
{
	const char *from = strchr(group, ':') ? "2001:db8::63" : "192.0.2.63";
	int index = if_nametoindex(device);
	in_addr_t near = htonl(index == 1 ? INADDR_LOOPBACK : 0xc0000201);
	struct sockaddr_storage ss, source;

	memset(v, 0, sizeof(*v));
	if (!probe_address(group, "0", &ss) ||
	    !probe_address(from, "0", &source))
		return 0;
	if (!strcmp(how, "six") || !strcmp(how, "six_anycast")) {
		v->six.ipv6mr_multiaddr =
			((struct sockaddr_in6 *)&ss)->sin6_addr;
		v->six.ipv6mr_interface = index;
		return sizeof(v->six);
	}
	if (strstr(how, "group_source") || strstr(how, "six_source")) {
		v->group_source.gsr_interface = index;
		v->group_source.gsr_group = ss;
		v->group_source.gsr_source = source;
		return sizeof(v->group_source);
	}
	if (strstr(how, "group")) {
		v->group.gr_interface = index;
		v->group.gr_group = ss;
		return sizeof(v->group);
	}
	v->mreqn.imr_multiaddr = ((struct sockaddr_in *)&ss)->sin_addr;
	if (!strcmp(how, "mreqn")) {
		v->mreqn.imr_ifindex = index;
		return sizeof(v->mreqn);
	}
	v->mreq.imr_interface.s_addr = near;
	if (!strcmp(how, "mreq"))
		return sizeof(v->mreq);
	v->source.imr_multiaddr = ((struct sockaddr_in *)&ss)->sin_addr;
	v->source.imr_interface.s_addr = near;
	v->source.imr_sourceaddr = ((struct sockaddr_in *)&source)->sin_addr;
	return sizeof(v->source);
}

/* SLOT HOW GROUP DEVICE */
static int op_ijoin(char **a, struct probe_reply *r)
{
	union join_value v;
	socklen_t len = join_fill(a[1], a[2], a[3], &v);

	(void)r;
	for (size_t i = 0; i < sizeof(joins) / sizeof(*joins); i++)
		if (len && !strcmp(joins[i].how, a[1]))
			return probe_errno(setsockopt(*probe_slot(a[0]),
						      joins[i].level,
						      joins[i].option, &v,
						      len));
	return -1;
}

/* SLOT ADDRESS DEVICE: from where all that the socket sends leaves */
static int op_ipktinfo(char **a, struct probe_reply *r)
{
	struct in6_pktinfo v = { .ipi6_ifindex = if_nametoindex(a[2]) };

	(void)r;
	if (inet_pton(AF_INET6, a[1], &v.ipi6_addr) != 1)
		return -1;
	return probe_errno(setsockopt(*probe_slot(a[0]), IPPROTO_IPV6,
				      IPV6_PKTINFO, &v, sizeof(v)));
}

const struct probe_op probe_odd_ops[] = {
	{ "iadopt", 2, op_iadopt },	{ "irawsend", 4, op_irawsend },
	{ "isendmsg", 3, op_isendmsg },	{ "ijoin", 4, op_ijoin },
	{ "iping", 2, op_iping },	{ "ipktinfo", 3, op_ipktinfo },
	{ NULL, 0, NULL },
};
