/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The host's side of unix sockets: who listens, and what has come. Addresses
 * and types as the probe has them (probe_unix.c).
 */
#ifndef LH_LOCAL_H
#define LH_LOCAL_H

#include <errno.h>
#include <poll.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "descriptor.h"

static const char local_types[] = "sqd";

static inline int local_type(char t)
{
	return (t == 's' ? SOCK_STREAM : t == 'd' ? SOCK_DGRAM :
		SOCK_SEQPACKET) | SOCK_CLOEXEC | SOCK_NONBLOCK;
}

static inline socklen_t local_address(struct sockaddr_un *sa, const char *text)
{
	size_t len = strlen(text);

	memset(sa, 0, sizeof(*sa));
	sa->sun_family = AF_UNIX;
	if (len >= sizeof(sa->sun_path))
		return 0;
	memcpy(sa->sun_path, text, len);
	if (*text == '@')
		sa->sun_path[0] = 0;
	return offsetof(struct sockaddr_un, sun_path) + len + (*text != '@');
}

/* Listen, for everybody; a path that is too long by way of its directory. */
static inline int local_listen(const char *at_, char type)
{
	int fd = socket(AF_UNIX, local_type(type), 0);
	struct sockaddr_un sa;
	socklen_t n = local_address(&sa, at_);
	mode_t mask = umask(0);
	int err = fd < 0 || !n || bind(fd, (struct sockaddr *)&sa, n) ||
		  (type != 'd' && listen(fd, 64));

	umask(mask);
	if (!err)
		return fd;
	fprintf(stderr, "# listen at %s: %s\n", at_, strerror(errno));
	close(fd);
	return -1;
}

/* How many connections or datagrams have come since it was asked. */
static inline int local_heard(int fd, char type)
{
	char buf[16];
	int n = 0, one;

	for (;; n++) {
		if (type == 'd') {
			if (recv(fd, buf, sizeof(buf), MSG_DONTWAIT) < 0)
				return n;
			continue;
		}
		one = accept4(fd, NULL, NULL, SOCK_CLOEXEC);
		if (one < 0)
			return n;
		close(one);
	}
}

/* A child of the host's that gives @what to the first who connects to @name. */
static inline pid_t local_give(const char *name, int what)
{
	int fd = local_listen(name, 's');
	struct pollfd p = { .fd = fd, .events = POLLIN };
	pid_t pid = fd < 0 ? -1 : fork();

	if (pid) {
		close(fd);
		return pid;
	}
	poll(&p, 1, 20000);
	fd = accept4(fd, NULL, NULL, SOCK_CLOEXEC);
	_exit(descriptor_send(fd, what) != 0);
}

#endif
