// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a rule for the host grants leads to no other session, and what a client
 * of a published port asked is answered to that client, not to who comes after.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "kselftest_harness.h"
#include "device.h"
#include "inet.h"

INET(apart, LOOP);

TEST_F(apart, who_comes_after_a_client_gets_no_answer_of_his)
{
	static const char *const ends[][2] = {
		{ "4", "127.0.0.1" }, { "6", "::1" },
	};

	for (int i = 0; i < 2; i++) {
		const char *family = ends[i][0], *near = ends[i][1];
		int from;

		ASSERT_EQ(7003, server(&self->s, "1", family, "u", near,
				       "7003"));
		from = server(&self->host, "1", family, "u", near, "0");
		ASSERT_LT(0, from);
		EXPECT_EQ(0, ask(&self->host, "isend", "1", "q", near,
				 "7003"));
		EXPECT_EQ(0, ask(&self->s, "irecv", "1"));
		EXPECT_EQ(0, ask(&self->s, "isend", "1", "a", near,
				 text(from)));
		EXPECT_EQ(0, ask(&self->host, "irecv", "1"));
		/* He goes, another one is there. */
		ASSERT_EQ(0, ask(&self->host, "iclose", "1"));
		ASSERT_EQ(from, server(&self->host, "2", family, "u", near,
				       text(from)));
		EXPECT_EQ(EPERM, ask(&self->s, "isend", "1", "x", near,
				     text(from)));
		EXPECT_TRUE(denied(&self->s, "send", NULL, NULL));
		EXPECT_EQ(EACCES, ask(&self->s, "iconnect", "1", near,
				      text(from)));
		EXPECT_TRUE(denied(&self->s, "connect", NULL, NULL));
		EXPECT_EQ(ETIMEDOUT, ask(&self->host, "irecv", "2", "50"));
		/* until he asks himself, also connected */
		EXPECT_EQ(0, ask(&self->host, "iconnect", "2", near, "7003"));
		EXPECT_EQ(0, ask(&self->host, "isend", "2", "q"));
		EXPECT_EQ(0, ask(&self->s, "irecv", "1"));
		EXPECT_EQ(0, ask(&self->s, "isend", "1", "a", near,
				 text(from)));
		EXPECT_EQ(0, ask(&self->host, "irecv", "2"));
		EXPECT_EQ(0, ask(&self->s, "iconnect", "1", near, text(from)));
		EXPECT_EQ(0, ask(&self->s, "isend", "1", "a"));
		EXPECT_EQ(0, ask(&self->host, "irecv", "2"));
		ask(&self->host, "iclose", "2");
	}
	EXPECT_TRUE(quiet(&self->s));
}

/* A port is who holds it now, not who sent from there a moment ago. */
TEST_F(apart, who_takes_a_port_of_the_sessions_speaks_for_himself)
{
	static const char *const ends[][2] = {
		{ "4", "127.0.0.1" }, { "6", "::1" },
	};

	for (int i = 0; i < 2; i++) {
		const char *family = ends[i][0], *near = ends[i][1];
		int to = server(&self->s, "1", family, "u", near, "0");
		int from = server(&self->s, "2", family, "u", near, "0");

		ASSERT_LT(0, to);
		ASSERT_LT(0, from);
		/* What it sent arrives, also when the sender is gone. */
		EXPECT_EQ(0, ask(&self->s, "isend", "2", "own", near,
				 text(to)));
		ASSERT_EQ(0, ask(&self->s, "iclose", "2"));
		EXPECT_EQ(0, ask(&self->s, "irecv", "1"));
		EXPECT_STREQ("own", self->s.reply.text);
		EXPECT_EQ(from, self->s.reply.value);
		ASSERT_EQ(from, server(&self->host, "2", family, "u", near,
				       text(from)));
		EXPECT_EQ(0, ask(&self->host, "isend", "2", "host", near,
				 text(to)));
		EXPECT_EQ(ETIMEDOUT, ask(&self->s, "irecv", "1", "50"));
		EXPECT_TRUE(denied(&self->s, "accept", NULL, NULL));
		ASSERT_EQ(0, ask(&self->host, "iclose", "2"));
		ASSERT_EQ(from, server(&self->other, "2", family, "u", near,
				       text(from)));
		EXPECT_EQ(EPERM, ask(&self->other, "isend", "2", "other", near,
				     text(to)));
		EXPECT_TRUE(denied(&self->other, "send", NULL, NULL));
		EXPECT_EQ(ETIMEDOUT, ask(&self->s, "irecv", "1", "50"));
		ASSERT_EQ(0, ask(&self->other, "iclose", "2"));
		/* Its own again; a priority that it asks for is no mark. */
		ASSERT_EQ(from, server(&self->s, "2", family, "u", near,
				       text(from)));
		EXPECT_EQ(0, ask(&self->s, "iopt", "2", "1", "12", "6"));
		EXPECT_EQ(0, ask(&self->s, "isend", "2", "own", near,
				 text(to)));
		EXPECT_EQ(0, ask(&self->s, "irecv", "1"));
		ASSERT_EQ(0, ask(&self->s, "iclose", "2"));
	}
	EXPECT_TRUE(quiet(&self->s));
	EXPECT_TRUE(quiet(&self->other));
}

