// SPDX-License-Identifier: GPL-2.0-only
/*
 * Internet sockets, kept in slots between questions. An address is text: IPv4
 * makes a sockaddr of IPv4 whatever the socket is. Nothing waits for long.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_link.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "probe.h"

#define SLOTS 32
#define WAIT_MS 1500
#define BLOCK 65536

static int slots[SLOTS];	/* 0: none */

int *probe_slot(const char *n)
{
	return &slots[atoi(n) % SLOTS];
}

socklen_t probe_address(const char *addr, const char *port,
			struct sockaddr_storage *ss)
{
	struct sockaddr_in *in = (struct sockaddr_in *)ss;
	struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)ss;

	memset(ss, 0, sizeof(*ss));
	if (!strcmp(addr, "unspec"))
		return sizeof(*in);
	if (inet_pton(AF_INET, addr, &in->sin_addr) == 1) {
		in->sin_family = AF_INET;
		in->sin_port = htons(atoi(port));
		return sizeof(*in);
	}
	in6->sin6_family = AF_INET6;
	in6->sin6_port = htons(atoi(port));
	return inet_pton(AF_INET6, addr, &in6->sin6_addr) == 1 ?
	       sizeof(*in6) : 0;
}

/* SLOT 4|6 t|u [PROTOCOL] */
/* SLOT 4|6 t|u|m [PROTOCOL]; m: multipath TCP */
static int op_isock(char **a, struct probe_reply *r)
{
	int *s = probe_slot(a[0]), protocol = a[3] ? atoi(a[3]) : 0;

	(void)r;
	if (*s)
		close(*s);
	if (*a[2] == 'm')
		protocol = IPPROTO_MPTCP;
	*s = socket(*a[1] == '4' ? AF_INET : AF_INET6,
		    (*a[2] == 'u' ? SOCK_DGRAM : SOCK_STREAM) | SOCK_CLOEXEC |
		    SOCK_NONBLOCK, protocol);
	if (*s >= 0)
		return 0;
	*s = 0;
	return errno;
}

static int op_iclose(char **a, struct probe_reply *r)
{
	int *s = probe_slot(a[0]), err;

	(void)r;
	if (!*s)
		return EBADF;
	err = probe_errno(close(*s));
	*s = 0;
	return err;
}

/* SLOT LEVEL OPTION VALUE */
static int op_iopt(char **a, struct probe_reply *r)
{
	int v = atoi(a[3]);

	(void)r;
	return probe_errno(setsockopt(*probe_slot(a[0]), atoi(a[1]),
				      atoi(a[2]), &v, sizeof(v)));
}

static int port_of(int fd)
{
	struct sockaddr_in6 ss;		/* the port stands at the same place */
	socklen_t len = sizeof(ss);

	return getsockname(fd, (struct sockaddr *)&ss, &len) ? -1 :
	       ntohs(ss.sin6_port);
}

/* SLOT ADDRESS PORT: .value is the port, .text the address it has now */
static int op_ibind(char **a, struct probe_reply *r)
{
	struct sockaddr_storage ss;
	socklen_t len = probe_address(a[1], a[2], &ss);
	int fd = *probe_slot(a[0]);

	if (bind(fd, (struct sockaddr *)&ss, len))
		return errno;
	r->value = port_of(fd);
	len = sizeof(ss);
	getsockname(fd, (struct sockaddr *)&ss, &len);
	inet_ntop(ss.ss_family, ss.ss_family == AF_INET ?
		  (void *)&((struct sockaddr_in *)&ss)->sin_addr :
		  (void *)&((struct sockaddr_in6 *)&ss)->sin6_addr, r->text,
		  sizeof(r->text));
	return 0;
}

/* SLOT [BACKLOG]: .value is the port */
static int op_ilisten(char **a, struct probe_reply *r)
{
	int err = probe_errno(listen(*probe_slot(a[0]),
				     a[1] ? atoi(a[1]) : 16));

	r->value = port_of(*probe_slot(a[0]));
	return err;
}

/* SLOT ADDRESS PORT: ETIMEDOUT if nothing came back in time */
static int op_iconnect(char **a, struct probe_reply *r)
{
	struct sockaddr_storage ss;
	socklen_t len = probe_address(a[1], a[2], &ss);
	int fd = *probe_slot(a[0]), err = 0;
	struct pollfd p = { .fd = fd, .events = POLLOUT };

	if (!connect(fd, (struct sockaddr *)&ss, len)) {
		r->value = port_of(fd);
		return 0;
	}
	if (errno != EINPROGRESS)
		return errno;
	if (poll(&p, 1, WAIT_MS) != 1)
		return ETIMEDOUT;
	len = sizeof(err);
	getsockopt(fd, SOL_SOCKET, SO_ERROR, &err, &len);
	r->value = port_of(fd);
	return err;
}

