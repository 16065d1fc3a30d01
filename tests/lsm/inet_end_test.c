// SPDX-License-Identifier: GPL-2.0-only
/*
 * Much at once, and the end: what a session had said before it ended arrives,
 * as it does from any process that is gone.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdlib.h>

#include "kselftest_harness.h"
#include "inet.h"

INET(end, LOOP);

#define MUCH 1500000	/* more than a connection's two ends hold at first */

/* The host's end, in slot 2, of a connection on which @s has said *@said. */
static int say_much(FIXTURE_DATA(end) *self, struct session *s, long *said)
{
	int err = server(&self->host, "1", "4", "t", "127.0.0.1", "7001");

	if (err != 7001)
		return err;
	err = dial(s, "4", "t", "127.0.0.1", 7001);
	if (!err)
		err = ask(&self->host, "iaccept", "1", "2");
	if (!err)
		err = ask(s, "ipump", "9", text(MUCH));
	*said = s->reply.value;
	return err;
}

static void hear_it_all(struct __test_metadata *_metadata,
			FIXTURE_DATA(end) *self, long said)
{
	EXPECT_LT(500000, said);
	EXPECT_EQ(0, ask(&self->host, "idrain", "2", text(said)));
	EXPECT_EQ(EPIPE, ask(&self->host, "idrain", "2", "1"));
}

TEST_F(end, what_was_said_before_arrives)
{
	long said;

	ASSERT_EQ(0, say_much(self, &self->s, &said));
	EXPECT_EQ(0, session_end(&self->s));
	hear_it_all(_metadata, self, said);
	ASSERT_EQ(0, session_start(&self->s, self->w, "again", NULL));
}

TEST_F(end, also_when_the_supervisor_was_killed)
{
	long said;

	ASSERT_EQ(0, say_much(self, &self->s, &said));
	ASSERT_EQ(0, kill(self->s.pid, SIGKILL));
	ASSERT_TRUE(gone(self->s.probe, 20000));
	hear_it_all(_metadata, self, said);
	session_end(&self->s);
	ASSERT_EQ(0, session_start(&self->s, self->w, "again", NULL));
}

/* It is no more a door: who knocks at what is left gets no answer. */
TEST_F(end, and_nothing_else)
{
	ASSERT_EQ(7002, server(&self->s, "1", "4", "t", "127.0.0.1", "7002"));
	ASSERT_EQ(0, dial(&self->host, "4", "t", "127.0.0.1", 7002));
	EXPECT_EQ(0, session_end(&self->s));
	EXPECT_EQ(ECONNREFUSED, dial(&self->host, "4", "t", "127.0.0.1",
				     7002));
	ASSERT_EQ(0, session_start(&self->s, self->w, "again", NULL));
}

/* A device that takes more than 64 kB at once gets them in an odd packet. */
TEST_F(end, more_than_64_kb_at_once_leave)
{
	static const char on[] = "ip link set lo gso_max_size 190000";
	static const char off[] = "ip link set lo gso_max_size 65536";
	int port = server(&self->s, "1", "6", "t", "::1", "0");

	ASSERT_LT(0, port);
	ASSERT_EQ(0, system(on));
	ASSERT_EQ(0, dial(&self->s, "6", "t", "::1", port));
	EXPECT_EQ(0, ask(&self->s, "iaccept", "1", "2"));
	for (int i = 0; i < 20; i++) {
		EXPECT_EQ(0, ask(&self->s, "ipump", "9", text(MUCH)));
		EXPECT_EQ(0, ask(&self->s, "idrain", "2",
				 text(self->s.reply.value)));
	}
	EXPECT_TRUE(quiet(&self->s));
	EXPECT_EQ(0, system(off));
}

TEST_HARNESS_MAIN