/* Both may reach port 7001 of the host's, and neither is the host. */
TEST_F(apart, a_named_port_leads_to_no_other_session)
{
	ASSERT_EQ(7001, server(&self->s, "1", "4", "u", "127.0.0.1", "7001"));
	ASSERT_EQ(7001, server(&self->s, "2", "4", "t", "127.0.0.1", "7001"));
	ASSERT_EQ(7001, server(&self->other, "1", "4", "u", "127.0.0.2",
			       "7001"));
	EXPECT_EQ(EPERM, ask(&self->other, "isend", "1", "x", "127.0.0.1",
			     "7001"));
	EXPECT_TRUE(denied(&self->other, "send", NULL, NULL));
	EXPECT_EQ(EPERM, ask(&self->s, "isend", "1", "x", "127.0.0.2",
			     "7001"));
	EXPECT_TRUE(denied(&self->s, "send", NULL, NULL));
	EXPECT_EQ(EACCES, ask(&self->other, "iconnect", "1", "127.0.0.1",
			      "7001"));
	EXPECT_TRUE(denied(&self->other, "connect", NULL, NULL));
	EXPECT_EQ(EACCES, dial(&self->other, "4", "t", "127.0.0.1", 7001));
	EXPECT_TRUE(denied(&self->other, "connect", NULL, NULL));
	EXPECT_EQ(ETIMEDOUT, ask(&self->s, "irecv", "1", "50"));
	EXPECT_EQ(ETIMEDOUT, ask(&self->other, "irecv", "1", "50"));
	EXPECT_EQ(0, dial(&self->s, "4", "t", "127.0.0.1", 7001));
	EXPECT_EQ(0, dial(&self->s, "4", "u", "127.0.0.1", 7001));
	EXPECT_EQ(0, ask(&self->s, "isend", "9", "x"));
	EXPECT_EQ(0, ask(&self->s, "irecv", "1"));
	EXPECT_TRUE(quiet(&self->s));
	EXPECT_TRUE(quiet(&self->other));
}

FIXTURE(beyond) {
	struct world *w;
	struct session s, other, host;
};

FIXTURE_SETUP(beyond)
{
	struct policy p = {
		.level = "network",
		.sandbox = LOOP ",\"bind_any\":\"loopback\"",
		.more = ",\"egress\":{\"allow\":[\"192.0.2.0/24\","
			"\"[2001:db8::/64]\",\"192.0.2.255\","
			"\"198.51.100.0/24\",\"224.1.1.1\","
			"\"203.0.113.255\","
			"\"[ff0e::1:2]\"]}",
	};

	ASSERT_EQ(0, device_make());
	ASSERT_EQ(0, system("ip addr add 198.51.100.1/24 dev d0"));
	ASSERT_EQ(0, system("ip addr add 203.0.113.1/24 dev d0"));
	self->w = world_make(TEST_USER);
	ASSERT_NE(NULL, self->w);
	ASSERT_EQ(0, policy_write(self->w, &p));
	ASSERT_EQ(0, session_start(&self->s, self->w, "s", NULL));
	ASSERT_EQ(0, session_start(&self->other, self->w, "other", NULL));
	ASSERT_EQ(0, twin_start(&self->host, self->w));
}

FIXTURE_TEARDOWN(beyond)
{
	session_end(&self->host);
	EXPECT_EQ(0, session_end(&self->s));
	EXPECT_EQ(0, session_end(&self->other));
	world_remove(self->w);
	device_remove();
}

