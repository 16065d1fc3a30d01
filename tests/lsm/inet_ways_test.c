// SPDX-License-Identifier: GPL-2.0-only
/*
 * Loopback by odd ways: ends at any address, shared ports, data in handshakes,
 * other protocols. NET-02, NET-05 to NET-12, NET-24, NET-28, NET-29, NET-38,
 * NET-39, NET-41, NET-42.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "kselftest_harness.h"
#include "inet.h"

INET(ways, LOOP);

/* NET-28 */
TEST_F(ways, an_end_at_any_address_is_refused)
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
					  addresses[i], "7002"));
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

/*
 * A port at which somebody else is: the kernel chooses such a one for sockets
 * that share, and then one packet has two owners, or all of them.
 */
TEST_F(ways, no_port_is_shared_with_anybody_else)
{
	static const int shares[] = { SO_REUSEADDR, SO_REUSEPORT };
	int own = server(&self->s, "1", "4", "u", "127.0.0.1", "0");

	ASSERT_LT(0, own);
	for (size_t i = 0; i < ARRAY_SIZE(shares); i++) {
		const char *share = text(shares[i]);

		ASSERT_EQ(0, ask(&self->s, "isock", "2", "4", "u"));
		ASSERT_EQ(0, ask(&self->s, "iopt", "2", "1", share, "1"));
		EXPECT_EQ(EACCES, ask(&self->s, "ibind", "2", "127.0.0.1",
				      "0"));
		EXPECT_TRUE(denied(&self->s, "bind", NULL, NULL));
		EXPECT_EQ(EACCES, ask(&self->s, "ibind", "2", "0.0.0.0", "0"));
		EXPECT_TRUE(denied(&self->s, "bind", NULL, NULL));
		EXPECT_EQ(EACCES, ask(&self->s, "isend", "2", "x", "127.0.0.1",
				      text(own)));
		EXPECT_TRUE(denied(&self->s, "send", NULL, NULL));
		EXPECT_EQ(EACCES, ask(&self->s, "iconnect", "2", "127.0.0.1",
				      text(own)));
		EXPECT_TRUE(denied(&self->s, "connect", NULL, NULL));
		/* among themselves, at a port that was judged */
		EXPECT_EQ(0, ask(&self->s, "ibind", "2", "127.0.0.1", "7003"));
		ASSERT_EQ(0, ask(&self->s, "isock", "3", "4", "u"));
		ASSERT_EQ(0, ask(&self->s, "iopt", "3", "1", share, "1"));
		EXPECT_EQ(0, ask(&self->s, "ibind", "3", "127.0.0.1", "7003"));
		EXPECT_EQ(0, ask(&self->s, "isend", "3", "x", "127.0.0.1",
				 text(own)));
		EXPECT_EQ(0, ask(&self->s, "irecv", "1"));
		/* TCP gets no port that another has; gRPC asks for this. */
		ASSERT_EQ(0, ask(&self->s, "isock", "3", "4", "t"));
		ASSERT_EQ(0, ask(&self->s, "iopt", "3", "1", share, "1"));
		EXPECT_EQ(0, ask(&self->s, "ibind", "3", "127.0.0.1", "0"));
	}
	/* Who takes a packet is not for a program to say: 51, 52. */
	EXPECT_EQ(EACCES, ask(&self->s, "iopt", "2", "1", "51", "1"));
	EXPECT_TRUE(denied(&self->s, "option", NULL, NULL));
	EXPECT_EQ(EACCES, ask(&self->s, "iopt", "2", "1", "52", "1"));
	EXPECT_TRUE(denied(&self->s, "option", NULL, NULL));
	ASSERT_EQ(0, ask(&self->host, "isock", "2", "4", "u"));
	EXPECT_NE(EACCES, ask(&self->host, "iopt", "2", "1", "51", "1"));
	EXPECT_TRUE(quiet(&self->s));
}

TEST_F(ways, a_datagram_to_all_of_loopback_is_refused)
{
	int theirs = server(&self->host, "1", "4", "u", "0.0.0.0", "0");
	static const char all[] = "127.255.255.255";

	ASSERT_LT(0, theirs);
	EXPECT_EQ(-EACCES, server(&self->s, "1", "4", "u", all, "7003"));
	EXPECT_TRUE(denied(&self->s, "bind", NULL, NULL));
	ASSERT_EQ(0, ask(&self->s, "isock", "2", "4", "u"));
	ASSERT_EQ(0, ask(&self->s, "iopt", "2", "1", text(SO_BROADCAST),
			 "1"));
	EXPECT_EQ(EACCES, ask(&self->s, "isend", "2", "x", all,
			      text(theirs)));
	EXPECT_TRUE(denied(&self->s, "send", NULL, NULL));
	EXPECT_EQ(EACCES, ask(&self->s, "iconnect", "2", all, text(theirs)));
	EXPECT_TRUE(denied(&self->s, "connect", NULL, NULL));
	EXPECT_EQ(ETIMEDOUT, ask(&self->host, "irecv", "1", "50"));
	ASSERT_EQ(0, ask(&self->host, "isock", "2", "4", "u"));
	ASSERT_EQ(0, ask(&self->host, "iopt", "2", "1", text(SO_BROADCAST),
			 "1"));
	EXPECT_EQ(0, ask(&self->host, "isend", "2", "x", all, text(theirs)));
	EXPECT_EQ(0, ask(&self->host, "irecv", "1"));
}

