// SPDX-License-Identifier: GPL-2.0-only
/*
 * Internet sockets from outside: inherited (as standard error, and with
 * --keep-fd), received with SCM_RIGHTS, and those of a process that was moved
 * to another cgroup. What they are they stay; what is new is judged, and so is
 * a listener that they become. NET-33.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "descriptor.h"
#include "device.h"
#include "inet.h"
#include "local.h"

enum by { INHERITED, KEPT, RECEIVED };

FIXTURE(given) {
	struct world *w;
	struct session s, host;
};

FIXTURE_VARIANT(given) {
	enum by by;
};

FIXTURE_VARIANT_ADD(given, inherited) {
	.by = INHERITED,
};

FIXTURE_VARIANT_ADD(given, kept) {
	.by = KEPT,
};

FIXTURE_VARIANT_ADD(given, received) {
	.by = RECEIVED,
};

FIXTURE_SETUP(given)
{
	char sockets[128];
	struct policy p = {
		.level = "network", .sandbox = LOOP, .sockets = sockets,
		.more = ",\"egress\":{\"allow\":[\"192.0.2.0/26\"]}",
	};

	ASSERT_EQ(0, device_make());
	self->w = world_make(TEST_USER);
	ASSERT_NE(NULL, self->w);
	snprintf(sockets, sizeof(sockets), "\"%s\"", at(self->w, "granted"));
	ASSERT_EQ(0, world_dir(self->w, at(self->w, "granted")));
	ASSERT_EQ(0, policy_write(self->w, &p));
	ASSERT_EQ(0, twin_start(&self->host, self->w));
}

FIXTURE_TEARDOWN(given)
{
	session_end(&self->host);
	world_remove(self->w);
	device_remove();
}

/* The socket @fd in a new session's slot 8: 0, or what failed. */
static int give(FIXTURE_DATA(given) *self, enum by by, int fd)
{
	static const char *const keep[] = { "--keep-fd", "3", NULL };
	static int sessions;
	char name[128], number[16] = "2";
	int err, listener, peer;
	pid_t pid;

	fcntl(fd, F_SETFL, O_NONBLOCK);
	if (by == INHERITED)
		session_stderr = fd;
	if (by == KEPT)
		session_keep = fd;
	snprintf(name, sizeof(name), "s%d", sessions++);
	err = session_start(&self->s, self->w, name, by == KEPT ? keep : NULL);
	if (err)
		return err;
	if (by == KEPT)
		return ask(&self->s, "iadopt", "8", "3");
	if (by == INHERITED)
		return ask(&self->s, "iadopt", "8", "2");
	snprintf(name, sizeof(name), "%s", at(self->w, "granted/giver"));
	unlink(name);
	listener = local_listen(name, 's');
	pid = fork();
	if (!pid) {
		struct pollfd p = { .fd = listener, .events = POLLIN };

		poll(&p, 1, 20000);
		peer = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
		_exit(descriptor_send(peer, fd));
	}
	close(listener);
	err = ask(&self->s, "ureceive", name);
	snprintf(number, sizeof(number), "%d", self->s.reply.value);
	waitpid(pid, NULL, 0);
	return err ? err : ask(&self->s, "iadopt", "8", number);
}

/* A socket of the host's, bound if there is an address. Its port: *@port */
static int make(int type, const char *address, int *port)
{
	int fd = socket(AF_INET, type | SOCK_CLOEXEC, 0), one = 1;
	struct sockaddr_in a = { .sin_family = AF_INET };
	socklen_t len = sizeof(a);

	if (!address)
		return fd;
	inet_pton(AF_INET, address, &a.sin_addr);
	a.sin_port = htons(*port);
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (bind(fd, (struct sockaddr *)&a, len) ||
	    getsockname(fd, (struct sockaddr *)&a, &len)) {
		close(fd);
		return -1;
	}
	*port = ntohs(a.sin_port);
	return fd;
}