/* A client's socket of datagrams is at any address, the host's own among it. */
TEST_F(beyond, the_hosts_address_leads_to_no_other_session)
{
	static const char *const ends[][3] = {
		{ "4", "0.0.0.0", "192.0.2.1" }, { "6", "::", "2001:db8::1" },
	};

	for (int i = 0; i < 2; i++) {
		const char *family = ends[i][0], *any = ends[i][1];
		const char *to = ends[i][2];
		int mine = server(&self->s, "1", family, "u", any, "0");
		int theirs = server(&self->host, "1", family, "u", to, "0");

		ASSERT_LT(0, mine);
		ASSERT_LT(0, theirs);
		ASSERT_LT(0, server(&self->other, "1", family, "u", any, "0"));
		EXPECT_EQ(EPERM, ask(&self->other, "isend", "1", "x", to,
				     text(mine)));
		EXPECT_TRUE(denied(&self->other, "send", NULL, NULL));
		ASSERT_EQ(0, dial(&self->other, family, "u", to, mine));
		EXPECT_EQ(EPERM, ask(&self->other, "isend", "9", "x"));
		EXPECT_TRUE(denied(&self->other, "send", NULL, NULL));
		EXPECT_EQ(ETIMEDOUT, ask(&self->s, "irecv", "1", "50"));
		/* The host's is reached there, and answers. */
		EXPECT_EQ(0, ask(&self->s, "isend", "1", "q", to,
				 text(theirs)));
		EXPECT_EQ(0, ask(&self->host, "irecv", "1"));
		EXPECT_EQ(0, ask(&self->host, "isend", "1", "a", to,
				 text(mine)));
		EXPECT_EQ(0, ask(&self->s, "irecv", "1"));
		/* So is its own. */
		ASSERT_EQ(0, dial(&self->s, family, "u", to, mine));
		EXPECT_EQ(0, ask(&self->s, "isend", "9", "x"));
		EXPECT_EQ(0, ask(&self->s, "irecv", "1"));
	}
	EXPECT_TRUE(quiet(&self->s));
	EXPECT_TRUE(quiet(&self->other));
}

/*
 * To all of a network: a copy comes back to this host, to any socket at the
 * port. A rule for the network does not mean that, one for the address does.
 */
TEST_F(beyond, a_broadcast_is_granted_by_its_own_rule_and_to_no_session)
{
	int mine = server(&self->s, "1", "4", "u", "0.0.0.0", "0");
	int theirs = server(&self->host, "1", "4", "u", "0.0.0.0", "0");
	int others = server(&self->other, "1", "4", "u", "0.0.0.0", "0");
	long before;

	ASSERT_LT(0, mine);
	ASSERT_LT(0, theirs);
	ASSERT_LT(0, others);
	ASSERT_EQ(0, ask(&self->s, "isock", "2", "4", "u"));
	ASSERT_EQ(0, ask(&self->s, "iopt", "2", "1", text(SO_BROADCAST), "1"));
	before = left();
	EXPECT_EQ(EACCES, ask(&self->s, "isend", "2", "x", "198.51.100.255",
			      text(theirs)));
	EXPECT_TRUE(denied(&self->s, "send", NULL, NULL));
	EXPECT_EQ(EACCES, dial(&self->s, "4", "u", "198.51.100.255", theirs));
	EXPECT_TRUE(denied(&self->s, "connect", NULL, NULL));
	EXPECT_EQ(EACCES, ask(&self->s, "isend", "2", "x", "198.51.100.255",
			      text(others)));
	EXPECT_TRUE(denied(&self->s, "send", NULL, NULL));
	EXPECT_EQ(before, left());
	EXPECT_EQ(ETIMEDOUT, ask(&self->host, "irecv", "1", "50"));
	EXPECT_EQ(0, ask(&self->s, "isend", "2", "x", "198.51.100.9", "80"));
	EXPECT_EQ(before + 1, left());
	EXPECT_EQ(0, ask(&self->s, "isend", "2", "x", "192.0.2.255",
			 text(others)));
	EXPECT_EQ(before + 2, left());
	EXPECT_TRUE(denied(&self->other, "accept", NULL, NULL));
	EXPECT_EQ(ETIMEDOUT, ask(&self->other, "irecv", "1", "50"));
	/* The host is granted, and so is itself. */
	EXPECT_EQ(0, ask(&self->s, "isend", "2", "x", "192.0.2.255",
			 text(theirs)));
	EXPECT_EQ(0, ask(&self->host, "irecv", "1"));
	EXPECT_EQ(0, ask(&self->s, "isend", "2", "x", "192.0.2.255",
			 text(mine)));
	EXPECT_EQ(0, ask(&self->s, "irecv", "1"));
	/* also from where nothing but that may be sent to */
	EXPECT_EQ(0, ask(&self->s, "isend", "2", "x", "203.0.113.255",
			 text(mine)));
	EXPECT_EQ(0, ask(&self->s, "irecv", "1"));
	EXPECT_EQ(0, ask(&self->s, "isend", "2", "x", "203.0.113.255",
			 text(others)));
	EXPECT_EQ(ETIMEDOUT, ask(&self->other, "irecv", "1", "50"));
	EXPECT_TRUE(denied(&self->other, "accept", NULL, NULL));
	ASSERT_EQ(0, ask(&self->host, "isock", "2", "4", "u"));
	ASSERT_EQ(0, ask(&self->host, "iopt", "2", "1", text(SO_BROADCAST),
			 "1"));
	EXPECT_EQ(0, ask(&self->host, "isend", "2", "x", "198.51.100.255",
			 text(theirs)));
	EXPECT_EQ(0, ask(&self->host, "irecv", "1"));
	EXPECT_TRUE(quiet(&self->s));
	EXPECT_TRUE(quiet(&self->other));
}

