// SPDX-License-Identifier: GPL-2.0-only
/*
 * Loopback that is the session's own: two sessions and the host, each with
 * clients and listeners. NET-02 to NET-09, NET-12, NET-22, NET-24, NET-27, NET-28, NET-29, NET-38, NET-39, NET-42.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "kselftest_harness.h"
#include "session.h"

#define LOOP ",\"allow_loopback\":true,\"loopback_ports\":[7001]," \
	"\"publish_ports\":[7002,7003]"

FIXTURE(inet) {
	struct world *w;
	struct session s, other, host;
};

FIXTURE_SETUP(inet)
{
	struct policy p = { .sandbox = LOOP };

	ASSERT_EQ(0, system("ip link set lo up"));
	self->w = world_make(TEST_USER);
	ASSERT_NE(NULL, self->w);
	ASSERT_EQ(0, policy_write(self->w, &p));
	ASSERT_EQ(0, session_start(&self->s, self->w, "s", NULL));
	ASSERT_EQ(0, session_start(&self->other, self->w, "other", NULL));
	ASSERT_EQ(0, twin_start(&self->host, self->w));
}

FIXTURE_TEARDOWN(inet)
{
	session_end(&self->host);
	EXPECT_EQ(0, session_end(&self->s));
	EXPECT_EQ(0, session_end(&self->other));
	world_remove(self->w);
}

static const char *text(int n)
{
	static char buf[8][16];
	static int turn;

	snprintf(buf[++turn % 8], sizeof(buf[0]), "%d", n);
	return buf[turn % 8];
}

/* A socket in slot @n at @addr; its port, or the negative errno. */
static int server(struct session *s, const char *n, const char *family,
		  const char *type, const char *addr, const char *port)
{
	int err = ask(s, "isock", n, family, type), got;

	if (!err)
		err = ask(s, "ibind", n, addr, port);
	got = s->reply.value;
	if (!err && *type == 't')
		err = ask(s, "ilisten", n);
	return err ? -err : got;
}

static int dial(struct session *s, const char *family, const char *type,
		const char *addr, int port)
{
	int err = ask(s, "isock", "9", family, type);

	return err ? err : ask(s, "iconnect", "9", addr, text(port));
}

static const struct form {
	const char *family, *bind, *to, *connect;
} forms[] = {
	{ "4", "127.0.0.1", "4", "127.0.0.1" },
	{ "4", "127.0.0.1", "4", "0.0.0.0" },
	{ "4", "127.8.9.10", "4", "127.8.9.10" },
	{ "6", "::1", "6", "::1" },
	{ "6", "::1", "6", "::" },
	{ "4", "127.0.0.1", "6", "::ffff:127.0.0.1" },
	{ "6", "::ffff:127.0.0.1", "4", "127.0.0.1" },
	{ "6", "::ffff:127.0.0.1", "6", "::ffff:127.0.0.1" },
};

TEST_F(inet, tcp_reaches_a_listener_of_its_own_in_every_form)
{
	for (size_t i = 0; i < ARRAY_SIZE(forms); i++) {
		const struct form *f = &forms[i];
		int port = server(&self->s, "1", f->family, "t", f->bind, "0");

		ASSERT_LT(0, port) {
			TH_LOG("%s: %d", f->bind, port);
		}
		EXPECT_EQ(0, dial(&self->s, f->to, "t", f->connect, port)) {
			TH_LOG("%s: %d", f->connect, self->s.reply.err);
		}
		EXPECT_EQ(0, ask(&self->s, "iaccept", "1", "2"));
		EXPECT_EQ(0, ask(&self->s, "isend", "2", "hello"));
		EXPECT_EQ(0, ask(&self->s, "irecv", "9"));
		EXPECT_STREQ("hello", self->s.reply.text);
	}
	EXPECT_TRUE(quiet(&self->s));
}

