// SPDX-License-Identifier: GPL-2.0-only
/*
 * What one layer of the network alone can see of odd ways, and what it cannot:
 * that stands here with its reason, and is seen to pass. What is the session's
 * own works with both, either and neither.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>

#include "kselftest_harness.h"
#include "layer.h"

/* Did anything leave? */
static int unless_left(long before, int err)
{
	return left() > before ? 0 : err ? err : EPERM;
}

static int listener_of_host(struct session *s, struct session *host)
{
	return dial(s, "4", "t", "127.0.0.1", server(host, "1", "4", "t",
						     "127.0.0.1", "0"));
}

static int socket_of_host(struct session *s, struct session *host)
{
	int port = server(host, "1", "6", "u", "::1", "0");
	int err = ask(s, "isock", "9", "6", "u");

	if (!err)
		err = ask(s, "isend", "9", "x", "::1", text(port));
	return err ? err : ask(host, "irecv", "1");
}

static int port_of_host(struct session *s, struct session *host)
{
	struct session *both[] = { host, s };
	const char *port = "0";
	int err = 0;

	for (int i = 0; i < 2 && !err; i++) {
		err = ask(both[i], "isock", "9", "4", "t");
		if (!err)
			err = ask(both[i], "iopt", "9", text(SOL_SOCKET),
				  text(SO_REUSEPORT), "1");
		if (!err)
			err = ask(both[i], "ibind", "9", "127.0.0.1", port);
		port = text(both[i]->reply.value);
		if (!err)
			err = ask(both[i], "ilisten", "9");
	}
	return err;
}

static int client_of_host(struct session *s, struct session *host)
{
	return dial(host, "4", "t", "127.0.0.1", server(s, "1", "4", "t",
							"127.0.0.1", "0"));
}

static int bind_any(struct session *s, struct session *host)
{
	int err = ask(s, "isock", "9", "4", "t");

	(void)host;
	if (!err)
		err = ask(s, "ibind", "9", "0.0.0.0", "7003");
	return err ? err : strcmp(s->reply.text, "0.0.0.0") ? EACCES : 0;
}

static int bind_beyond(struct session *s, struct session *host)
{
	int err = ask(s, "isock", "9", "4", "t");

	(void)host;
	return err ? err : ask(s, "ibind", "9", "192.0.2.1", "0");
}

/* A listener at any address; can the host reach it, here or from beyond? */
static int no_bind(struct session *s, struct session *host)
{
	int err = ask(s, "isock", "9", "4", "t");

	if (!err)
		err = ask(s, "ilisten", "9");
	return err ? err : dial(host, "4", "t", "192.0.2.1", s->reply.value);
}

static int options(struct session *s, struct session *host)
{
	long before = left();
	int err = ask(s, "isock", "9", "4", "t");

	(void)host;
	if (!err)
		err = ask(s, "iroute", "9", "record");
	if (!err)
		err = ask(s, "iconnect", "9", granted.four, "8000");
	return unless_left(before, err);
}

static int options_later(struct session *s, struct session *host)
{
	int err = ask(s, "isock", "9", "4", "u");
	long before = left();

	(void)host;
	if (!err)
		err = ask(s, "iconnect", "9", granted.four, "8000");
	if (!err)
		err = ask(s, "iroute", "9", "record");
	if (!err)
		err = ask(s, "isend", "9", "x");
	return unless_left(before, err);
}

static int options_along(struct session *s, struct session *host)
{
	int err = ask(s, "isock", "9", "4", "u");

	(void)host;
	return err ? err : ask(s, "isendmsg", "9", "x", "record",
			       granted.four, "8000");
}

static int ping(struct session *s, struct session *host)
{
	int err = ask(s, "isock", "9", "4", "u", "1");

	(void)host;
	return err ? err : ask(s, "iping", "9", granted.four);
}

static int device(struct session *s, struct session *host)
{
	int err = ask(s, "isock", "9", "6", "u");
	long before = left();

	(void)host;
	if (!err)
		err = ask(s, "idevice", "9", "d0");
	if (!err)
		err = ask(s, "isend", "9", "x", "::1", "8000");
	return unless_left(before, err);
}

/* Of a connection that is there already */
static int device_later(struct session *s, const char *type)
{
	int err = dial(s, "6", type, "::1", server(s, "1", "6", type, "::1",
						   "0"));
	long before = left();

	if (!err)
		err = ask(s, "idevice", "9", "d0");
	if (!err)
		err = ask(s, "isend", "9", "x");
	return unless_left(before, err);
}

static int device_tcp(struct session *s, struct session *host)
{
	(void)host;
	return device_later(s, "t");
}