TEST_F(beyond, a_group_leads_to_no_other_session)
{
	static const char *const groups[][4] = {
		{ "4", "0.0.0.0", "224.1.1.1", "mreqn" },
		{ "6", "::", "ff0e::1:2", "six" },
	};

	for (int i = 0; i < 2; i++) {
		const char *family = groups[i][0], *any = groups[i][1];
		const char *group = groups[i][2], *how = groups[i][3];
		struct session *all[] = {
			&self->other, &self->s, &self->host
		};

		ASSERT_EQ(0, ask(&self->s, "isock", "2", family, "u"));
		for (int k = 0; k < 3; k++) {
			int port = server(all[k], "1", family, "u", any, "0");

			ASSERT_LT(0, port);
			ASSERT_EQ(0, ask(all[k], "ijoin", "1", how, group,
					 "d0"));
			EXPECT_EQ(0, ask(&self->s, "isend", "2", "x", group,
					 text(port)));
			EXPECT_EQ(k ? 0 : ETIMEDOUT,
				  ask(all[k], "irecv", "1", k ? NULL : "50"));
			if (!k)
				EXPECT_TRUE(denied(all[k], "accept", NULL,
						   NULL));
		}
	}
	EXPECT_TRUE(quiet(&self->s));
	EXPECT_TRUE(quiet(&self->other));
}