TEST_F(inet, udp_reaches_a_socket_of_its_own_in_every_form)
{
	for (size_t i = 0; i < ARRAY_SIZE(forms); i++) {
		const struct form *f = &forms[i];
		int port = server(&self->s, "1", f->family, "u", f->bind, "0");
		int back;

		ASSERT_LT(0, port);
		ASSERT_EQ(0, ask(&self->s, "isock", "2", f->to, "u"));
		EXPECT_EQ(0, ask(&self->s, "isend", "2", "ping", f->connect,
				 text(port))) {
			TH_LOG("%s: %d", f->connect, self->s.reply.err);
		}
		EXPECT_EQ(0, ask(&self->s, "irecv", "1"));
		EXPECT_STREQ("ping", self->s.reply.text);
		back = self->s.reply.value;
		EXPECT_EQ(0, ask(&self->s, "isend", "1", "pong", f->bind,
				 text(back)));
		EXPECT_EQ(0, ask(&self->s, "irecv", "2"));
		EXPECT_STREQ("pong", self->s.reply.text);
		EXPECT_EQ(0, dial(&self->s, f->to, "u", f->connect, port));
		EXPECT_EQ(0, ask(&self->s, "isend", "9", "again"));
		EXPECT_EQ(0, ask(&self->s, "irecv", "1"));
	}
	EXPECT_TRUE(quiet(&self->s));
}

/* A sender that is gone when its datagram is looked at. */
TEST_F(inet, a_datagram_outlives_its_socket)
{
	int port = server(&self->s, "1", "4", "u", "127.0.0.1", "0");

	for (int i = 0; i < 20; i++) {
		ASSERT_EQ(0, ask(&self->s, "isock", "2", "4", "u"));
		EXPECT_EQ(0, ask(&self->s, "isend", "2", "x", "127.0.0.1",
				 text(port)));
		EXPECT_EQ(0, ask(&self->s, "iclose", "2"));
		EXPECT_EQ(0, ask(&self->s, "irecv", "1"));
	}
}

TEST_F(inet, a_listener_of_the_host_is_not_reached)
{
	for (size_t i = 0; i < ARRAY_SIZE(forms); i++) {
		const struct form *f = &forms[i];
		int port = server(&self->host, "1", f->family, "t", f->bind,
				  "0");
		struct denial d;

		ASSERT_LT(0, port);
		EXPECT_EQ(0, dial(&self->host, f->to, "t", f->connect, port));
		EXPECT_EQ(EACCES, dial(&self->s, f->to, "t", f->connect,
				       port)) {
			TH_LOG("%s: %d", f->connect, self->s.reply.err);
		}
		ASSERT_EQ(0, denial_next(&self->s, &d));
		EXPECT_STREQ("connect", d.operation);
		EXPECT_STREQ("egress", d.mechanism);
		EXPECT_STREQ("peer", d.reason);
		EXPECT_EQ(port, d.port);
		EXPECT_EQ(self->s.probe, d.pid);
		EXPECT_EQ(1, d.count);
	}
	EXPECT_TRUE(quiet(&self->s));
}

TEST_F(inet, a_listener_of_the_host_at_any_address_is_not_reached)
{
	int four = server(&self->host, "1", "4", "t", "0.0.0.0", "0");
	int six = server(&self->host, "2", "6", "t", "::", "0");

	ASSERT_LT(0, four);
	ASSERT_LT(0, six);
	EXPECT_EQ(EACCES, dial(&self->s, "4", "t", "127.0.0.1", four));
	EXPECT_EQ(EACCES, dial(&self->s, "4", "t", "127.0.0.1", six));
	EXPECT_EQ(EACCES, dial(&self->s, "6", "t", "::1", six));
	EXPECT_EQ(EACCES, dial(&self->s, "6", "t", "::ffff:127.0.0.1", six));
}

TEST_F(inet, a_socket_of_the_host_gets_no_datagram)
{
	for (size_t i = 0; i < ARRAY_SIZE(forms); i++) {
		const struct form *f = &forms[i];
		int port = server(&self->host, "1", f->family, "u", f->bind,
				  "0");
		const char *to = text(port);

		ASSERT_LT(0, port);
		ASSERT_EQ(0, ask(&self->s, "isock", "2", f->to, "u"));
		EXPECT_EQ(EACCES, ask(&self->s, "isend", "2", "x", f->connect,
				      to));
		EXPECT_TRUE(denied(&self->s, "send", NULL, NULL));
		EXPECT_EQ(EACCES, dial(&self->s, f->to, "u", f->connect,
				       port));
		EXPECT_TRUE(denied(&self->s, "connect", NULL, NULL));
		EXPECT_EQ(ETIMEDOUT, ask(&self->host, "irecv", "1", "50"));
		ASSERT_EQ(0, ask(&self->host, "isock", "2", f->to, "u"));
		EXPECT_EQ(0, ask(&self->host, "isend", "2", "x", f->connect,
				 to));
		EXPECT_EQ(0, ask(&self->host, "irecv", "1"));
	}
	EXPECT_TRUE(quiet(&self->s));
}