/*
 * Of two that share a port the one at a narrower address takes what comes, and
 * a datagram to all of loopback comes to both.
 */
TEST_F(ways, a_datagram_among_the_host_is_not_tapped)
{
	static const int shares[] = { SO_REUSEADDR, SO_REUSEPORT };
	static const char all[] = "127.255.255.255";

	for (size_t i = 0; i < ARRAY_SIZE(shares); i++) {
		const char *share = text(shares[i]);
		char port[16];

		ASSERT_EQ(0, ask(&self->host, "isock", "1", "4", "u"));
		ASSERT_EQ(0, ask(&self->host, "iopt", "1", "1", share, "1"));
		ASSERT_EQ(0, ask(&self->host, "ibind", "1", "0.0.0.0", "0"));
		snprintf(port, sizeof(port), "%d", self->host.reply.value);
		ASSERT_EQ(0, ask(&self->s, "isock", "2", "4", "u"));
		ASSERT_EQ(0, ask(&self->s, "iopt", "2", "1", share, "1"));
		EXPECT_EQ(EADDRINUSE, ask(&self->s, "ibind", "2", "127.0.0.1",
					  port));
		EXPECT_TRUE(denied(&self->s, "bind", NULL, NULL));
		ASSERT_EQ(0, ask(&self->host, "isock", "2", "4", "u"));
		ASSERT_EQ(0, ask(&self->host, "iopt", "2", "1",
				 text(SO_BROADCAST), "1"));
		EXPECT_EQ(0, ask(&self->host, "isend", "2", "one",
				 "127.0.0.1", port));
		EXPECT_EQ(0, ask(&self->host, "irecv", "1"));
		EXPECT_STREQ("one", self->host.reply.text);
		/* Another of the host's may, and gets both. */
		ASSERT_EQ(0, ask(&self->host, "isock", "3", "4", "u"));
		ASSERT_EQ(0, ask(&self->host, "iopt", "3", "1", share, "1"));
		ASSERT_EQ(0, ask(&self->host, "ibind", "3", "127.0.0.1",
				 port));
		EXPECT_EQ(0, ask(&self->host, "isend", "2", "two",
				 "127.0.0.1", port));
		EXPECT_EQ(0, ask(&self->host, "irecv", "3"));
		ASSERT_EQ(0, ask(&self->host, "iclose", "3"));
		ASSERT_EQ(0, ask(&self->host, "isock", "3", "4", "u"));
		ASSERT_EQ(0, ask(&self->host, "iopt", "3", "1", share, "1"));
		ASSERT_EQ(0, ask(&self->host, "ibind", "3", "0.0.0.0", port));
		EXPECT_EQ(0, ask(&self->host, "isend", "2", "all", all, port));
		EXPECT_EQ(0, ask(&self->host, "irecv", "1"));
		EXPECT_EQ(0, ask(&self->host, "irecv", "3"));
		EXPECT_EQ(ETIMEDOUT, ask(&self->s, "irecv", "2", "50"));
		for (int n = 1; n <= 3; n++)
			EXPECT_EQ(0, ask(&self->host, "iclose", text(n)));
	}
	EXPECT_TRUE(quiet(&self->s));
}

/* NET-29: a port that connect() chose is at any address once it is undone. */
TEST_F(ways, an_end_that_was_connected_is_no_listener)
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
TEST_F(ways, a_port_of_the_host_is_not_shared)
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
		ASSERT_EQ(0, ask(&self->s, "ibind", "1", addr, "7002"));
		if (*type == 't')
			ASSERT_EQ(0, ask(&self->s, "ilisten", "1"));
		ASSERT_EQ(0, ask(&self->s, "isock", "2", family, type));
		ASSERT_EQ(0, ask(&self->s, "iopt", "2", text(SOL_SOCKET),
				 text(SO_REUSEPORT), "1"));
		EXPECT_EQ(0, ask(&self->s, "ibind", "2", addr, "7002"));
	}
}

/* NET-05, NET-06: a handshake without connect(), and of several paths. */
TEST_F(ways, a_handshake_that_begins_with_data_is_judged)
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
TEST_F(ways, what_is_not_loopback_is_refused)
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
TEST_F(ways, options_send_nothing_elsewhere_first)
{
	int port = server(&self->s, "1", "4", "t", "127.0.0.1", "0");

	ASSERT_EQ(0, ask(&self->s, "isock", "2", "4", "t"));
	EXPECT_EQ(EACCES, ask(&self->s, "iroute", "2", "192.0.2.1"));
	EXPECT_TRUE(denied(&self->s, "option", NULL, NULL));
	EXPECT_EQ(0, ask(&self->s, "iconnect", "2", "127.0.0.1", text(port)));
	ASSERT_EQ(0, ask(&self->host, "isock", "2", "4", "t"));
	EXPECT_EQ(0, ask(&self->host, "iroute", "2", "record"));
}

