/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The network's two layers, and how a test goes on with one of them: root takes
 * the other's programs off their hooks, in the very engine that ships, so that
 * nothing in it needs a switch; and puts them back. Include after the harness.
 */
#ifndef LH_LAYER_H
#define LH_LAYER_H

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "device.h"
#include "inet.h"

#define LAYER_PARENT "/sys/fs/cgroup/lh"	/* above each session's */

struct layer {
	const char *name;	/* of the program */
	int attach;		/* enum bpf_attach_type */
	int prog;		/* while it is off; 0: it is on */
	char pin[256];		/* of its link */
};

/* What the calling task's label decides. */
static struct layer layer_task[] = {
	{ .name = "inet_socket_bind", .attach = BPF_LSM_MAC },
	{ .name = "inet_socket_connect", .attach = BPF_LSM_MAC },
	{ .name = "inet_socket_sendmsg", .attach = BPF_LSM_MAC },
	{ .name = "inet_socket_listen", .attach = BPF_LSM_MAC },
	{ .name = "inet_socket_setsockopt", .attach = BPF_LSM_MAC },
	{ .name = NULL }
};

/* What the socket's cgroup decides. */
static struct layer layer_socket[] = {
	{ .name = "inet_bind4", .attach = BPF_CGROUP_INET4_BIND },
	{ .name = "inet_bind6", .attach = BPF_CGROUP_INET6_BIND },
	{ .name = "inet_connect4", .attach = BPF_CGROUP_INET4_CONNECT },
	{ .name = "inet_connect6", .attach = BPF_CGROUP_INET6_CONNECT },
	{ .name = "inet_setsockopt", .attach = BPF_CGROUP_SETSOCKOPT },
	{ .name = "inet_egress", .attach = BPF_CGROUP_INET_EGRESS },
	{ .name = "inet_ingress", .attach = BPF_CGROUP_INET_INGRESS },
	{ .name = NULL }
};

/* Its link, from where the engine has pinned it. */
static inline int layer_link(struct layer *l)
{
	struct bpf_link_info info = {};
	__u32 len = sizeof(info);
	char pattern[128];
	glob_t g = { 0 };
	int fd = -1;

	snprintf(pattern, sizeof(pattern), "/sys/fs/bpf/lh/*/link_%s",
		 l->name);
	if (!glob(pattern, 0, NULL, &g) && g.gl_pathc == 1) {
		snprintf(l->pin, sizeof(l->pin), "%s", g.gl_pathv[0]);
		fd = bpf_obj_get(l->pin);
	}
	globfree(&g);
	if (fd < 0 || bpf_obj_get_info_by_fd(fd, &info, &len))
		return -1;
	l->prog = bpf_prog_get_fd_by_id(info.prog_id);
	return fd;
}

static inline int layer_attach(struct layer *l)
{
	int cgroup, fd;

	if (l->attach == BPF_LSM_MAC)
		return bpf_raw_tracepoint_open(NULL, l->prog);
	cgroup = open(LAYER_PARENT, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	fd = bpf_link_create(l->prog, cgroup, l->attach, NULL);
	close(cgroup);
	return fd;
}

/* Off their hooks when this returns: 0, -1. */
static inline int layer_off(struct layer *l)
{
	for (; l->name; l++) {
		int link = layer_link(l);

		if (link < 0 || l->prog < 0 || unlink(l->pin))
			return -1;
		if (l->attach != BPF_LSM_MAC) {
			if (bpf_link_detach(link))
				return -1;
			close(link);
			continue;
		}
		/*
		 * The pin's share in a link goes in the kernel's own time.
		 * Once the program can be attached again it has gone; that link
		 * is ours alone, and ends with its descriptor.
		 */
		close(link);
		for (int i = 0; i < 6000; i++) {
			link = layer_attach(l);
			if (link >= 0 || errno != EBUSY)
				break;
			usleep(10000);
		}
		if (link < 0)
			return -1;
		close(link);
	}
	return 0;
}

/* As the engine had them: 0, -1. */
static inline int layer_on(struct layer *l)
{
	int err = 0;

	for (; l->name; l++) {
		int link = l->prog ? layer_attach(l) : -1;

		if (!l->prog)
			continue;
		if (link < 0 || bpf_obj_pin(link, l->pin))
			err = -1;
		close(link);
		close(l->prog);
		l->prog = 0;
	}
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