/* NET-03, NET-04: the second destination is another's. */
TEST_F(inet, a_second_destination_is_judged_too)
{
	int mine = server(&self->s, "1", "4", "u", "127.0.0.1", "0");
	int theirs = server(&self->host, "1", "4", "u", "127.0.0.1", "0");

	ASSERT_LT(0, mine);
	ASSERT_EQ(0, dial(&self->s, "4", "u", "127.0.0.1", mine));
	EXPECT_EQ(EACCES, ask(&self->s, "isend", "9", "x", "127.0.0.1",
			      text(theirs)));
	EXPECT_EQ(0, ask(&self->s, "isend", "9", "x", "127.0.0.1",
			 text(mine)));
	EXPECT_EQ(0, ask(&self->s, "irecv", "1"));
	EXPECT_EQ(0, ask(&self->s, "isendmmsg", "9", "m", "127.0.0.1",
			 text(mine), "127.0.0.1", text(theirs)));
	EXPECT_EQ(1, self->s.reply.value);
	EXPECT_EQ(ETIMEDOUT, ask(&self->host, "irecv", "1", "50"));
}

TEST_F(inet, another_session_is_not_reached)
{
	int tcp = server(&self->other, "1", "4", "t", "127.0.0.1", "0");
	int udp = server(&self->other, "2", "4", "u", "127.0.0.1", "0");

	ASSERT_LT(0, tcp);
	EXPECT_EQ(EACCES, dial(&self->s, "4", "t", "127.0.0.1", tcp));
	EXPECT_EQ(EACCES, dial(&self->s, "4", "u", "127.0.0.1", udp));
	EXPECT_EQ(0, dial(&self->other, "4", "t", "127.0.0.1", tcp));
	EXPECT_EQ(0, dial(&self->other, "4", "u", "127.0.0.1", udp));
	EXPECT_TRUE(quiet(&self->other));
}

/* It sees nothing come: no reset tells that somebody is there. */
TEST_F(inet, the_host_does_not_reach_a_listener_of_a_session)
{
	for (size_t i = 0; i < ARRAY_SIZE(forms); i += 3) {
		const struct form *f = &forms[i];
		int port = server(&self->s, "1", f->family, "t", f->bind, "0");
		struct denial d;

		ASSERT_LT(0, port);
		EXPECT_EQ(ETIMEDOUT, dial(&self->host, f->to, "t", f->connect,
					  port));
		ASSERT_EQ(0, denial_next(&self->s, &d));
		EXPECT_STREQ("accept", d.operation);
		EXPECT_STREQ("egress", d.mechanism);
		EXPECT_EQ(0, dial(&self->s, f->to, "t", f->connect, port));
		/* The SYN that comes again makes no other record. */
		EXPECT_TRUE(quiet(&self->s));
	}
}

TEST_F(inet, the_host_sends_no_datagram_to_a_session)
{
	int port = server(&self->s, "1", "4", "u", "127.0.0.1", "0");

	ASSERT_LT(0, port);
	ASSERT_EQ(0, ask(&self->host, "isock", "1", "4", "u"));
	EXPECT_EQ(0, ask(&self->host, "isend", "1", "x", "127.0.0.1",
			 text(port)));
	EXPECT_EQ(ETIMEDOUT, ask(&self->s, "irecv", "1", "50"));
	EXPECT_TRUE(denied(&self->s, "accept", NULL, NULL));
}

TEST_F(inet, a_published_port_is_reached_by_the_host)
{
	int tcp = server(&self->s, "1", "4", "t", "127.0.0.1", "7002");
	int udp = server(&self->s, "2", "6", "u", "::1", "7003");
	int from;

	ASSERT_EQ(7002, tcp);
	ASSERT_EQ(7003, udp);
	EXPECT_EQ(0, dial(&self->host, "4", "t", "127.0.0.1", tcp));
	EXPECT_EQ(0, ask(&self->s, "iaccept", "1", "3"));
	EXPECT_EQ(0, ask(&self->s, "isend", "3", "page"));
	EXPECT_EQ(0, ask(&self->host, "irecv", "9"));
	EXPECT_STREQ("page", self->host.reply.text);

	from = server(&self->host, "1", "6", "u", "::1", "0");
	EXPECT_EQ(EACCES, ask(&self->s, "isend", "2", "x", "::1",
			      text(from)));
	EXPECT_EQ(0, ask(&self->host, "isend", "1", "q", "::1", text(udp)));
	EXPECT_EQ(0, ask(&self->s, "irecv", "2"));
	EXPECT_EQ(from, self->s.reply.value);
	EXPECT_EQ(0, ask(&self->s, "isend", "2", "answer", "::1",
			 text(from)));
	EXPECT_EQ(0, ask(&self->host, "irecv", "1"));
	EXPECT_STREQ("answer", self->host.reply.text);
}

