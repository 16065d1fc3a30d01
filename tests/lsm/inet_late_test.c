// SPDX-License-Identifier: GPL-2.0-only
/*
 * Who comes while a packet is under way: loopback is slow here. When it left
 * nobody held its port, when it arrives the host does.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <sys/socket.h>

#include "kselftest_harness.h"
#include "inet.h"

INET(slow, LOOP);

#define SLOW "tc qdisc add dev lo root netem delay 600ms limit 9999"
#define FAST "tc qdisc del dev lo root"
#define CONNECT_AND_SEND "0x20000000"	/* MSG_FASTOPEN: it does not wait */
#define MANY 60

static const char *const ends[][2] = {
	{ "4", "127.0.0.1" }, { "6", "::1" },
};

TEST_F(slow, a_listener_that_comes_late_gets_no_connection)
{
	for (int i = 0; i < 2; i++) {
		const char *family = ends[i][0], *near = ends[i][1];

		ASSERT_EQ(0, system(SLOW));
		ASSERT_EQ(0, ask(&self->s, "isock", "1", family, "t"));
		EXPECT_EQ(EINPROGRESS, ask(&self->s, "isend", "1", "x", near,
					   "7005", CONNECT_AND_SEND));
		ASSERT_EQ(7005, server(&self->host, "1", family, "t", near,
				       "7005"));
		EXPECT_EQ(ETIMEDOUT, ask(&self->host, "iaccept", "1", "2",
					 "2500"));
		EXPECT_TRUE(denied(&self->s, "connect", NULL, NULL));
		ASSERT_EQ(0, ask(&self->s, "iclose", "1"));
		ASSERT_EQ(0, ask(&self->host, "iclose", "1"));
		/* One of its own does. */
		ASSERT_EQ(0, ask(&self->s, "isock", "1", family, "t"));
		EXPECT_EQ(EINPROGRESS, ask(&self->s, "isend", "1", "x", near,
					   "7006", CONNECT_AND_SEND));
		ASSERT_EQ(7006, server(&self->s, "2", family, "t", near,
				       "7006"));
		EXPECT_EQ(0, ask(&self->s, "iaccept", "2", "3", "4000"));
		ASSERT_EQ(0, system(FAST));
		ASSERT_EQ(0, ask(&self->s, "iclose", "2"));
		ASSERT_EQ(0, ask(&self->s, "iclose", "1"));
		ASSERT_EQ(0, ask(&self->s, "iclose", "3"));
		/* Nobody: it is told at once. */
		EXPECT_EQ(ECONNREFUSED, dial(&self->s, family, "t", near,
					     7006));
		EXPECT_EQ(ECONNREFUSED, dial(&self->s, family, "m", near,
					     7006));
	}
	EXPECT_TRUE(quiet(&self->s));
}

TEST_F(slow, a_flood_does_not_wait_for_who_comes_late)
{
	for (int i = 0; i < 2; i++) {
		const char *family = ends[i][0], *near = ends[i][1];
		int came;

		ASSERT_EQ(0, system(SLOW));
		ASSERT_EQ(0, ask(&self->s, "isock", "1", family, "u"));
		for (int n = 0; n < MANY; n++)
			EXPECT_EQ(0, ask(&self->s, "isend", "1", "x", near,
					 "7005"));
		ASSERT_EQ(7005, server(&self->host, "1", family, "u", near,
				       "7005"));
		for (came = 0; !ask(&self->host, "irecv", "1", "1500"); came++)
			;
		EXPECT_GT(MANY / 4, came);
		ASSERT_EQ(0, system(FAST));
		ASSERT_EQ(0, ask(&self->host, "iclose", "1"));
		/* One's own that comes has what is sent from then on. */
		ASSERT_EQ(7005, server(&self->s, "2", family, "u", near,
				       "7005"));
		for (int n = 0; n < MANY; n++) {
			EXPECT_EQ(0, ask(&self->s, "isend", "1", "x", near,
					 "7005"));
			EXPECT_EQ(0, ask(&self->s, "irecv", "2"));
		}
		ASSERT_EQ(0, ask(&self->s, "iclose", "2"));
		/* Nobody: who has a peer is told at the next call. */
		for (int n = 0; n < 2; n++) {
			ASSERT_EQ(0, dial(&self->s, family, "u", near,
					  7007 + n + 2 * i));
			EXPECT_EQ(0, ask(&self->s, "isend", "9", "x"));
			EXPECT_EQ(ECONNREFUSED,
				  n ? ask(&self->s, "irecv", "9") :
				  ask(&self->s, "isend", "9", "x"));
		}
	}
	EXPECT_TRUE(quiet(&self->s));
}

/* It may reach the sender's port, or publishes its own: that is the host's. */
TEST_F(slow, what_is_under_way_comes_to_no_other_session)
{
	static const char *const ports[] = { "7005", "7003" };

	for (int i = 0; i < 2; i++) {
		const char *family = ends[i][0], *near = ends[i][1];

		ASSERT_EQ(0, system(SLOW));
		ASSERT_EQ(7001, server(&self->s, "1", family, "u", near,
				       "7001"));
		for (int k = 0; k < 2; k++) {
			const char *to = ports[k];

			/* Its receiver is gone, */
			ASSERT_EQ(atoi(to), server(&self->s, "2", family, "u",
						   near, to));
			EXPECT_EQ(0, ask(&self->s, "isend", "1", "x", near,
					 to));
			ASSERT_EQ(0, ask(&self->s, "iclose", "2"));
			ASSERT_EQ(atoi(to), server(&self->other, "1", family,
						   "u", near, to));
			EXPECT_EQ(ETIMEDOUT, ask(&self->other, "irecv", "1",
						 "1500"));
			EXPECT_TRUE(denied(&self->other, "accept", NULL,
					   NULL));
			ASSERT_EQ(0, ask(&self->other, "iclose", "1"));
			/* or never was there; then its own comes. */
			EXPECT_EQ(0, ask(&self->s, "isend", "1", "x", near,
					 to));
			ASSERT_EQ(atoi(to), server(&self->s, "2", family, "u",
						   near, to));
			EXPECT_EQ(0, ask(&self->s, "irecv", "2"));
			ASSERT_EQ(0, ask(&self->s, "iclose", "2"));
		}
		ASSERT_EQ(0, ask(&self->s, "iclose", "1"));
		/* A published port is the host's to reach. */
		ASSERT_EQ(7003, server(&self->other, "1", family, "u", near,
				       "7003"));
		ASSERT_EQ(0, ask(&self->host, "isock", "1", family, "u"));
		EXPECT_EQ(0, ask(&self->host, "isend", "1", "x", near,
				 "7003"));
		EXPECT_EQ(0, ask(&self->other, "irecv", "1"));
		ASSERT_EQ(0, ask(&self->other, "iclose", "1"));
		ASSERT_EQ(0, system(FAST));
	}
	EXPECT_TRUE(quiet(&self->s));
	EXPECT_TRUE(quiet(&self->other));
}

TEST_HARNESS_MAIN