/* SLOT NEW [MS]: ETIMEDOUT if nobody comes */
static int op_iaccept(char **a, struct probe_reply *r)
{
	struct pollfd p = { .fd = *probe_slot(a[0]), .events = POLLIN };
	int *s = probe_slot(a[1]);

	(void)r;
	if (poll(&p, 1, a[2] ? atoi(a[2]) : WAIT_MS) != 1)
		return ETIMEDOUT;
	*s = accept4(p.fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	if (*s >= 0)
		return 0;
	*s = 0;
	return errno;
}

/* SLOT TEXT [ADDRESS PORT [FLAGS]] */
static int op_isend(char **a, struct probe_reply *r)
{
	struct sockaddr_storage ss;
	socklen_t len = a[2] ? probe_address(a[2], a[3], &ss) : 0;

	(void)r;
	return probe_errno(sendto(*probe_slot(a[0]), a[1], strlen(a[1]),
				  MSG_NOSIGNAL |
				  (a[2] && a[4] ? strtol(a[4], NULL, 0) : 0),
				  len ? (struct sockaddr *)&ss : NULL, len));
}

/*
 * SLOT TEXT A1 P1 A2 P2 [HOP]: two messages in one call, to "-" where it is
 * connected to; the second with options as isendmsg has. .value: how many went
 */
static int op_isendmmsg(char **a, struct probe_reply *r)
{
	union probe_control control;
	struct sockaddr_storage ss[2];
	struct mmsghdr m[2] = { 0 };
	struct iovec v = { a[1], strlen(a[1]) };

	for (int i = 0; i < 2; i++) {
		m[i].msg_hdr.msg_namelen = probe_address(a[2 + 2 * i],
							 a[3 + 2 * i], &ss[i]);
		m[i].msg_hdr.msg_name = m[i].msg_hdr.msg_namelen ? &ss[i] :
					NULL;
		m[i].msg_hdr.msg_iov = &v;
		m[i].msg_hdr.msg_iovlen = 1;
	}
	if (a[6])
		probe_control(a[6], &control, &m[1].msg_hdr);
	r->value = sendmmsg(*probe_slot(a[0]), m, 2, 0);
	return probe_errno(r->value);
}

/* SLOT: .text what came, .value the sender's port */
static int op_irecv(char **a, struct probe_reply *r)
{
	struct pollfd p = { .fd = *probe_slot(a[0]), .events = POLLIN };
	struct sockaddr_in6 from = { 0 };
	socklen_t len = sizeof(from);
	ssize_t n;

	if (poll(&p, 1, a[1] ? atoi(a[1]) : WAIT_MS) != 1)
		return ETIMEDOUT;
	n = recvfrom(p.fd, r->text, sizeof(r->text) - 1, 0,
		     (struct sockaddr *)&from, &len);
	r->value = ntohs(from.sin6_port);
	return probe_errno(n);
}

/* SLOT BYTES: as many as it takes without waiting. .value: how many */
static int op_ipump(char **a, struct probe_reply *r)
{
	static const char block[BLOCK];
	long left = atol(a[1]);
	ssize_t n = 1;

	for (r->value = 0; left > 0 && n > 0; left -= n, r->value += n)
		n = send(*probe_slot(a[0]), block,
			 left < BLOCK ? left : BLOCK,
			 MSG_NOSIGNAL);
	return n > 0 || errno == EAGAIN ? 0 : errno;
}

/*
 * SLOT BYTES [MS]: read as many, or to the end, which is EPIPE. .value: how
 * many came
 */
static int op_idrain(char **a, struct probe_reply *r)
{
	struct pollfd p = { .fd = *probe_slot(a[0]), .events = POLLIN };
	static char block[BLOCK];
	ssize_t n;

	for (r->value = 0; r->value < atol(a[1]); r->value += n) {
		if (poll(&p, 1, a[2] ? atoi(a[2]) : WAIT_MS) != 1)
			return ETIMEDOUT;
		n = recv(p.fd, block, BLOCK, 0);
		if (n < 0)
			return errno;
		if (!n)
			return EPIPE;
	}
	return 0;
}

/* Raw bytes as a sockaddr, in hex, of a claimed length. SLOT HEX LEN */
static int op_irawconnect(char **a, struct probe_reply *r)
{
	unsigned char raw[128] = { 0 };

	(void)r;
	for (size_t i = 0; i < sizeof(raw) && a[1][2 * i]; i++)
		sscanf(a[1] + 2 * i, "%2hhx", &raw[i]);
	return probe_errno(connect(*probe_slot(a[0]), (struct sockaddr *)raw,
				   atoi(a[2])));
}

int probe_options(const char *hop, unsigned char options[8])
{
	memcpy(options, (unsigned char[8]){ 7, 7, 4 }, 8);
	if (!strcmp(hop, "record"))
		return 1;
	options[0] = 131;
	return inet_pton(AF_INET, hop, options + 3) == 1;
}

/* SLOT HOP: a source route through HOP, or to "record" the route */
static int op_iroute(char **a, struct probe_reply *r)
{
	unsigned char options[8];

	(void)r;
	if (!probe_options(a[1], options))
		return EINVAL;
	return probe_errno(setsockopt(*probe_slot(a[0]), IPPROTO_IP,
				      IP_OPTIONS, options, sizeof(options)));
}

/* SLOT DEVICE */
static int op_idevice(char **a, struct probe_reply *r)
{
	(void)r;
	return probe_errno(setsockopt(*probe_slot(a[0]), SOL_SOCKET,
				      SO_BINDTODEVICE, a[1], strlen(a[1])));
}

/*
 * SLOT OPTION bind|listen|send ADDRESS PORT TIMES: again and again, while a
 * child of ours sets and clears that option of the same socket. .value: how
 * often it could; after a send its port is the kernel's again.
 */
static int op_irace(char **a, struct probe_reply *r)
{
	struct sockaddr_storage ss, none;
	socklen_t len = probe_address(a[3], a[4], &ss);
	int fd = *probe_slot(a[0]), v = 0;
	pid_t pid = fork();

	while (!pid) {
		v = !v;
		setsockopt(fd, SOL_SOCKET, atoi(a[1]), &v, sizeof(v));
	}
	if (pid < 0)
		return errno;
	r->value = 0;
	for (long n = atol(a[5]); n && (*a[2] == 's' || !r->value); n--) {
		r->value += *a[2] == 's' ?
			    sendto(fd, "x", 1, 0, (void *)&ss, len) == 1 :
			    *a[2] == 'l' ? !listen(fd, 16) :
			    !bind(fd, (void *)&ss, len);
		if (*a[2] == 's')
			connect(fd, (void *)&none,
				probe_address("unspec", "0", &none));
	}
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	return 0;
}

/* Ask for the interfaces, as getifaddrs does. .value: bytes of the answer */
static int op_interfaces(char **a, struct probe_reply *r)
{
	struct {
		struct nlmsghdr h;
		unsigned char family[4];
	} q = { .h = { .nlmsg_len = sizeof(q), .nlmsg_type = 18,
		       .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP } };
	struct sockaddr_nl to = { .nl_family = AF_NETLINK };
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, 0), err;
	char buf[8192];

	(void)a;
	if (fd < 0)
		return errno;
	err = probe_errno(bind(fd, (struct sockaddr *)&to, sizeof(to)));
	if (!err)
		err = probe_errno(sendto(fd, &q, sizeof(q), 0,
					 (struct sockaddr *)&to, sizeof(to)));
	r->value = err ? 0 : recv(fd, buf, sizeof(buf), 0);
	close(fd);
	return err;
}

