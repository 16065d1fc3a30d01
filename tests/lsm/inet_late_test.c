// SPDX-License-Identifier: GPL-2.0-only
/*
 * Who comes while a packet is under way: loopback is slow here. When it left
 * nobody held its port, when it arrives the host does. Or who comes in the
 * middle of a handshake, of which a listener that has too many keeps nothing:
 * any other one may end it.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
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

/* By any listener, and no cookie is asked for. */
#define OPENS_FAST "sysctl -qw net.ipv4.tcp_fastopen=0x603"
#define OPENS_BY_COOKIE "sysctl -qw net.ipv4.tcp_fastopen=3"
#define OPENS_SLOW "sysctl -qw net.ipv4.tcp_fastopen=1"

TEST_F(slow, nor_does_it_get_what_came_with_the_first_packet)
{
	for (int i = 0; i < 2; i++) {
		const char *family = ends[i][0], *near = ends[i][1];

		ASSERT_EQ(0, system(OPENS_FAST));
		ASSERT_EQ(0, system(SLOW));
		for (int own = 0; own < 2; own++) {
			struct session *who = own ? &self->s : &self->host;

			ASSERT_EQ(7005, server(&self->s, "1", family, "t",
					       near, "7005"));
			ASSERT_EQ(0, ask(&self->s, "isock", "2", family, "t"));
			ASSERT_EQ(0, ask(&self->s, "iopt", "2",
					 text(IPPROTO_TCP),
					 text(TCP_FASTOPEN_NO_COOKIE), "1"));
			EXPECT_EQ(0, ask(&self->s, "isend", "2", "x", near,
					 "7005", CONNECT_AND_SEND));
			ASSERT_EQ(0, ask(&self->s, "iclose", "1"));
			EXPECT_EQ(7005, server(who, "1", family, "t", near,
					       "7005"));
			EXPECT_EQ(own ? 0 : ETIMEDOUT,
				  ask(who, "iaccept", "1", "3", "3500"));
			if (own) {
				EXPECT_EQ(0, ask(who, "irecv", "3", "3000"));
				EXPECT_EQ(0, ask(who, "iclose", "3"));
			} else {
				EXPECT_TRUE(denied(&self->s, "connect", NULL,
						   NULL));
			}
			ASSERT_EQ(0, ask(who, "iclose", "1"));
			ASSERT_EQ(0, ask(&self->s, "iclose", "2"));
		}
		ASSERT_EQ(0, system(FAST));
		/* One's own listener asks for none: nobody has to wait. */
		ASSERT_EQ(0, system(OPENS_BY_COOKIE));
		ASSERT_EQ(7006, server(&self->s, "1", family, "t", near,
				       "7006"));
		EXPECT_EQ(0, ask(&self->s, "iopt", "1", text(IPPROTO_TCP),
				 text(TCP_FASTOPEN), "5"));
		for (int n = 0; n < 2; n++) {
			ASSERT_EQ(0, ask(&self->s, "isock", "2", family, "t"));
			ask(&self->s, "isend", "2", "x", near, "7006",
			    CONNECT_AND_SEND);
			EXPECT_EQ(0, ask(&self->s, "iaccept", "1", "3",
					 "500"));
			EXPECT_EQ(0, ask(&self->s, "iconnect", "2", near,
					 "7006"));
			EXPECT_EQ(0, ask(&self->s, "iclose", "3"));
		}
		ASSERT_EQ(0, ask(&self->s, "iclose", "1"));
		ASSERT_EQ(0, system(OPENS_SLOW));
	}
	EXPECT_TRUE(quiet(&self->s));
}

/* A client, in slot @n, that leaves the end of its handshake to its data. */
static int delays(struct session *s, const char *n, const char *family,
		  const char *near, const char *port)
{
	int err = ask(s, "isock", n, family, "t");

	if (!err)
		err = ask(s, "iopt", n, text(IPPROTO_TCP),
			  text(TCP_DEFER_ACCEPT), "1");
	return err ? err : ask(s, "iconnect", n, near, port);
}

/* Listens in slot 1, and has one in slot 8 who came half: that is too many. */
static int is_flooded(struct session *s, const char *family, const char *near,
		      const char *port)
{
	int err = ask(s, "isock", "1", family, "t");

	if (!err)
		err = ask(s, "iopt", "1", text(SOL_SOCKET), text(SO_REUSEADDR),
			  "1");
	if (!err)
		err = ask(s, "ibind", "1", near, port);
	if (!err)
		err = ask(s, "ilisten", "1", "0");
	return err ? err : delays(s, "8", family, near, port);
}

/* The client in slot 9 says a word; who should hear it is full, and gone. */
static int is_left(struct session *s, const char *family, const char *near,
		   const char *port)
{
	int err = is_flooded(s, family, near, port);

	if (!err)
		err = delays(s, "9", family, near, port);
	if (!err)
		err = ask(s, "isock", "7", family, "t");
	if (!err)
		err = ask(s, "iconnect", "7", near, port);
	if (!err)
		err = ask(s, "isend", "9", "secret");
	/* It says it less and less often. */
	if (!err && ask(s, "irecv", "9", "1500") != ETIMEDOUT)
		err = EALREADY;
	ask(s, "iclose", "1");
	ask(s, "iclose", "8");
	ask(s, "iclose", "7");
	return err;
}

