/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One descriptor over a socket, as SCM_RIGHTS.
 */
#ifndef LH_TEST_DESCRIPTOR_H
#define LH_TEST_DESCRIPTOR_H

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

/* 0 or a positive errno. */
static inline int descriptor_send(int sock, int fd)
{
	union {
		char buf[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control = { { 0 } };
	struct iovec iov = { (char[]){ 'x' }, 1 };
	struct msghdr m = {
		.msg_iov = &iov, .msg_iovlen = 1,
		.msg_control = control.buf,
		.msg_controllen = sizeof(control.buf),
	};
	struct cmsghdr *c = CMSG_FIRSTHDR(&m);

	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(c), &fd, sizeof(fd));
	return sendmsg(sock, &m, 0) < 0 ? errno : 0;
}

#endif