/* As programs bind that let a source address be chosen. */
TEST_F(beyond, a_client_that_was_bound_to_any_address_reaches_it)
{
	static const char *const ends[][5] = {
		{ "4", "0.0.0.0", "192.0.2.1", "192.0.2.63", "127.0.0.1" },
		{ "6", "::", "2001:db8::1", "2001:db8::63", "::1" },
	};

	for (int i = 0; i < 2; i++) {
		const char *family = ends[i][0], *any = ends[i][1];
		const char *here = ends[i][2], *near = ends[i][4];
		int theirs = server(&self->host, "1", family, "t", any, "0");
		long before = left();
		int mine;

		ASSERT_LT(0, theirs);
		for (int k = 0; k < 2; k++) {
			ASSERT_EQ(0, ask(&self->s, "isock", "1", family,
					 k ? "t" : "m"));
			EXPECT_EQ(0, ask(&self->s, "ibind", "1", any, "0"));
			EXPECT_EQ(0, ask(&self->s, "iconnect", "1", here,
					 text(theirs)));
			EXPECT_EQ(0, ask(&self->host, "iaccept", "1", "2"));
			EXPECT_EQ(0, ask(&self->s, "isend", "1", "x"));
			EXPECT_EQ(0, ask(&self->host, "irecv", "2"));
		}
		ASSERT_EQ(0, ask(&self->s, "isock", "1", family, "t"));
		EXPECT_EQ(0, ask(&self->s, "ibind", "1", any, "0"));
		EXPECT_EQ(ETIMEDOUT, ask(&self->s, "iconnect", "1", ends[i][3],
					 "80"));
		EXPECT_LT(before, left());
		/* not to what is of the host's loopback */
		ASSERT_EQ(0, ask(&self->s, "isock", "1", family, "t"));
		EXPECT_EQ(0, ask(&self->s, "ibind", "1", any, "0"));
		EXPECT_EQ(EACCES, ask(&self->s, "iconnect", "1", near,
				      text(theirs)));
		EXPECT_TRUE(denied(&self->s, "connect", NULL, NULL));
		/* One that listens is on loopback alone, and its own. */
		for (int k = 0; k < 2; k++) {
			mine = server(&self->s, "1", family, k ? "t" : "m",
				      any, "0");
			ASSERT_LT(0, mine);
			EXPECT_EQ(0, dial(&self->s, family, "t", near, mine));
			EXPECT_EQ(0, dial(&self->s, "4", "t", "127.0.0.1",
					  mine));
			EXPECT_EQ(ETIMEDOUT, dial(&self->host, "4", "t",
						  "127.0.0.1", mine));
			EXPECT_TRUE(denied(&self->s, "accept", NULL, NULL));
			EXPECT_EQ(ETIMEDOUT, dial(&self->host, family, "t",
						  here, mine));
			EXPECT_TRUE(denied(&self->s, "accept", NULL, NULL));
			EXPECT_NE(0, dial(&self->other, family, "t", here,
					  mine));
			EXPECT_TRUE(denied(&self->other, "connect", NULL,
					   NULL));
		}
	}
	/* A port of its choice is a server's. */
	ASSERT_EQ(0, ask(&self->s, "isock", "1", "4", "t"));
	EXPECT_EQ(0, ask(&self->s, "ibind", "1", "0.0.0.0", "7003"));
	EXPECT_STREQ("127.0.0.1", self->s.reply.text);
	EXPECT_TRUE(quiet(&self->s));
	EXPECT_TRUE(quiet(&self->other));
}

static int reusing(struct session *s, const char *family, const char *v6only)
{
	int err = ask(s, "isock", "1", family, "t");

	if (!err)
		err = ask(s, "iopt", "1", "1", text(SO_REUSEADDR), "1");
	return err || !v6only ? err :
	       ask(s, "iopt", "1", text(IPPROTO_IPV6), text(IPV6_V6ONLY),
		   v6only);
}

/* Who is left at any address is at each of them when it listens. */
TEST_F(beyond, who_listens_at_any_address_joins_nobody)
{
	static const struct {
		const char *family, *any, *v6only, *theirs, *at;
		int err;
	} ends[] = {
		{ "6", "::", "0", "6", "::1", EADDRINUSE },
		{ "6", "::", "0", "4", "192.0.2.1", EADDRINUSE },
		{ "6", "::", "1", "6", "2001:db8::1", EADDRINUSE },
		{ "4", "0.0.0.0", NULL, "4", "192.0.2.1", EADDRINUSE },
		/* These are not met. */
		{ "6", "::", "1", "4", "192.0.2.1", 0 },
		{ "6", "::", "1", "4", "127.0.0.1", 0 },
		{ "4", "0.0.0.0", NULL, "6", "::1", 0 },
	};

	for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++) {
		char port[16];

		ASSERT_EQ(0, reusing(&self->s, ends[i].family,
				     ends[i].v6only));
		ASSERT_EQ(0, ask(&self->s, "ibind", "1", ends[i].any, "0"));
		snprintf(port, sizeof(port), "%d", self->s.reply.value);
		ASSERT_EQ(0, reusing(&self->host, ends[i].theirs, NULL));
		ASSERT_EQ(0, ask(&self->host, "ibind", "1", ends[i].at,
				 port));
		EXPECT_EQ(ends[i].err, ask(&self->s, "ilisten", "1"))
			TH_LOG("%zu", i);
		if (ends[i].err)
			EXPECT_TRUE(denied(&self->s, "listen", NULL, NULL));
		EXPECT_EQ(0, ask(&self->host, "ilisten", "1"));
		EXPECT_EQ(0, dial(&self->host, ends[i].theirs, "t",
				  ends[i].at, atoi(port)));
		EXPECT_EQ(0, ask(&self->host, "iaccept", "1", "2"));
		ASSERT_EQ(0, ask(&self->host, "iclose", "1"));
		ASSERT_EQ(0, ask(&self->s, "iclose", "1"));
	}
	EXPECT_TRUE(quiet(&self->s));
}

TEST_HARNESS_MAIN