/* Does @to, who has too many himself, come by the client of @from's? */
static bool takes_over(struct session *from, struct session *to,
		       const char *family, const char *near, const char *port)
{
	bool came = false;

	if (is_left(from, family, near, port))
		return false;
	if (is_flooded(to, family, near, port) ||
	    ask(to, "isock", "6", family, "t"))
		return false;
	ask(to, "isend", "6", "x", near, port, CONNECT_AND_SEND);
	ask(to, "iclose", "6");
	while (!came && !ask(to, "iaccept", "1", "3", "3000"))
		came = !ask(to, "irecv", "3", "300");
	return came;
}

TEST_F(slow, who_comes_into_a_handshake_does_not_end_it)
{
	for (int i = 0; i < 2; i++) {
		const char *family = ends[i][0], *near = ends[i][1];

		EXPECT_TRUE(takes_over(&self->host, &self->host, family, near,
				       "7010"));
		EXPECT_FALSE(takes_over(&self->s, &self->host, family, near,
					"7011"));
		EXPECT_FALSE(takes_over(&self->s, &self->other, family, near,
					"7012"));
		EXPECT_FALSE(takes_over(&self->host, &self->s, family, near,
					"7013"));
		EXPECT_TRUE(denied(&self->s, "accept", NULL, NULL));
		EXPECT_TRUE(takes_over(&self->host, &self->s, family, near,
				       "7003"));
	}
	EXPECT_TRUE(quiet(&self->s));
	EXPECT_TRUE(quiet(&self->other));
}

/* One's own have to come again, as to who takes no more at all. */
TEST_F(slow, a_handshake_waits_until_there_is_room)
{
	for (int i = 0; i < 2; i++) {
		const char *family = ends[i][0], *near = ends[i][1];

		ASSERT_EQ(0, is_flooded(&self->s, family, near, "7014"));
		ASSERT_EQ(0, ask(&self->s, "isock", "9", family, "t"));
		EXPECT_EQ(EINPROGRESS, ask(&self->s, "isend", "9", "x", near,
					   "7014", CONNECT_AND_SEND));
		EXPECT_EQ(0, ask(&self->s, "iaccept", "1", "2"));
		EXPECT_EQ(0, ask(&self->s, "iaccept", "1", "3", "4000"));
		EXPECT_EQ(0, ask(&self->s, "iconnect", "9", near, "7014"));
		EXPECT_EQ(0, ask(&self->s, "isend", "9", "x"));
		EXPECT_EQ(0, ask(&self->s, "irecv", "3"));
		ASSERT_EQ(0, ask(&self->s, "iclose", "1"));
	}
	EXPECT_TRUE(quiet(&self->s));
}

/*
 * One who would connect the other way round, there while the answer is under
 * way and gone before what follows, is nothing that is kept.
 */
TEST_F(slow, who_connects_the_other_way_keeps_nothing)
{
	for (int i = 0; i < 2; i++) {
		const char *family = ends[i][0], *near = ends[i][1];
		struct session *s = &self->s;

		ASSERT_EQ(0, ask(s, "isock", "1", family, "t"));
		ASSERT_EQ(0, ask(s, "iopt", "1", text(SOL_SOCKET),
				 text(SO_REUSEPORT), "1"));
		/* Who says nothing stays half. */
		ASSERT_EQ(0, ask(s, "iopt", "1", text(IPPROTO_TCP),
				 text(TCP_DEFER_ACCEPT), "9"));
		ASSERT_EQ(0, ask(s, "ibind", "1", near, "7015"));
		ASSERT_EQ(0, ask(s, "ilisten", "1", "0"));
		ASSERT_EQ(0, dial(s, family, "t", near, 7015));
		ASSERT_EQ(0, system(SLOW));
		ASSERT_EQ(0, ask(s, "isock", "2", family, "t"));
		EXPECT_EQ(0, ask(s, "ibind", "2", near, "7016"));
		EXPECT_EQ(EINPROGRESS, ask(s, "isend", "2", "x", near, "7015",
					   CONNECT_AND_SEND));
		EXPECT_EQ(ETIMEDOUT, ask(s, "irecv", "2", "800"));
		EXPECT_EQ(0, ask(s, "isock", "3", family, "t"));
		EXPECT_EQ(0, ask(s, "iopt", "3", text(SOL_SOCKET),
				 text(SO_REUSEPORT), "1"));
		EXPECT_EQ(0, ask(s, "ibind", "3", near, "7015"));
		EXPECT_EQ(0, ask(s, "iopt", "3", text(IPPROTO_TCP),
				 text(TCP_FASTOPEN_NO_COOKIE), "1"));
		EXPECT_EQ(0, ask(s, "iopt", "3", text(IPPROTO_TCP),
				 text(TCP_FASTOPEN_CONNECT), "1"));
		EXPECT_EQ(0, ask(s, "iconnect", "3", near, "7016"));
		EXPECT_EQ(ETIMEDOUT, ask(s, "irecv", "2", "600"));
		EXPECT_EQ(EALREADY, ask(s, "iconnect", "2", near, "7015"));
		for (int n = 1; n <= 3; n++)
			EXPECT_EQ(0, ask(s, "iclose", text(n)));
		ASSERT_EQ(0, system(FAST));
	}
	EXPECT_TRUE(quiet(&self->s));
}

TEST_HARNESS_MAIN