/* listen() would open a port to all of the host. */
TEST_F(given, a_bound_socket_listens_only_at_a_published_port)
{
	static const struct {
		const char *address;
		int port, want;
		const char *reason;
	} all[] = {
		{ "127.0.0.1", 7002, 0, NULL },
		{ "127.0.0.9", 7003, 0, NULL },
		{ "127.0.0.1", 7001, EACCES, "peer" },
		{ "127.0.0.1", 0, EACCES, "peer" },
		{ "0.0.0.0", 7002, EACCES, "not_granted" },
		{ "192.0.2.1", 7002, EACCES, "not_granted" },
		{ NULL, 0, EACCES, "not_granted" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(all); i++) {
		int port = all[i].port;
		int fd = make(SOCK_STREAM, all[i].address, &port);
		struct denial d;

		ASSERT_LE(0, fd);
		ASSERT_EQ(0, give(self, variant->by, fd));
		EXPECT_EQ(all[i].want, ask(&self->s, "ilisten", "8")) {
			TH_LOG("%s %d", all[i].address, port);
		}
		if (all[i].want) {
			ASSERT_EQ(0, denial_next(&self->s, &d));
			EXPECT_STREQ("listen", d.operation);
			EXPECT_STREQ("socket_listen", d.hook);
			EXPECT_STREQ(all[i].reason, d.reason);
			EXPECT_EQ(port, d.port);
			EXPECT_EQ(ECONNREFUSED, dial(&self->host, "4", "t",
						     "127.0.0.1", port ?: 9));
			/* Whoever gave it may listen himself. */
			EXPECT_EQ(0, listen(fd, 1));
		} else {
			EXPECT_EQ(0, dial(&self->host, "4", "t",
					  all[i].address, port));
			EXPECT_EQ(0, ask(&self->s, "iaccept", "8", "7"));
			EXPECT_EQ(0, ask(&self->s, "isend", "7", "page"));
			EXPECT_EQ(0, ask(&self->host, "irecv", "9"));
			EXPECT_STREQ("page", self->host.reply.text);
			/* Who closes first keeps the port a while: he. */
			ask(&self->host, "iclose", "9");
			ask(&self->s, "iclose", "7");
		}
		EXPECT_TRUE(quiet(&self->s));
		EXPECT_EQ(0, session_end(&self->s));
		ask(&self->host, "iclose", "9");
		close(fd);
	}
}

/* As with socket activation: at any address, for it was given so. */
TEST_F(given, a_listener_goes_on_as_it_is)
{
	static const char *const places[] = { "127.0.0.1", "192.0.2.1" };

	for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
		int port = 0, fd = make(SOCK_STREAM, places[i], &port);

		ASSERT_LE(0, fd);
		ASSERT_EQ(0, listen(fd, 4));
		ASSERT_EQ(0, give(self, variant->by, fd));
		EXPECT_EQ(0, ask(&self->s, "ilisten", "8"));	/* longer */
		EXPECT_EQ(0, dial(&self->host, "4", "t", places[i], port));
		EXPECT_EQ(0, ask(&self->s, "iaccept", "8", "7"));
		EXPECT_EQ(0, ask(&self->s, "isend", "7", "page"));
		EXPECT_EQ(0, ask(&self->host, "irecv", "9"));
		/* What was accepted leads nowhere else. */
		EXPECT_EQ(0, ask(&self->s, "iconnect", "7", "unspec", "0"));
		EXPECT_EQ(EACCES, ask(&self->s, "iconnect", "7", "192.0.2.64",
				      "80"));
		EXPECT_TRUE(denied(&self->s, "connect", NULL, NULL));
		EXPECT_EQ(EACCES, ask(&self->s, "ilisten", "7"));
		EXPECT_TRUE(denied(&self->s, "listen", NULL, NULL));
		EXPECT_TRUE(quiet(&self->s));
		EXPECT_EQ(0, session_end(&self->s));
		close(fd);
	}
}