TEST_F(inet, a_host_port_that_the_policy_names_is_reached)
{
	ASSERT_EQ(7001, server(&self->host, "1", "4", "t", "127.0.0.1",
			       "7001"));
	ASSERT_EQ(7001, server(&self->host, "2", "4", "u", "127.0.0.1",
			       "7001"));
	EXPECT_EQ(0, dial(&self->s, "4", "t", "127.0.0.1", 7001));
	EXPECT_EQ(0, ask(&self->host, "iaccept", "1", "3"));
	EXPECT_EQ(0, dial(&self->s, "4", "u", "127.0.0.1", 7001));
	EXPECT_EQ(0, ask(&self->s, "isend", "9", "q"));
	EXPECT_EQ(0, ask(&self->host, "irecv", "2"));
	EXPECT_EQ(0, ask(&self->host, "isend", "2", "answer", "127.0.0.1",
			 text(self->host.reply.value)));
	EXPECT_EQ(0, ask(&self->s, "irecv", "9"));
	EXPECT_STREQ("answer", self->s.reply.text);
	EXPECT_TRUE(quiet(&self->s));
}

/* NET-28 */
TEST_F(inet, an_end_at_any_address_is_refused)
{
	static const char *const addresses[] = {
		"0.0.0.0", "::", "::ffff:0.0.0.0", "192.0.2.1", "2001:db8::1",
		"224.0.0.1", "::127.0.0.1", "::ffff:192.0.2.1",
	};

	for (size_t i = 0; i < ARRAY_SIZE(addresses); i++) {
		const char *family = strchr(addresses[i], ':') ? "6" : "4";

		EXPECT_EQ(-EACCES, server(&self->s, "1", family, "t",
					  addresses[i], "0"));
		EXPECT_TRUE(denied(&self->s, "bind", NULL, NULL));
		EXPECT_EQ(-EACCES, server(&self->s, "1", family, "u",
					  addresses[i], "0"));
		EXPECT_TRUE(denied(&self->s, "bind", NULL, NULL));
	}
	EXPECT_LT(0, server(&self->host, "1", "4", "t", "0.0.0.0", "0"));
	/* listen() alone would choose any address. */
	ASSERT_EQ(0, ask(&self->s, "isock", "1", "4", "t"));
	EXPECT_EQ(EACCES, ask(&self->s, "ilisten", "1"));
	EXPECT_TRUE(denied(&self->s, "listen", NULL, NULL));
	ASSERT_EQ(0, ask(&self->s, "isock", "1", "6", "t"));
	EXPECT_EQ(EACCES, ask(&self->s, "ilisten", "1"));
}

/* NET-29: a port that connect() chose is at any address once it is undone. */
TEST_F(inet, an_end_that_was_connected_is_no_listener)
{
	int port = server(&self->s, "1", "4", "t", "127.0.0.1", "0");
	int theirs = server(&self->host, "1", "4", "t", "127.0.0.1", "0");

	ASSERT_EQ(0, dial(&self->s, "4", "t", "127.0.0.1", port));
	EXPECT_EQ(0, ask(&self->s, "iconnect", "9", "unspec", "0"));
	EXPECT_EQ(EACCES, ask(&self->s, "iconnect", "9", "127.0.0.1",
			      text(theirs)));
	EXPECT_EQ(EACCES, ask(&self->s, "ilisten", "9"));
}

