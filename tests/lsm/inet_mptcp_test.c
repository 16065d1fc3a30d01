// SPDX-License-Identifier: GPL-2.0-only
/*
 * Multipath TCP, which servers of some languages use by themselves: its
 * paths are sockets of the kernel's own, which no program sees made.
 */
#define _GNU_SOURCE
#include <errno.h>

#include "kselftest_harness.h"
#include "device.h"
#include "inet.h"

INET(mptcp, LOOP);

static const char *const kinds[][2] = {	/* of listener, of client */
	{ "m", "m" }, { "m", "t" }, { "t", "m" },
};

static const char *const ends[][2] = {
	{ "4", "127.0.0.1" }, { "6", "::1" }, { "6", "::ffff:127.0.0.1" },
};

#define EACH(k, e)						\
	for (size_t k = 0; k < ARRAY_SIZE(kinds); k++)		\
	for (size_t e = 0; e < ARRAY_SIZE(ends); e++)

/* From slot 9 of @client to what slot 1 of @server accepts, and back. */
static int talk(struct session *client, struct session *server)
{
	int err = ask(server, "iaccept", "1", "2");

	err = err ? err : ask(client, "isend", "9", "question");
	err = err ? err : ask(server, "irecv", "2");
	err = err ? err : ask(server, "isend", "2", "answer");
	err = err ? err : ask(client, "irecv", "9");
	return err ? err : strcmp("answer", client->reply.text);
}

TEST_F(mptcp, a_session_reaches_its_own)
{
	EACH(k, e) {
		int port = server(&self->s, "1", ends[e][0], kinds[k][0],
				  ends[e][1], "0");

		ASSERT_LT(0, port) {
			TH_LOG("%zu %zu: %d", k, e, port);
		}
		EXPECT_EQ(0, dial(&self->s, ends[e][0], kinds[k][1],
				  ends[e][1], port)) {
			TH_LOG("%zu %zu", k, e);
		}
		EXPECT_EQ(0, talk(&self->s, &self->s)) {
			TH_LOG("%zu %zu", k, e);
		}
	}
	EXPECT_TRUE(quiet(&self->s));
}

TEST_F(mptcp, a_listener_of_the_host_is_not_reached)
{
	struct denial d;

	EACH(k, e) {
		int port = server(&self->host, "1", ends[e][0], kinds[k][0],
				  ends[e][1], "0");

		ASSERT_LT(0, port);
		EXPECT_EQ(0, dial(&self->host, ends[e][0], kinds[k][1],
				  ends[e][1], port));
		EXPECT_EQ(0, talk(&self->host, &self->host));
		EXPECT_EQ(EACCES, dial(&self->s, ends[e][0], kinds[k][1],
				       ends[e][1], port)) {
			TH_LOG("%zu %zu", k, e);
		}
		ASSERT_EQ(0, denial_next(&self->s, &d));
		EXPECT_STREQ("peer", d.reason);
		EXPECT_EQ(port, d.port);
	}
}

TEST_F(mptcp, nor_is_one_of_another_session)
{
	EACH(k, e) {
		int port = server(&self->other, "1", ends[e][0], kinds[k][0],
				  ends[e][1], "0");

		ASSERT_LT(0, port);
		EXPECT_EQ(EACCES, dial(&self->s, ends[e][0], kinds[k][1],
				       ends[e][1], port)) {
			TH_LOG("%zu %zu", k, e);
		}
		EXPECT_EQ(0, dial(&self->other, ends[e][0], kinds[k][1],
				  ends[e][1], port));
		EXPECT_EQ(0, talk(&self->other, &self->other));
	}
}

/* No handshake: the host's client waits, and has to be given up. */
TEST_F(mptcp, the_host_reaches_what_is_published_alone)
{
	EACH(k, e) {
		int port = server(&self->s, "1", ends[e][0], kinds[k][0],
				  ends[e][1], "0");

		ASSERT_LT(0, port);
		EXPECT_NE(0, dial(&self->host, ends[e][0], kinds[k][1],
				  ends[e][1], port)) {
			TH_LOG("%zu %zu", k, e);
		}
		EXPECT_TRUE(denied(&self->s, "accept", NULL, NULL));
		ASSERT_EQ(0, ask(&self->s, "iclose", "1"));
		port = server(&self->s, "1", ends[e][0], kinds[k][0],
			      ends[e][1], "7002");
		ASSERT_EQ(7002, port) {
			TH_LOG("%zu %zu", k, e);
		}
		EXPECT_EQ(0, dial(&self->host, ends[e][0], kinds[k][1],
				  ends[e][1], port));
		EXPECT_EQ(0, talk(&self->host, &self->s)) {
			TH_LOG("%zu %zu", k, e);
		}
		/* Who closes first keeps the port for a minute. */
		ASSERT_EQ(0, ask(&self->host, "iclose", "9"));
		ASSERT_EQ(0, ask(&self->s, "iclose", "2"));
		ASSERT_EQ(0, ask(&self->s, "iclose", "1"));
	}
}

/* Undone, it has a port of the kernel's choice, at any address: as NET-29. */
TEST_F(mptcp, an_end_that_was_connected_is_no_listener)
{
	static const char *const undone[] = { "2", "9" };

	EACH(k, e) {
		int port = server(&self->s, "1", ends[e][0], kinds[k][0],
				  ends[e][1], "0");

		ASSERT_LT(0, port);
		ASSERT_EQ(0, dial(&self->s, ends[e][0], kinds[k][1],
				  ends[e][1], port));
		ASSERT_EQ(0, talk(&self->s, &self->s));
		for (size_t i = 0; i < ARRAY_SIZE(undone); i++) {
			EXPECT_EQ(0, ask(&self->s, "iconnect", undone[i],
					 "unspec", "0"));
			EXPECT_EQ(EACCES, ask(&self->s, "ilisten",
					      undone[i])) {
				TH_LOG("%zu %zu %s", k, e, undone[i]);
			}
			EXPECT_TRUE(denied(&self->s, "listen", NULL, NULL));
			ASSERT_EQ(0, ask(&self->s, "iclose", undone[i]));
		}
	}
}

TEST_F(mptcp, nothing_leaves_for_a_refused_address)
{
	long before;

	ASSERT_EQ(0, device_make());
	before = left();
	EXPECT_EQ(EACCES, dial(&self->s, "4", "m", "192.0.2.9", 80));
	EXPECT_EQ(EACCES, dial(&self->s, "6", "m", "2001:db8::9", 80));
	EXPECT_EQ(EACCES, dial(&self->s, "6", "m", "::ffff:192.0.2.9", 80));
	EXPECT_EQ(before, left());
	/* The host's is tried, and leaves. */
	EXPECT_NE(EACCES, dial(&self->host, "4", "m", "192.0.2.9", 80));
	EXPECT_LT(before, left());
	device_remove();
}

TEST_HARNESS_MAIN
