// SPDX-License-Identifier: GPL-2.0-only
/*
 * Loopback that is the session's own: who reaches whom. NET-02 to NET-04,
 * NET-22, NET-24, NET-27.
 */
#define _GNU_SOURCE
#include <errno.h>

#include "kselftest_harness.h"
#include "inet.h"

INET(inet, LOOP);

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
	struct denial d;

	for (size_t i = 0; i < ARRAY_SIZE(forms); i++) {
		const struct form *f = &forms[i];
		int port = server(&self->host, "1", f->family, "u", f->bind,
				  "0");
		const char *to = text(port);

		ASSERT_LT(0, port);
		ASSERT_EQ(0, ask(&self->s, "isock", "2", f->to, "u"));
		EXPECT_EQ(EPERM, ask(&self->s, "isend", "2", "x", f->connect,
				     to));
		/* Seen as a packet, and yet it is known who sent it. */
		ASSERT_EQ(0, denial_next(&self->s, &d));
		EXPECT_STREQ("send", d.operation);
		EXPECT_STREQ("EPERM", d.errno_name);
		EXPECT_EQ(self->s.probe, d.pid);
		EXPECT_STREQ("probe", d.comm);
		EXPECT_EQ(port, d.port);
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
	EXPECT_EQ(EPERM, ask(&self->s, "isend", "9", "x", "127.0.0.1",
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
		EXPECT_EQ(port, d.local_port);
		EXPECT_NE(port, d.port);
		EXPECT_EQ(0, dial(&self->s, f->to, "t", f->connect, port));
		/* The SYN that comes again makes no other record. */
		EXPECT_TRUE(quiet(&self->s));
	}
}

TEST_F(inet, the_host_sends_no_datagram_to_a_session)
{
	int port = server(&self->s, "1", "4", "u", "127.0.0.1", "0");
	struct denial d;

	ASSERT_LT(0, port);
	ASSERT_EQ(0, ask(&self->host, "isock", "1", "4", "u"));
	EXPECT_EQ(0, ask(&self->host, "isend", "1", "x", "127.0.0.1",
			 text(port)));
	EXPECT_EQ(ETIMEDOUT, ask(&self->s, "irecv", "1", "50"));
	ASSERT_EQ(0, denial_next(&self->s, &d));
	EXPECT_STREQ("accept", d.operation);
	EXPECT_EQ(port, d.local_port);
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
	EXPECT_EQ(EPERM, ask(&self->s, "isend", "2", "x", "::1",
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

/* A JVM has no IPv6 otherwise. Its neighbours list the host's connections. */
TEST_F(inet, its_interfaces_are_read_and_no_connection_of_the_host)
{
	static const struct {
		const char *name;
		int want;
	} all[] = {
		{ "self/net/if_inet6", 0 }, { "net/if_inet6", 0 },
		{ "self/net/tcp6", EACCES }, { "self/net/unix", EACCES },
		{ "self/net/route", EACCES }, { "1/net/if_inet6", EACCES },
	};
	char path[64];

	for (size_t i = 0; i < ARRAY_SIZE(all); i++) {
		snprintf(path, sizeof(path), "/proc/%s", all[i].name);
		EXPECT_EQ(all[i].want, ask(&self->s, "open", path, "r")) {
			TH_LOG("%s", path);
		}
		if (all[i].want)
			EXPECT_TRUE(denied(&self->s, "open", NULL, NULL));
		EXPECT_EQ(0, ask(&self->host, "open", path, "r")) {
			TH_LOG("%s", path);
		}
	}
	EXPECT_TRUE(quiet(&self->s));
}

TEST_HARNESS_MAIN
