// SPDX-License-Identifier: GPL-2.0-only
/*
 * A port that somebody of the host holds, whom no look-up finds: bound to a
 * device, with a peer of his own, or not yet listening. Shared with a session
 * it would be robbed, or overheard. What shares it, and when, is the socket's
 * to say.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <sys/socket.h>

#include "kselftest_harness.h"
#include "inet.h"

INET(share, LOOP);

#define ANY_PORT "0"

/* A socket of @type in slot @n that shares its port, @device or not. */
static int sharing(struct session *s, const char *n, const char *type,
		   const char *device)
{
	int err = ask(s, "isock", n, "4", type);

	if (!err)
		err = ask(s, "iopt", n, "1", text(*type == 'u' ? SO_REUSEADDR :
						  SO_REUSEPORT), "1");
	return err || !device ? err : ask(s, "idevice", n, device);
}

TEST_F(share, a_listener_that_is_bound_to_a_device_is_not_robbed)
{
	static const char *const devices[] = { NULL, "lo" };
	char port[16];

	ASSERT_EQ(0, sharing(&self->host, "1", "t", "lo"));
	ASSERT_EQ(0, ask(&self->host, "ibind", "1", "127.0.0.1", ANY_PORT));
	snprintf(port, sizeof(port), "%d", self->host.reply.value);
	ASSERT_EQ(0, ask(&self->host, "ilisten", "1"));
	for (int i = 0; i < 2; i++) {
		ASSERT_EQ(0, sharing(&self->s, "1", "t", devices[i]));
		ASSERT_EQ(0, ask(&self->s, "ibind", "1", "127.0.0.1", port));
		EXPECT_EQ(EADDRINUSE, ask(&self->s, "ilisten", "1"));
		EXPECT_TRUE(denied(&self->s, "listen", NULL, NULL));
		for (int k = 0; k < 6; k++) {
			EXPECT_EQ(0, dial(&self->host, "4", "t", "127.0.0.1",
					  atoi(port)));
			EXPECT_EQ(0, ask(&self->host, "iaccept", "1", "2"));
		}
	}
	/* Elsewhere there is room, and for two of its own. */
	for (int i = 1; i <= 2; i++) {
		ASSERT_EQ(0, sharing(&self->s, text(i), "t", devices[i - 1]));
		EXPECT_EQ(0, ask(&self->s, "ibind", text(i), "127.0.0.1",
				 "7003"));
		EXPECT_EQ(0, ask(&self->s, "ilisten", text(i)));
	}
	ASSERT_EQ(0, sharing(&self->s, "3", "t", NULL));
	EXPECT_EQ(0, ask(&self->s, "ibind", "3", "127.0.0.2", port));
	EXPECT_EQ(0, ask(&self->s, "ilisten", "3"));
	/* Another of the host's shares it. */
	ASSERT_EQ(0, sharing(&self->host, "3", "t", "lo"));
	EXPECT_EQ(0, ask(&self->host, "ibind", "3", "127.0.0.1", port));
	EXPECT_EQ(0, ask(&self->host, "ilisten", "3"));
	EXPECT_TRUE(quiet(&self->s));
}

TEST_F(share, who_does_not_listen_yet_has_its_port_to_itself)
{
	static const char *const at[] = { "127.0.0.1", "0.0.0.0" };

	for (int i = 0; i < 2; i++) {
		char port[16];

		ASSERT_EQ(0, sharing(&self->host, "1", "t", NULL));
		ASSERT_EQ(0, ask(&self->host, "ibind", "1", at[i], ANY_PORT));
		snprintf(port, sizeof(port), "%d", self->host.reply.value);
		ASSERT_EQ(0, sharing(&self->s, "1", "t", NULL));
		ASSERT_EQ(0, ask(&self->s, "ibind", "1", "127.0.0.1", port));
		EXPECT_EQ(EADDRINUSE, ask(&self->s, "ilisten", "1"));
		EXPECT_TRUE(denied(&self->s, "listen", NULL, NULL));
		ASSERT_EQ(0, ask(&self->host, "ilisten", "1"));
		EXPECT_EQ(EADDRINUSE, ask(&self->s, "ilisten", "1"));
		EXPECT_TRUE(denied(&self->s, "listen", NULL, NULL));
		for (int k = 0; k < 6; k++) {
			EXPECT_EQ(0, dial(&self->host, "4", "t", "127.0.0.1",
					  atoi(port)));
			EXPECT_EQ(0, ask(&self->host, "iaccept", "1", "2"));
		}
		/* A connection that is left over holds nothing. */
		EXPECT_EQ(0, ask(&self->host, "iclose", "1"));
		EXPECT_EQ(0, ask(&self->s, "ilisten", "1"));
		EXPECT_EQ(0, dial(&self->s, "4", "t", "127.0.0.1",
				  atoi(port)));
	}
	EXPECT_TRUE(quiet(&self->s));
}

