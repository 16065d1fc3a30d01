// SPDX-License-Identifier: GPL-2.0-only
/*
 * Unix sockets. An address is a path, or @NAME for an abstract one; a type is
 * s (stream), d (datagram) or q (seqpacket). What is made stays open, by its
 * number, until it is closed.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "local.h"
#include "probe.h"

#define WAIT_MS 10000

static int type_of(const char *s)
{
	return (*s == 's' ? SOCK_STREAM : *s == 'd' ? SOCK_DGRAM :
		SOCK_SEQPACKET) | SOCK_CLOEXEC;
}

static int to(int fd, const char *text, int (*call)(int fd,
					const struct sockaddr *sa, socklen_t n))
{
	struct sockaddr_un sa;
	socklen_t n = local_address(&sa, text);

	if (!n)
		return ENAMETOOLONG;
	return call(fd, (struct sockaddr *)&sa, n) ? errno : 0;
}

/* ADDRESS TYPE [DIR]: connect and say hi; ADDRESS is relative to DIR. */
static int op_uconnect(char **a, struct probe_reply *r)
{
	int fd = socket(AF_UNIX, type_of(a[1]), 0), back = -1, err;

	(void)r;
	if (fd < 0)
		return errno;
	if (a[2]) {
		back = open(".", O_PATH | O_CLOEXEC);
		if (back < 0 || chdir(a[2]))
			return errno;
	}
	err = to(fd, a[0], connect);
	if (!err && send(fd, "hi", 2, MSG_NOSIGNAL) != 2)
		err = errno;
	if (back >= 0 && fchdir(back))
		err = EIO;
	close(back);
	close(fd);
	return err;
}

/* DIR NAME TYPE: the same by way of a descriptor of DIR. */
static int op_uconnectfd(char **a, struct probe_reply *r)
{
	int dir = open(a[0], O_PATH | O_CLOEXEC), err;
	char path[64];

	if (dir < 0)
		return errno;
	snprintf(path, sizeof(path), "/proc/self/fd/%d/%s", dir, a[1]);
	err = op_uconnect((char *[]){ path, a[2], NULL }, r);
	close(dir);
	return err;
}

static int send_to(int fd, const char *text, int by_message)
{
	struct iovec hi = { .iov_base = "hi", .iov_len = 2 };
	struct msghdr m = { .msg_iov = &hi, .msg_iovlen = 1 };
	struct mmsghdr mm;
	struct sockaddr_un sa;

	if (text) {
		m.msg_name = &sa;
		m.msg_namelen = local_address(&sa, text);
	}
	if (!by_message)
		return sendto(fd, "hi", 2, MSG_NOSIGNAL, m.msg_name,
			      m.msg_namelen) == 2 ? 0 : errno;
	if (by_message == 1)
		return sendmsg(fd, &m, MSG_NOSIGNAL) == 2 ? 0 : errno;
	mm = (struct mmsghdr){ .msg_hdr = m };
	return sendmmsg(fd, &mm, 1, MSG_NOSIGNAL) == 1 ? 0 : errno;
}

/* ADDRESS HOW [CONNECTED]: by sendto, sendmsg or sendmmsg (0, 1, 2). */
static int op_usend(char **a, struct probe_reply *r)
{
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0), err = 0;

	(void)r;
	if (fd < 0)
		return errno;
	if (a[2] && to(fd, a[2], connect))
		err = ENOTCONN;
	if (!err)
		err = send_to(fd, a[0], atoi(a[1]));
	close(fd);
	return err;
}

/* ADDRESS TYPE: bind and, if it can, listen; the value is its number. */
static int op_ubind(char **a, struct probe_reply *r)
{
	int fd = socket(AF_UNIX, type_of(a[1]), 0), err;

	if (fd < 0)
		return errno;
	err = to(fd, a[0], bind);
	if (!err && *a[1] != 'd' && listen(fd, 16))
		err = errno;
	if (err)
		close(fd);
	else
		r->value = fd;
	return err;
}

/* NUMBER */
static int op_uclose(char **a, struct probe_reply *r)
{
	(void)r;
	return close(atoi(a[0])) ? errno : 0;
}

/* NUMBER [ADDRESS]: a message by a socket that was there before. */
static int op_ufdsend(char **a, struct probe_reply *r)
{
	(void)r;
	return send_to(atoi(a[0]), a[1], 1);
}

/* NUMBER ADDRESS: connect a socket that was there before. */
static int op_ufdconnect(char **a, struct probe_reply *r)
{
	(void)r;
	return to(atoi(a[0]), a[1], connect);
}

/* ADDRESS: a datagram from a name that the kernel gives, and the answer. */
static int op_uask(char **a, struct probe_reply *r)
{
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0), err;
	struct sockaddr_un sa = { .sun_family = AF_UNIX };
	struct pollfd p = { .fd = fd, .events = POLLIN };

	if (fd < 0 || bind(fd, (struct sockaddr *)&sa, sizeof(sa_family_t)))
		return errno;
	err = send_to(fd, a[0], 0);
	if (!err && (poll(&p, 1, WAIT_MS) != 1 ||
		     recv(fd, r->text, sizeof(r->text) - 1, 0) < 0))
		err = ETIMEDOUT;
	close(fd);
	return err;
}

/* ADDRESS: take a descriptor from who listens there; the value is it. */
static int op_ureceive(char **a, struct probe_reply *r)
{
	union {
		struct cmsghdr header;
		char room[CMSG_SPACE(sizeof(int))];
	} control;
	char byte;
	struct iovec one = { .iov_base = &byte, .iov_len = 1 };
	struct msghdr m = {
		.msg_iov = &one, .msg_iovlen = 1, .msg_control = &control,
		.msg_controllen = sizeof(control),
	};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), err;
	struct pollfd p = { .fd = fd, .events = POLLIN };

	if (fd < 0)
		return errno;
	err = to(fd, a[0], connect);
	if (!err && (poll(&p, 1, WAIT_MS) != 1 || recvmsg(fd, &m, 0) != 1))
		err = EIO;
	if (!err && (m.msg_flags & MSG_CTRUNC || !CMSG_FIRSTHDR(&m)))
		err = EACCES;	/* the descriptor was held back */
	if (!err)
		memcpy(&r->value, CMSG_DATA(CMSG_FIRSTHDR(&m)), sizeof(int));
	close(fd);
	return err;
}

/* ADDRESS PATH: whoever connects there is sent that file's descriptor. */
static int op_ugive(char **a, struct probe_reply *r)
{
	int fd = open(a[1], O_RDONLY | O_CLOEXEC);
	pid_t pid = fd < 0 ? -1 : local_give(a[0], fd);
	int err = errno;

	(void)r;
	close(fd);
	return pid < 0 ? err : 0;
}

const struct probe_op probe_unix_ops[] = {
	{ "uconnect", 2, op_uconnect },	{ "uconnectfd", 3, op_uconnectfd },
	{ "usend", 2, op_usend },	{ "ubind", 2, op_ubind },
	{ "uclose", 1, op_uclose },	{ "ufdsend", 1, op_ufdsend },
	{ "ufdconnect", 2, op_ufdconnect },
	{ "uask", 1, op_uask },		{ "ureceive", 1, op_ureceive },
	{ "ugive", 2, op_ugive },
	{ NULL, 0, NULL },
};
