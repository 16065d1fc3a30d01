/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The network's two layers, and a fixture that goes on with one of them.
 * Include after the harness.
 */
#ifndef LH_LAYER_H
#define LH_LAYER_H

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "device.h"
#include "hook.h"
#include "inet.h"

/* What the calling task's label decides. */
static struct hook layer_task[] = {
	{ .name = "inet_socket_bind" },
	{ .name = "inet_socket_connect" },
	{ .name = "inet_socket_sendmsg" },
	{ .name = "inet_socket_listen" },
	{ .name = "inet_socket_setsockopt" },
	{ .name = NULL }
};

/* What the socket's cgroup decides. */
static struct hook layer_socket[] = {
	{ .name = "inet_bind4" },
	{ .name = "inet_bind6" },
	{ .name = "inet_connect4" },
	{ .name = "inet_connect6" },
	{ .name = "inet_setsockopt" },
	{ .name = "inet_egress" },
	{ .name = "inet_ingress" },
	{ .name = NULL }
};

/* Off their hooks when this returns: 0, -1. */
static inline int layer_off(struct hook *h)
{
	for (; h->name; h++)
		if (hook_off(h))
			return -1;
	return 0;
}

/* As the engine had them: 0, -1. */
static inline int layer_on(struct hook *h)
{
	int err = 0;

	for (; h->name; h++)
		if (hook_on(h))
			err = -1;
	return err;
}

/* FILTER: seccomp, which nothing takes off a task. */
enum { TASK = 1, SOCKET = 2, BOTH = 3, FILTER = 4 };

FIXTURE(layers) {
	struct world *w;
	struct session s, host;
};

FIXTURE_VARIANT(layers) {
	int on;		/* which of them */
};

FIXTURE_VARIANT_ADD(layers, both) {
	.on = BOTH,
};

FIXTURE_VARIANT_ADD(layers, task_alone) {
	.on = TASK,
};

FIXTURE_VARIANT_ADD(layers, socket_alone) {
	.on = SOCKET,
};

/* That nothing else refuses any of it, and the rest of this can fail. */
FIXTURE_VARIANT_ADD(layers, neither) {
	.on = 0,
};

FIXTURE_SETUP(layers)
{
	struct policy p = {
		.level = "network",
		.sandbox = LOOP ",\"bind_any\":\"loopback\"",
		.more = ",\"egress\":{\"allow\":[\"192.0.2.0/26\","
			"\"[2001:db8::/112]:8000\"]}",
	};
	int given;

	ASSERT_EQ(0, device_make());
	ASSERT_EQ(0, system("sysctl -qw net.ipv4.ping_group_range='0 65535'"));
	self->w = world_make(TEST_USER);
	ASSERT_NE(NULL, self->w);
	ASSERT_EQ(0, policy_write(self->w, &p));
	/* As standard error: a socket that somebody else has made. */
	session_stderr = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	given = session_stderr;
	ASSERT_LE(0, given);
	ASSERT_EQ(0, session_start(&self->s, self->w, "s", NULL));
	close(given);
	ASSERT_EQ(0, twin_start(&self->host, self->w));
	if (!(variant->on & TASK))
		ASSERT_EQ(0, layer_off(layer_task));
	if (!(variant->on & SOCKET))
		ASSERT_EQ(0, layer_off(layer_socket));
}

FIXTURE_TEARDOWN(layers)
{
	session_end(&self->host);
	EXPECT_EQ(0, session_end(&self->s));
	EXPECT_EQ(0, layer_on(layer_task));
	EXPECT_EQ(0, layer_on(layer_socket));
	world_remove(self->w);
	device_remove();
}

/* A granted destination and another one, in the clothes of each family. */
struct to {
	const char *four, *mapped, *six;
};

static const struct to granted = {
	"192.0.2.63", "::ffff:192.0.2.63", "2001:db8::63"
}, refused = {
	"192.0.2.64", "::ffff:192.0.2.64", "2001:db8:0:0:1::1"
};

#endif