/* Bytes go both ways; undone, it is as new as any. */
TEST_F(given, a_connected_socket_goes_on_as_it_is)
{
	int port = server(&self->host, "1", "4", "t", "127.0.0.1", "0");
	struct sockaddr_in a = {
		.sin_family = AF_INET, .sin_port = htons(port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	int fd = make(SOCK_STREAM, NULL, NULL);

	ASSERT_EQ(0, connect(fd, (struct sockaddr *)&a, sizeof(a)));
	EXPECT_EQ(0, ask(&self->host, "iaccept", "1", "2"));
	/* Left open above the three, and not kept by name: it is not there. */
	if (variant->by == KEPT) {
		session_keep = fd;
		ASSERT_EQ(0, session_start(&self->s, self->w, "none", NULL));
		ASSERT_EQ(0, ask(&self->s, "iadopt", "8", "3"));
		EXPECT_EQ(EBADF, ask(&self->s, "isend", "8", "up"));
		EXPECT_EQ(EBADF, ask(&self->s, "irecv", "8", "0"));
		EXPECT_EQ(0, session_end(&self->s));
		EXPECT_EQ(ETIMEDOUT, ask(&self->host, "irecv", "2", "0"));
	}
	ASSERT_EQ(0, give(self, variant->by, fd));
	close(fd);
	EXPECT_EQ(0, ask(&self->s, "isend", "8", "up"));
	EXPECT_EQ(0, ask(&self->host, "irecv", "2"));
	EXPECT_STREQ("up", self->host.reply.text);
	EXPECT_EQ(0, ask(&self->host, "isend", "2", "down"));
	EXPECT_EQ(0, ask(&self->s, "irecv", "8"));
	EXPECT_STREQ("down", self->s.reply.text);
	EXPECT_EQ(EACCES, ask(&self->s, "iroute", "8", "record"));
	EXPECT_TRUE(denied(&self->s, "option", NULL, NULL));
	EXPECT_EQ(0, ask(&self->s, "iconnect", "8", "unspec", "0"));
	EXPECT_EQ(EACCES, ask(&self->s, "iconnect", "8", "127.0.0.1",
			      text(port)));
	EXPECT_TRUE(denied(&self->s, "connect", NULL, NULL));
	EXPECT_EQ(EACCES, ask(&self->s, "ilisten", "8"));
	EXPECT_TRUE(denied(&self->s, "listen", NULL, NULL));
	EXPECT_TRUE(quiet(&self->s));
	EXPECT_EQ(0, session_end(&self->s));
}

/* The address of nobody is loopback only for who has no other of its own. */
TEST_F(given, to_no_address_is_to_where_it_stands)
{
	static const int types[] = { SOCK_STREAM, SOCK_DGRAM };
	static const char *const bound[] = { "192.0.2.1", "127.0.0.1" };

	for (int i = 0; i < 4; i++) {
		bool tcp = i < 2, beyond = !(i & 1);
		int port = 0, fd = make(types[i / 2], bound[i & 1], &port);

		ASSERT_LE(0, fd);
		ASSERT_EQ(0, give(self, variant->by, fd));
		close(fd);
		if (!beyond) {
			EXPECT_NE(EACCES, ask(&self->s, "iconnect", "8",
					      "0.0.0.0", "7001"));
			EXPECT_EQ(0, session_end(&self->s));
			continue;
		}
		EXPECT_EQ(EACCES, ask(&self->s, "iconnect", "8", "0.0.0.0",
				      "7001"));
		EXPECT_TRUE(denied(&self->s, "connect", NULL, NULL));
		EXPECT_EQ(EACCES, ask(&self->s, "isend", "8", "x", "0.0.0.0",
				      "7001", tcp ? "0x20000000" : NULL));
		EXPECT_TRUE(denied(&self->s, "send", NULL, NULL));
		EXPECT_EQ(0, session_end(&self->s));
	}
}

/* The session's own loopback is not for what its cgroup does not see. */
TEST_F(given, what_is_not_connected_reaches_what_egress_grants)
{
	int types[] = { SOCK_STREAM, SOCK_DGRAM };

	for (int i = 0; i < 2; i++) {
		int fd = make(types[i], NULL, NULL), mine;
		bool tcp = !i;
		long before;

		ASSERT_EQ(0, give(self, variant->by, fd));
		close(fd);
		mine = server(&self->s, "1", "4", tcp ? "t" : "u",
			      "127.0.0.1", "0");
		ASSERT_LT(0, mine);
		before = left();
		EXPECT_EQ(EACCES, ask(&self->s, "iconnect", "8", "192.0.2.64",
				      "80"));
		EXPECT_TRUE(denied(&self->s, "connect", NULL, NULL));
		EXPECT_EQ(EACCES, ask(&self->s, "isend", "8", "x",
				      "192.0.2.64", "80", tcp ? "0x20000000" :
				      NULL));
		EXPECT_TRUE(denied(&self->s, "send", NULL, NULL));
		EXPECT_EQ(EACCES, ask(&self->s, "iconnect", "8", "127.0.0.1",
				      text(mine)));
		EXPECT_TRUE(denied(&self->s, "connect", NULL, NULL));
		EXPECT_EQ(EACCES, ask(&self->s, "ibind", "8", "127.0.0.1",
				      "0"));
		EXPECT_TRUE(denied(&self->s, "bind", NULL, NULL));
		/* Nobody sees in time that it shares its port. */
		EXPECT_EQ(tcp ? 0 : EACCES, ask(&self->s, "iopt", "8", "1",
						text(SO_REUSEADDR), "1"));
		EXPECT_TRUE(tcp || denied(&self->s, "option", NULL, NULL));
		EXPECT_EQ(EACCES, ask(&self->s, "isendmsg", "8", "x", "record",
				      "192.0.2.63", "80"));
		EXPECT_TRUE(denied(&self->s, "send", NULL, NULL));
		EXPECT_EQ(before, left());
		if (tcp) {
			ask(&self->s, "iconnect", "8", "192.0.2.63", "80");
		} else {
			EXPECT_EQ(0, ask(&self->s, "isend", "8", "x",
					 "192.0.2.63", "80"));
		}
		EXPECT_LT(before, left());
		EXPECT_EQ(0, dial(&self->s, "4", tcp ? "t" : "u", "127.0.0.1",
				  mine));
		EXPECT_TRUE(quiet(&self->s));
		EXPECT_EQ(0, session_end(&self->s));
	}
}

/* The kernel does not ask again for a second message to the same address. */
TEST_F(given, what_goes_along_with_a_second_message_is_judged)
{
	static const char to[] = "192.0.2.63";
	int fd = make(SOCK_DGRAM, NULL, NULL);
	long before;

	ASSERT_LE(0, fd);
	ASSERT_EQ(0, give(self, variant->by, fd));
	close(fd);
	before = left();
	EXPECT_EQ(EACCES, ask(&self->s, "isendmmsg", "8", "x", to, "80", to,
			      "80", "record"));
	EXPECT_TRUE(denied(&self->s, "send", NULL, NULL));
	EXPECT_EQ(before, left());
	/* One at a time, and where it is connected to */
	EXPECT_EQ(0, ask(&self->s, "isendmsg", "8", "x", "-", to, "80"));
	EXPECT_EQ(0, ask(&self->s, "iconnect", "8", to, "80"));
	EXPECT_EQ(0, ask(&self->s, "isendmmsg", "8", "x", "-", "0", "-", "0"));
	EXPECT_EQ(2, self->s.reply.value);
	EXPECT_EQ(EACCES, ask(&self->s, "isendmmsg", "8", "x", "-", "0", "-",
			      "0", "record") ?:
		  self->s.reply.value == 1 ? EACCES : 0);
	EXPECT_TRUE(denied(&self->s, "send", NULL, NULL));
	/* Its own may, and what goes along is judged as it leaves. */
	ASSERT_EQ(0, ask(&self->s, "isock", "1", "4", "u"));
	EXPECT_EQ(0, ask(&self->s, "isendmmsg", "1", "x", to, "80", to, "80"));
	EXPECT_EQ(2, self->s.reply.value);
	EXPECT_EQ(0, ask(&self->s, "isendmmsg", "1", "x", to, "80", to, "80",
			 "record"));
	EXPECT_EQ(1, self->s.reply.value);
	EXPECT_TRUE(denied(&self->s, NULL, NULL, NULL));
	ASSERT_EQ(0, ask(&self->host, "isock", "1", "4", "u"));
	EXPECT_EQ(0, ask(&self->host, "isendmmsg", "1", "x", to, "80", to,
			 "80", "record"));
	EXPECT_EQ(2, self->host.reply.value);
	EXPECT_TRUE(quiet(&self->s));
	EXPECT_EQ(0, session_end(&self->s));
}

/* What it was granted on loopback would leave by that device, unseen. */
TEST_F(given, no_device_is_chosen_for_what_was_given)
{
	ASSERT_EQ(7001, server(&self->host, "1", "6", "t", "::1", "7001"));
	ASSERT_EQ(7001, server(&self->host, "2", "6", "u", "::1", "7001"));
	for (int i = 0; i < 2; i++) {
		int fd = socket(AF_INET6, (i ? SOCK_DGRAM : SOCK_STREAM) |
				SOCK_CLOEXEC, 0);
		const char *type = i ? "u" : "t";
		long before = left();

		ASSERT_LE(0, fd);
		ASSERT_EQ(0, give(self, variant->by, fd));
		close(fd);
		EXPECT_EQ(0, ask(&self->s, "iconnect", "8", "::1", "7001"));
		EXPECT_EQ(EACCES, ask(&self->s, "idevice", "8", "d0"));
		EXPECT_TRUE(denied(&self->s, "option", NULL, NULL));
		EXPECT_EQ(EACCES, ask(&self->s, "iopt", "8", text(SOL_SOCKET),
				      text(SO_BINDTOIFINDEX), "2"));
		EXPECT_TRUE(denied(&self->s, "option", NULL, NULL));
		EXPECT_EQ(0, ask(&self->s, "isend", "8", "x"));
		if (!i)
			EXPECT_EQ(0, ask(&self->host, "iaccept", "1", "3"));
		EXPECT_EQ(0, ask(&self->host, "irecv", i ? "2" : "3"));
		EXPECT_EQ(before, left());
		/* Its own may, and so may the host. */
		ASSERT_EQ(0, ask(&self->s, "isock", "1", "6", type));
		EXPECT_EQ(0, ask(&self->s, "idevice", "1", "d0"));
		ASSERT_EQ(0, ask(&self->host, "isock", "4", "6", type));
		EXPECT_EQ(0, ask(&self->host, "idevice", "4", "d0"));
		EXPECT_TRUE(quiet(&self->s));
		EXPECT_EQ(0, session_end(&self->s));
	}
}

static int move(pid_t pid)
{
	FILE *f = fopen("/sys/fs/cgroup/cgroup.procs", "we");
	int err = !f || fprintf(f, "%d", pid) < 0;

	return (f && fclose(f)) || err ? -1 : 0;
}

INET(moved, LOOP);

/* By root, from outside: the task's label goes along, and so do its sockets. */
TEST_F(moved, a_process_in_another_cgroup_is_confined_as_before)
{
	int mine = server(&self->s, "1", "4", "t", "127.0.0.1", "0");
	int theirs = server(&self->host, "1", "4", "t", "127.0.0.1", "0");

	ASSERT_EQ(7001, server(&self->host, "2", "4", "t", "127.0.0.1",
			       "7001"));
	ASSERT_EQ(0, ask(&self->s, "isock", "3", "4", "t"));
	ASSERT_EQ(0, ask(&self->s, "isock", "4", "4", "t"));
	ASSERT_EQ(0, move(self->s.probe));
	/* made before */
	EXPECT_EQ(0, ask(&self->s, "iconnect", "3", "127.0.0.1", text(mine)));
	EXPECT_EQ(0, ask(&self->s, "iaccept", "1", "5"));
	EXPECT_EQ(EACCES, ask(&self->s, "iconnect", "4", "127.0.0.1",
			      text(theirs)));
	EXPECT_TRUE(denied(&self->s, "connect", NULL, NULL));
	EXPECT_EQ(ETIMEDOUT, dial(&self->host, "4", "t", "127.0.0.1", mine));
	EXPECT_TRUE(denied(&self->s, "accept", NULL, NULL));
	/* and after: no program of the cgroup sees these */
	EXPECT_EQ(EACCES, dial(&self->s, "4", "t", "127.0.0.1", theirs));
	EXPECT_TRUE(denied(&self->s, "connect", NULL, NULL));
	EXPECT_EQ(EACCES, dial(&self->s, "4", "t", "127.0.0.1", mine));
	EXPECT_TRUE(denied(&self->s, "connect", NULL, NULL));
	EXPECT_EQ(-EACCES, server(&self->s, "6", "4", "t", "127.0.0.1", "0"));
	EXPECT_TRUE(denied(&self->s, "bind", NULL, NULL));
	ASSERT_EQ(0, ask(&self->s, "isock", "6", "4", "t"));
	EXPECT_EQ(EACCES, ask(&self->s, "ilisten", "6"));
	EXPECT_TRUE(denied(&self->s, "listen", NULL, NULL));
	EXPECT_EQ(EACCES, dial(&self->s, "4", "u", "192.0.2.64", 80));
	EXPECT_TRUE(denied(&self->s, "connect", NULL, NULL));
	EXPECT_EQ(0, dial(&self->s, "4", "t", "127.0.0.1", 7001));
	EXPECT_TRUE(quiet(&self->s));
}

TEST_HARNESS_MAIN