/* Two may be bound where neither listens; the first that does has the port. */
TEST_F(share, nor_does_who_may_be_bound_beside_it)
{
	static const char *const at[] = { "127.0.0.1", "0.0.0.0" };
	const char *reuse = text(SO_REUSEADDR);

	for (int i = 0; i < 2; i++) {
		char port[16];

		ASSERT_EQ(0, ask(&self->host, "isock", "1", "4", "t"));
		ASSERT_EQ(0, ask(&self->host, "iopt", "1", "1", reuse, "1"));
		ASSERT_EQ(0, ask(&self->host, "ibind", "1", at[i], ANY_PORT));
		snprintf(port, sizeof(port), "%d", self->host.reply.value);
		ASSERT_EQ(0, ask(&self->s, "isock", "1", "4", "t"));
		ASSERT_EQ(0, ask(&self->s, "iopt", "1", "1", reuse, "1"));
		ASSERT_EQ(0, ask(&self->s, "ibind", "1", "127.0.0.1", port));
		EXPECT_EQ(EADDRINUSE, ask(&self->s, "ilisten", "1"));
		EXPECT_TRUE(denied(&self->s, "listen", NULL, NULL));
		ASSERT_EQ(0, ask(&self->host, "ilisten", "1"));
		EXPECT_EQ(0, dial(&self->host, "4", "t", "127.0.0.1",
				  atoi(port)));
		EXPECT_EQ(0, ask(&self->host, "iaccept", "1", "2"));
		/* What is connected there is in nobody's way. */
		EXPECT_EQ(0, ask(&self->host, "iclose", "1"));
		EXPECT_EQ(0, ask(&self->s, "ilisten", "1"));
		EXPECT_EQ(0, dial(&self->s, "4", "t", "127.0.0.1",
				  atoi(port)));
		EXPECT_EQ(0, ask(&self->s, "iaccept", "1", "3"));
		/* It may start again beside one of its own connections. */
		ASSERT_EQ(0, ask(&self->s, "iclose", "1"));
		ASSERT_EQ(0, ask(&self->s, "isock", "1", "4", "t"));
		ASSERT_EQ(0, ask(&self->s, "iopt", "1", "1", reuse, "1"));
		EXPECT_EQ(0, ask(&self->s, "ibind", "1", "127.0.0.1", port));
		EXPECT_EQ(0, ask(&self->s, "ilisten", "1"));
	}
	EXPECT_TRUE(quiet(&self->s));
}

/* Once the kernel has chosen a port it is its own, whatever is asked then. */
TEST_F(share, a_port_of_the_kernels_choice_is_shared_with_nobody)
{
	const char *reuse = text(SO_REUSEADDR);
	char port[16];
	int own = server(&self->s, "1", "4", "u", "127.0.0.1", ANY_PORT);

	ASSERT_LT(0, own);
	ASSERT_EQ(0, ask(&self->s, "isock", "2", "4", "u"));
	ASSERT_EQ(0, ask(&self->s, "iconnect", "2", "127.0.0.1", text(own)));
	snprintf(port, sizeof(port), "%d", self->s.reply.value);
	EXPECT_EQ(0, ask(&self->s, "iopt", "2", "1", reuse, "1"));
	EXPECT_EQ(0, ask(&self->s, "isend", "2", "x"));
	EXPECT_EQ(0, ask(&self->s, "irecv", "1"));
	ASSERT_EQ(0, sharing(&self->host, "2", "u", NULL));
	EXPECT_EQ(EADDRINUSE, ask(&self->host, "ibind", "2", "127.0.0.1",
				  port));
	/* Nor can it get another one so. */
	EXPECT_EQ(0, ask(&self->s, "iconnect", "2", "unspec", "0"));
	EXPECT_EQ(EACCES, ask(&self->s, "iconnect", "2", "127.0.0.1",
			      text(own)));
	EXPECT_TRUE(denied(&self->s, "connect", NULL, NULL));
	/* Who has no peer gets a port before he is told that. */
	ASSERT_EQ(0, sharing(&self->s, "2", "u", NULL));
	EXPECT_EQ(EACCES, ask(&self->s, "isend", "2", "x"));
	EXPECT_TRUE(denied(&self->s, "send", NULL, NULL));
	ASSERT_EQ(0, ask(&self->s, "isock", "2", "4", "u"));
	EXPECT_EQ(EDESTADDRREQ, ask(&self->s, "isend", "2", "x"));
	/* A port that it named is shared among its own, now and later. */
	ASSERT_EQ(0, sharing(&self->s, "2", "u", NULL));
	EXPECT_EQ(0, ask(&self->s, "ibind", "2", "127.0.0.1", "7003"));
	ASSERT_EQ(0, ask(&self->s, "isock", "3", "4", "u"));
	EXPECT_EQ(EADDRINUSE, ask(&self->s, "ibind", "3", "127.0.0.1",
				  "7003"));
	EXPECT_EQ(0, ask(&self->s, "iopt", "3", "1", reuse, "1"));
	EXPECT_EQ(0, ask(&self->s, "ibind", "3", "127.0.0.1", "7003"));
	EXPECT_TRUE(quiet(&self->s));
}