/* NET-42 */
TEST_F(inet, a_port_of_the_host_is_not_shared)
{
	for (int i = 0; i < 4; i++) {
		const char *type = i & 1 ? "u" : "t";
		const char *family = i & 2 ? "6" : "4";
		const char *addr = i & 2 ? "::1" : "127.0.0.1";
		int port;

		ASSERT_EQ(0, ask(&self->host, "isock", "1", family, type));
		ASSERT_EQ(0, ask(&self->host, "iopt", "1", text(SOL_SOCKET),
				 text(SO_REUSEPORT), "1"));
		ASSERT_EQ(0, ask(&self->host, "ibind", "1", addr, "0"));
		port = self->host.reply.value;
		if (*type == 't')
			ASSERT_EQ(0, ask(&self->host, "ilisten", "1"));
		ASSERT_EQ(0, ask(&self->s, "isock", "1", family, type));
		ASSERT_EQ(0, ask(&self->s, "iopt", "1", text(SOL_SOCKET),
				 text(SO_REUSEPORT), "1"));
		EXPECT_EQ(EADDRINUSE, ask(&self->s, "ibind", "1", addr,
					  text(port)));
		EXPECT_TRUE(denied(&self->s, "bind", NULL, NULL));
		/* The same, where its own already shares it: that works. */
		ASSERT_EQ(0, ask(&self->s, "ibind", "1", addr, "0"));
		port = self->s.reply.value;
		if (*type == 't')
			ASSERT_EQ(0, ask(&self->s, "ilisten", "1"));
		ASSERT_EQ(0, ask(&self->s, "isock", "2", family, type));
		ASSERT_EQ(0, ask(&self->s, "iopt", "2", text(SOL_SOCKET),
				 text(SO_REUSEPORT), "1"));
		EXPECT_EQ(0, ask(&self->s, "ibind", "2", addr, text(port)));
	}
}

/* NET-05, NET-06: a handshake without connect(), and of several paths. */
TEST_F(inet, a_handshake_that_begins_with_data_is_judged)
{
	int mine = server(&self->s, "1", "4", "t", "127.0.0.1", "0");
	int theirs = server(&self->host, "1", "4", "t", "127.0.0.1", "0");
	const char *fast = "0x20000000";

	ASSERT_LT(0, mine);
	ASSERT_EQ(0, ask(&self->s, "isock", "3", "4", "t"));
	EXPECT_EQ(EACCES, ask(&self->s, "isend", "3", "x", "127.0.0.1",
			      text(theirs), fast));
	EXPECT_TRUE(denied(&self->s, NULL, NULL, NULL));
	EXPECT_EQ(ETIMEDOUT, ask(&self->host, "iaccept", "1", "2"));
	ASSERT_EQ(0, ask(&self->s, "isock", "3", "4", "t"));
	EXPECT_EQ(EINPROGRESS, ask(&self->s, "isend", "3", "x", "127.0.0.1",
				   text(mine), fast));
	EXPECT_EQ(0, ask(&self->s, "iaccept", "1", "2"));
	ASSERT_EQ(0, ask(&self->s, "isock", "3", "4", "t"));
	ASSERT_EQ(0, ask(&self->s, "iopt", "3", text(IPPROTO_TCP),
			 text(TCP_FASTOPEN_CONNECT), "1"));
	EXPECT_EQ(EACCES, ask(&self->s, "iconnect", "3", "127.0.0.1",
			      text(theirs)));
	EXPECT_EQ(EACCES, ask(&self->s, "iconnect", "3", "192.0.2.1", "80"));
	if (ask(&self->host, "isock", "3", "4", "t", "262"))
		return;		/* this kernel has no multipath TCP */
	ASSERT_EQ(0, ask(&self->s, "isock", "3", "4", "t", "262"));
	EXPECT_EQ(EACCES, ask(&self->s, "iconnect", "3", "127.0.0.1",
			      text(theirs)));
	ASSERT_EQ(0, ask(&self->s, "isock", "3", "4", "t", "262"));
	EXPECT_EQ(0, ask(&self->s, "iconnect", "3", "127.0.0.1", text(mine)));
	ASSERT_EQ(0, ask(&self->s, "isock", "4", "4", "t", "262"));
	ASSERT_EQ(0, ask(&self->s, "ibind", "4", "127.0.0.1", "0"));
	mine = self->s.reply.value;
	EXPECT_EQ(0, ask(&self->s, "ilisten", "4"));
	EXPECT_EQ(0, dial(&self->s, "4", "t", "127.0.0.1", mine));
	EXPECT_EQ(ETIMEDOUT, dial(&self->host, "4", "t", "127.0.0.1", mine));
}