/* PID: two devices, the other one where that process is; 0: both here */
static int op_ipair(char **a, struct probe_reply *r)
{
	struct {
		struct nlmsghdr h;
		struct ifinfomsg here;
		struct rtattr link, kind;
		char veth[4];
		struct rtattr data, peer;
		struct ifinfomsg there;
		struct rtattr space;
		unsigned int pid;
	} q = {
		.h = { .nlmsg_type = RTM_NEWLINK, .nlmsg_flags = NLM_F_REQUEST |
		       NLM_F_ACK | NLM_F_CREATE | NLM_F_EXCL },
		.link = { .rta_type = IFLA_LINKINFO },
		.kind = { 8, IFLA_INFO_KIND }, .veth = "veth",
		.data = { .rta_type = IFLA_INFO_DATA },
		.peer = { .rta_type = 1 },	/* VETH_INFO_PEER */
		.space = { 8, IFLA_NET_NS_PID }, .pid = atoi(a[0]),
	};
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, 0), err;
	unsigned int less = q.pid ? 0 : 8;
	struct {
		struct nlmsghdr h;
		struct nlmsgerr e;
		char rest[1024];
	} answer;

	(void)r;
	if (fd < 0)
		return errno;
	q.h.nlmsg_len = sizeof(q) - less;
	q.link.rta_len = sizeof(q) - offsetof(typeof(q), link) - less;
	q.data.rta_len = sizeof(q) - offsetof(typeof(q), data) - less;
	q.peer.rta_len = sizeof(q) - offsetof(typeof(q), peer) - less;
	err = probe_errno(send(fd, &q, q.h.nlmsg_len, 0));
	if (!err)
		err = probe_errno(recv(fd, &answer, sizeof(answer), 0));
	close(fd);
	return err ? err : -answer.e.error;
}

const struct probe_op probe_inet_ops[] = {
	{ "isock", 3, op_isock },	{ "iclose", 1, op_iclose },
	{ "iopt", 4, op_iopt },		{ "ibind", 3, op_ibind },
	{ "ilisten", 1, op_ilisten },	{ "iconnect", 3, op_iconnect },
	{ "iaccept", 2, op_iaccept },	{ "isend", 2, op_isend },
	{ "isendmmsg", 6, op_isendmmsg }, { "irecv", 1, op_irecv },
	{ "irawconnect", 3, op_irawconnect }, { "iroute", 2, op_iroute },
	{ "interfaces", 0, op_interfaces }, { "idevice", 2, op_idevice },
	{ "ipump", 2, op_ipump },	{ "idrain", 2, op_idrain },
	{ "ipair", 1, op_ipair },	{ "irace", 6, op_irace },
	{ NULL, 0, NULL },
};