/* NET-39 */
TEST_F(ways, a_sockaddr_of_a_wrong_length_is_no_way)
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

/* NET-07 to NET-12 */
TEST_F(ways, other_protocols_and_families_are_refused)
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
	/* The hypervisor, and ciphers: this kernel has both. */
	for (int i = 0; i < 2; i++) {
		const char *family = i ? "38" : "40", *type = i ? "5" : "1";

		EXPECT_EQ(0, ask(&self->host, "socket", family, type, "0"));
		EXPECT_EQ(EPERM, ask(&self->s, "socket", family, type, "0"));
	}
}


INET(narrow, LOOP ",\"bind_any\":\"loopback\"");

TEST_F(narrow, an_end_at_any_address_becomes_one_on_loopback)
{
	static const char *const types[] = { "t", "t", "u" };
	static const char *const ports[] = { "0", "7003", "7003" };

	for (int i = 0; i < 3; i++) {
		const char *type = types[i], *at = ports[i];
		int port = server(&self->s, "1", "4", type, "0.0.0.0", "0");

		ASSERT_LT(0, port);
		EXPECT_EQ(0, dial(&self->s, "4", type, "127.0.0.1", port));
		ASSERT_EQ(0, ask(&self->s, "isock", "2", "4", type));
		ASSERT_EQ(0, ask(&self->s, "ibind", "2", "0.0.0.0", at));
		EXPECT_STREQ("127.0.0.1", self->s.reply.text);
		ASSERT_EQ(0, ask(&self->s, "isock", "2", "6", type));
		ASSERT_EQ(0, ask(&self->s, "ibind", "2", "::", at));
		EXPECT_STREQ("::ffff:127.0.0.1", self->s.reply.text);
		ASSERT_EQ(0, ask(&self->s, "isock", "2", "6", type));
		ASSERT_EQ(0, ask(&self->s, "iopt", "2", text(IPPROTO_IPV6),
				 text(IPV6_V6ONLY), "1"));
		ASSERT_EQ(0, ask(&self->s, "ibind", "2", "::", at));
		EXPECT_STREQ("::1", self->s.reply.text);
	}
	/* listen() alone is no bind. */
	ASSERT_EQ(0, ask(&self->s, "isock", "1", "4", "t"));
	EXPECT_EQ(EACCES, ask(&self->s, "ilisten", "1"));
	EXPECT_EQ(-EACCES, server(&self->s, "1", "4", "t", "192.0.2.1", "0"));
	ASSERT_EQ(7002, server(&self->s, "1", "6", "t", "::", "7002"));
	EXPECT_EQ(0, dial(&self->host, "4", "t", "127.0.0.1", 7002));
}

/*
 * A datagram socket at no port of its own choice is what the kernel makes of
 * one that sends first: a client's, as of a resolver or of Node. It stays at
 * any address, to reach what is granted beyond loopback, and no more than that.
 */
TEST_F(narrow, a_client_of_datagrams_is_at_any_address)
{
	int theirs = server(&self->host, "1", "4", "u", "127.0.0.1", "0");
	int own = server(&self->s, "1", "4", "u", "127.0.0.1", "0");

	ASSERT_LT(0, theirs);
	ASSERT_LT(0, own);
	ASSERT_EQ(0, ask(&self->s, "isock", "2", "6", "u"));
	ASSERT_EQ(0, ask(&self->s, "ibind", "2", "::", "0"));
	EXPECT_STREQ("::", self->s.reply.text);
	ASSERT_EQ(0, ask(&self->s, "isock", "2", "4", "u"));
	ASSERT_EQ(0, ask(&self->s, "ibind", "2", "0.0.0.0", "0"));
	EXPECT_STREQ("0.0.0.0", self->s.reply.text);
	EXPECT_EQ(0, ask(&self->s, "isend", "2", "x", "127.0.0.1", text(own)));
	EXPECT_EQ(0, ask(&self->s, "irecv", "1"));
	EXPECT_EQ(EPERM, ask(&self->s, "isend", "2", "x", "127.0.0.1",
			     text(theirs)));
	EXPECT_EQ(EACCES, ask(&self->s, "isend", "2", "x", "192.0.2.1",
			      text(theirs)));
}

INET(tcp, ",\"allow_tcp_loopback\":true");

TEST_F(tcp, tcp_alone_is_no_udp)
{
	int port = server(&self->s, "1", "4", "t", "127.0.0.1", "0");

	ASSERT_LT(0, port);
	EXPECT_EQ(0, dial(&self->s, "4", "t", "127.0.0.1", port));
	EXPECT_EQ(EPERM, ask(&self->s, "isock", "1", "4", "u"));
	EXPECT_TRUE(denied(&self->s, "socket", NULL, NULL));
}

TEST_HARNESS_MAIN