/* NET-02, NET-24, NET-27, NET-38, NET-41: elsewhere, in any clothes */
TEST_F(inet, what_is_not_loopback_is_refused)
{
	static const char *const addresses[] = {
		"192.0.2.1", "::ffff:192.0.2.1", "2001:db8::1", "224.0.0.1",
		"255.255.255.255", "::192.0.2.1", "::127.0.0.1", "fe80::1",
		"ff02::1", "64:ff9b::7f00:1", "10.0.0.1", "169.254.169.254",
		"2002:7f00:1::1",
	};

	for (size_t i = 0; i < ARRAY_SIZE(addresses); i++) {
		const char *family = strchr(addresses[i], ':') ? "6" : "4";
		struct denial d;

		EXPECT_EQ(EACCES, dial(&self->s, family, "t", addresses[i],
				       80));
		ASSERT_EQ(0, denial_next(&self->s, &d));
		EXPECT_STREQ("connect", d.operation);
		EXPECT_STREQ("egress", d.mechanism);
		EXPECT_EQ(80, d.port);
		if (strncmp(addresses[i], "::ffff:", 7))
			EXPECT_STREQ(addresses[i], d.address);
		EXPECT_EQ(EACCES, dial(&self->s, family, "u", addresses[i],
				       53));
		EXPECT_TRUE(denied(&self->s, "connect", NULL, NULL));
		EXPECT_EQ(EACCES, ask(&self->s, "isend", "9", "x",
				      addresses[i], "53"));
		EXPECT_TRUE(denied(&self->s, "send", NULL, NULL));
	}
	/* An IPv4 sockaddr on an IPv6 socket */
	ASSERT_EQ(0, ask(&self->s, "isock", "1", "6", "u"));
	EXPECT_EQ(EACCES, ask(&self->s, "isend", "1", "x", "192.0.2.1", "53"));
	EXPECT_EQ(EACCES, ask(&self->s, "iconnect", "1", "192.0.2.1", "53"));
}

/* The way through 192.0.2.1 is not the way to loopback. */
TEST_F(inet, options_send_nothing_elsewhere_first)
{
	int port = server(&self->s, "1", "4", "t", "127.0.0.1", "0");

	ASSERT_EQ(0, ask(&self->s, "isock", "2", "4", "t"));
	if (ask(&self->s, "iroute", "2"))
		return;		/* this kernel takes none */
	EXPECT_EQ(EACCES, ask(&self->s, "iconnect", "2", "127.0.0.1",
			      text(port)));
}

/* NET-39 */
TEST_F(inet, a_sockaddr_of_a_wrong_length_is_no_way)
{
	int port = server(&self->host, "1", "4", "t", "127.0.0.1", "0");
	char hex[64];

	snprintf(hex, sizeof(hex), "0200%04x7f000001", port);
	for (int len = 0; len <= 15; len++) {
		ASSERT_EQ(0, ask(&self->s, "isock", "1", "4", "t"));
		EXPECT_NE(0, ask(&self->s, "irawconnect", "1", hex,
				 text(len)));
	}
	ASSERT_EQ(0, ask(&self->s, "isock", "1", "4", "t"));
	EXPECT_EQ(EINVAL, ask(&self->s, "irawconnect", "1", hex, "15"));
	EXPECT_EQ(EACCES, ask(&self->s, "irawconnect", "1", hex, "16"));
	EXPECT_EQ(EACCES, ask(&self->s, "irawconnect", "1", hex, "128"));
	EXPECT_EQ(EINVAL, ask(&self->s, "irawconnect", "1", hex, "-1"));
}

/* NET-07, NET-08, NET-09, NET-12 */
TEST_F(inet, other_protocols_and_families_are_refused)
{
	static const char *const refused[][3] = {
		{ "2", "1", "132" }, { "2", "2", "136" }, { "2", "2", "1" },
		{ "10", "2", "58" }, { "2", "3", "1" }, { "2", "3", "255" },
		{ "2", "6", "33" }, { "17", "3", "768" }, { "16", "3", "12" },
		{ "16", "3", "4" }, { "16", "3", "9" }, { "40", "1", "0" },
		{ "38", "5", "0" }, { "44", "3", "0" }, { "2", "5", "132" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(refused); i++) {
		int err = ask(&self->s, "socket", refused[i][0],
			      refused[i][1], refused[i][2]);

		EXPECT_TRUE(err == EPERM || err == EAFNOSUPPORT) {
			TH_LOG("%s %s %s: %d", refused[i][0], refused[i][1],
			       refused[i][2], err);
		}
	}
	EXPECT_EQ(0, ask(&self->s, "interfaces"));
	EXPECT_LT(16, self->s.reply.value);
}

TEST_HARNESS_MAIN