static int device_udp(struct session *s, struct session *host)
{
	(void)host;
	return device_later(s, "u");
}

static int device_accepted(struct session *s, struct session *host)
{
	int err = dial(s, "6", "t", "::1", server(s, "1", "6", "t", "::1",
						  "0"));
	long before = left();

	(void)host;
	if (!err)
		err = ask(s, "iaccept", "1", "2");
	if (!err)
		err = ask(s, "idevice", "2", "d0");
	if (!err)
		err = ask(s, "isend", "2", "x");
	return unless_left(before, err);
}

static int group(struct session *s, struct session *host)
{
	int err = ask(s, "isock", "9", "4", "u");

	(void)host;
	return err ? err : ask(s, "ijoin", "9", "mreqn", "239.1.2.3", "d0");
}

static int socket_given(struct session *s, struct session *host)
{
	(void)host;
	ask(s, "iadopt", "8", "2");
	return ask(s, "isend", "8", "x", refused.four, "8000");
}

static int own(struct session *s, const char *type)
{
	int port = server(s, "1", "4", type, "127.0.0.1", "0");
	int err = dial(s, "4", type, "127.0.0.1", port);

	if (!err && *type == 't')
		err = ask(s, "iaccept", "1", "2");
	if (!err)
		err = ask(s, "isend", "9", "x");
	return err ? err : ask(s, "irecv", *type == 't' ? "2" : "1");
}

static int own_tcp(struct session *s, struct session *host)
{
	(void)host;
	return own(s, "t");
}

static int own_udp(struct session *s, struct session *host)
{
	(void)host;
	return own(s, "u");
}

#define LOOKUP "an LSM program cannot find out who listens where"

#define LATER "an LSM program is not asked about a packet"

static const struct sight {
	const char *name;
	int (*go)(struct session *s, struct session *host);
	int seen;		/* by which layer */
	const char *reason;	/* why not by the other one */
} sights[] = {
	{ "a listener of the host", listener_of_host, SOCKET, LOOKUP },
	{ "a socket of the host", socket_of_host, SOCKET, LOOKUP },
	{ "a port of the host, shared", port_of_host, BOTH, NULL },
	{ "a client of the host", client_of_host, SOCKET,
	  "a handshake comes when no task of the session runs" },
	{ "a bind to any address", bind_any, SOCKET,
	  "an LSM program cannot change an address: it lets be narrowed" },
	{ "a socket that was given", socket_given, TASK,
	  "programs of a cgroup run for the sockets that were made in it" },
	{ "a bind beyond loopback", bind_beyond, BOTH, NULL },
	{ "a listener that was not bound", no_bind, BOTH, NULL },
	{ "options in the packet", options, BOTH, NULL },
	{ "options, once connected", options_later, BOTH, NULL },
	{ "options with a message", options_along, BOTH, NULL },
	{ "an echo request", ping, FILTER, "there is no such socket" },
	{ "loopback by another device", device, BOTH, NULL },
	{ "its own, tcp", own_tcp, 0, "this is no escape" },
	{ "its own, udp", own_udp, 0, "this is no escape" },
	/* The last ones: they send again, or their reports, as they like. */
	{ "loopback by another device later, udp", device_udp, SOCKET, LATER },
	{ "loopback by another device later", device_tcp, SOCKET, LATER },
	{ "the same, accepted", device_accepted, SOCKET, LATER },
	{ "a group", group, SOCKET,
	  "an LSM program is not shown the value of an option" },
};

TEST_F(layers, what_one_alone_cannot_see_is_known)
{
	for (size_t i = 0; i < ARRAY_SIZE(sights); i++) {
		const struct sight *t = &sights[i];
		long before = left();
		int err = t->go(&self->s, &self->host);

		ask(&self->s, "iclose", "9");
		ask(&self->host, "iclose", "9");
		if (!(t->seen & (variant->on | FILTER))) {
			EXPECT_EQ(0, err) {
				TH_LOG("%s: %s", t->name, t->reason ?: "");
			}
			continue;
		}
		EXPECT_NE(0, err) {
			TH_LOG("%s", t->name);
		}
		EXPECT_EQ(before, left()) {
			TH_LOG("%s", t->name);
		}
		if (t->go == bind_any)
			continue;	/* narrowed, not refused */
		EXPECT_TRUE(denied(&self->s, NULL, NULL, NULL)) {
			TH_LOG("%s", t->name);
		}
		EXPECT_TRUE(quiet(&self->s)) {
			TH_LOG("%s", t->name);
		}
	}
}

TEST_HARNESS_MAIN