TEST_F(share, datagrams_for_a_device_are_not_tapped)
{
	static const char *const devices[] = { NULL, "lo" };
	char port[16];

	ASSERT_EQ(0, sharing(&self->host, "1", "u", "lo"));
	ASSERT_EQ(0, ask(&self->host, "ibind", "1", "0.0.0.0", ANY_PORT));
	snprintf(port, sizeof(port), "%d", self->host.reply.value);
	for (int i = 0; i < 2; i++) {
		ASSERT_EQ(0, sharing(&self->s, "1", "u", devices[i]));
		EXPECT_EQ(EADDRINUSE, ask(&self->s, "ibind", "1", "127.0.0.1",
					  port));
		EXPECT_TRUE(denied(&self->s, "bind", NULL, NULL));
		EXPECT_EQ(0, dial(&self->host, "4", "u", "127.0.0.1",
				  atoi(port)));
		EXPECT_EQ(0, ask(&self->host, "isend", "9", "x"));
		EXPECT_EQ(0, ask(&self->host, "irecv", "1"));
		EXPECT_EQ(0, ask(&self->s, "ibind", "1", "127.0.0.1", "7003"));
	}
	ASSERT_EQ(0, sharing(&self->host, "2", "u", NULL));
	EXPECT_EQ(0, ask(&self->host, "ibind", "2", "127.0.0.1", port));
	EXPECT_TRUE(quiet(&self->s));
}

/* What the host's server answers to its client is for that alone. */
TEST_F(share, an_answer_to_another_client_is_not_tapped)
{
	char port[16];
	int from;

	ASSERT_EQ(7001, server(&self->host, "1", "4", "u", "127.0.0.1",
			       "7001"));
	ASSERT_EQ(0, sharing(&self->host, "2", "u", NULL));
	ASSERT_EQ(0, ask(&self->host, "ibind", "2", "127.0.0.1", ANY_PORT));
	snprintf(port, sizeof(port), "%d", self->host.reply.value);
	ASSERT_EQ(0, ask(&self->host, "iconnect", "2", "127.0.0.1", "7001"));
	ASSERT_EQ(0, sharing(&self->s, "1", "u", NULL));
	EXPECT_EQ(EADDRINUSE, ask(&self->s, "ibind", "1", "127.0.0.1", port));
	EXPECT_TRUE(denied(&self->s, "bind", NULL, NULL));
	EXPECT_EQ(0, ask(&self->s, "ibind", "1", "127.0.0.2", port));
	EXPECT_EQ(0, ask(&self->s, "iconnect", "1", "127.0.0.1", "7001"));
	EXPECT_EQ(0, ask(&self->host, "isend", "2", "q"));
	EXPECT_EQ(0, ask(&self->host, "irecv", "1"));
	from = self->host.reply.value;
	EXPECT_EQ(0, ask(&self->host, "isend", "1", "a", "127.0.0.1",
			 text(from)));
	EXPECT_EQ(0, ask(&self->host, "irecv", "2"));
	EXPECT_EQ(ETIMEDOUT, ask(&self->s, "irecv", "1", "50"));
	EXPECT_TRUE(quiet(&self->s));
}

TEST_HARNESS_MAIN
