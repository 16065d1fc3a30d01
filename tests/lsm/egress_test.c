// SPDX-License-Identifier: GPL-2.0-only
/*
 * Destinations by address, port and protocol; what leaves is counted on a
 * device that leads nowhere. NET-01, NET-22, NET-34, NET-35, NET-37, NET-38.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "kselftest_harness.h"
#include "device.h"
#include "session.h"

#define RULES "\"allow\":[\"192.0.2.0/24:8000-8010\"," \
	"\"tcp/[2001:db8::/32]:8000\",\"udp/192.0.2.1:9000\"," \
	"\"0.0.0.0/0:8100\",\"10.1.0.0/16:8100\",\"127.0.0.1:8200\"," \
	"\"udp/[2001:db8::/64]:9000\",\"udp/192.0.2.63:9000\"]," \
	"\"deny\":[\"192.0.2.64/26\",\"192.0.2.1:8005\",\"127.0.0.7\"," \
	"\"127.0.0.0/8:2375\",\"[::1]:2375\"]"

FIXTURE(egress) {
	struct world *w;
	struct session s, host;
};

FIXTURE_VARIANT(egress) {
	const char *more;
};

FIXTURE_VARIANT_ADD(egress, rules) {
	.more = ",\"egress\":{" RULES "}",
};

FIXTURE_VARIANT_ADD(egress, all) {
	.more = ",\"egress\":{\"default\":\"allow\"," RULES "}",
};

FIXTURE_SETUP(egress)
{
	struct policy p = {
		.level = "network", .more = variant->more,
		.sandbox = ",\"allow_loopback\":true,"
			   "\"loopback_ports\":[\"2375-2376\"]",
	};

	ASSERT_EQ(0, device_make());
	self->w = world_make(TEST_USER);
	ASSERT_NE(NULL, self->w);
	ASSERT_EQ(0, policy_write(self->w, &p));
	ASSERT_EQ(0, session_start(&self->s, self->w, "s", NULL));
	ASSERT_EQ(0, twin_start(&self->host, self->w));
}

FIXTURE_TEARDOWN(egress)
{
	session_end(&self->host);
	EXPECT_EQ(0, session_end(&self->s));
	world_remove(self->w);
	device_remove();
}

static int try(struct session *s, const char *type, const char *addr,
	       const char *port)
{
	int err = ask(s, "isock", "9", strchr(addr, ':') ? "6" : "4", type);

	if (err)
		return err;
	return *type == 't' ? ask(s, "iconnect", "9", addr, port) :
	       ask(s, "isend", "9", "x", addr, port);
}

/* Open is what the kernel then says: nobody is there, or no answer comes. */
static bool is_open(int err)
{
	return err == 0 || err == ECONNREFUSED || err == ETIMEDOUT;
}

static const struct row {
	const char *type, *addr, *port;
	const char *rule;	/* NULL: open; "default": if that is deny */
} rows[] = {
	{ "t", "192.0.2.1", "8000", NULL },
	{ "t", "192.0.2.1", "8010", NULL },
	{ "t", "192.0.2.1", "7999", "default" },
	{ "t", "192.0.2.1", "8011", "default" },
	{ "t", "192.0.2.1", "8005", "/egress/deny/1" },
	{ "u", "192.0.2.1", "8005", "/egress/deny/1" },
	{ "u", "192.0.2.1", "8004", NULL },
	{ "u", "192.0.2.1", "9000", NULL },
	{ "t", "192.0.2.1", "9000", "default" },
	{ "t", "::ffff:192.0.2.1", "8001", NULL },
	{ "t", "::ffff:192.0.2.1", "8005", "/egress/deny/1" },
	{ "u", "192.0.2.63", "8000", NULL },
	{ "u", "192.0.2.64", "8000", "/egress/deny/0" },
	{ "t", "192.0.2.127", "8000", "/egress/deny/0" },
	{ "u", "192.0.2.128", "8000", NULL },
	{ "u", "::ffff:192.0.2.64", "8000", "/egress/deny/0" },
	{ "t", "2001:db8::1", "8000", NULL },
	{ "u", "2001:db8::1", "8000", "default" },
	{ "t", "2001:db8::1", "8001", "default" },
	{ "u", "198.51.100.1", "8100", NULL },
	{ "u", "198.51.100.1", "8101", "default" },
	{ "u", "10.1.2.3", "8100", NULL },
	{ "u", "10.2.2.3", "8100", "builtin:egress/10.0.0.0/8" },
	{ "t", "169.254.169.254", "8100", "builtin:egress/169.254.0.0/16" },
	{ "u", "224.0.0.251", "8100", "builtin:egress/224.0.0.0/4" },
	{ "u", "255.255.255.255", "8100", "builtin:egress/240.0.0.0/4" },
	{ "u", "192.168.1.1", "8100", "builtin:egress/192.168.0.0/16" },
	{ "t", "fd00:ec2::254", "80", "builtin:egress/fc00::/7" },
	{ "u", "fe80::1", "80", "builtin:egress/fe80::/10" },
	{ "u", "ff02::1", "80", "builtin:egress/ff00::/8" },
	{ "t", "::192.0.2.1", "8000", "builtin:egress/::/8" },
	{ "t", "64:ff9b::c000:201", "8000", "builtin:egress/64:ff9b::/96" },
	{ "t", "127.0.0.7", "8000", "/egress/deny/2" },
	{ "u", "127.0.0.7", "8000", "/egress/deny/2" },
	/* NET-22: loopback_ports has this port of the host's, too. */
	{ "t", "127.0.0.1", "2375", "/egress/deny/3" },
	{ "u", "127.0.0.1", "2375", "/egress/deny/3" },
	{ "t", "127.8.9.10", "2375", "/egress/deny/3" },
	{ "t", "::ffff:127.0.0.1", "2375", "/egress/deny/3" },
	{ "u", "::ffff:127.8.9.10", "2375", "/egress/deny/3" },
	{ "t", "::1", "2375", "/egress/deny/4" },
	{ "u", "::1", "2375", "/egress/deny/4" },
	{ "t", "127.0.0.1", "2376", NULL },
	{ "u", "127.0.0.1", "2376", NULL },
	{ "t", "127.8.9.10", "2376", NULL },
	{ "t", "::ffff:127.0.0.1", "2376", NULL },
	{ "t", "::1", "2376", NULL },
};

TEST_F(egress, each_destination_is_judged_and_no_refused_packet_leaves)
{
	bool all = strstr(variant->more, "default");

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct row *r = &rows[i];
		long before = left();
		int err = try(&self->s, r->type, r->addr, r->port);

		ASSERT_LE(0, before);
		if (!r->rule || (all && !strcmp(r->rule, "default"))) {
			EXPECT_TRUE(is_open(err)) {
				TH_LOG("%s %s %s: %d", r->type, r->addr,
				       r->port, err);
			}
			continue;
		}
		EXPECT_EQ(EACCES, err) {
			TH_LOG("%s %s %s", r->type, r->addr, r->port);
		}
		EXPECT_TRUE(denied(&self->s, *r->type == 't' ? "connect" :
				   "send", NULL, r->rule)) {
			TH_LOG("%s %s %s", r->type, r->addr, r->port);
		}
		EXPECT_EQ(before, left()) {
			TH_LOG("%s %s %s", r->type, r->addr, r->port);
		}
	}
	EXPECT_TRUE(quiet(&self->s));
}

/* The counter counts: the host's packets, and those that a rule lets out. */
TEST_F(egress, what_is_allowed_leaves)
{
	long before = left();

	EXPECT_EQ(0, try(&self->host, "u", "192.0.2.64", "8000"));
	EXPECT_LT(before, left());
	before = left();
	EXPECT_EQ(0, try(&self->s, "u", "192.0.2.63", "8000"));
	EXPECT_LT(before, left());
}

TEST_F(egress, a_server_beyond_answers)
{
	ASSERT_EQ(0, ask(&self->host, "isock", "1", "4", "t"));
	ASSERT_EQ(0, ask(&self->host, "ibind", "1", "192.0.2.1", "8000"));
	ASSERT_EQ(0, ask(&self->host, "ilisten", "1"));
	ASSERT_EQ(0, ask(&self->host, "isock", "2", "4", "u"));
	ASSERT_EQ(0, ask(&self->host, "ibind", "2", "192.0.2.1", "9000"));
	EXPECT_EQ(0, try(&self->s, "t", "192.0.2.1", "8000"));
	EXPECT_EQ(0, ask(&self->host, "iaccept", "1", "3"));
	EXPECT_EQ(0, ask(&self->host, "isend", "3", "hello"));
	EXPECT_EQ(0, ask(&self->s, "irecv", "9"));
	EXPECT_STREQ("hello", self->s.reply.text);
	EXPECT_EQ(0, try(&self->s, "u", "192.0.2.1", "9000"));
	EXPECT_EQ(0, ask(&self->host, "irecv", "2"));
	{
		char port[16];

		snprintf(port, sizeof(port), "%d", self->host.reply.value);
		EXPECT_EQ(0, ask(&self->host, "isend", "2", "world",
				 "192.0.2.1", port));
		EXPECT_EQ(0, ask(&self->s, "irecv", "9"));
		EXPECT_STREQ("world", self->s.reply.text);
	}
}

/* A rule for a part of loopback opens it; its own is open all the same. */
TEST_F(egress, a_part_of_loopback_is_the_hosts_where_a_rule_says_so)
{
	ASSERT_EQ(0, ask(&self->host, "isock", "1", "4", "t"));
	ASSERT_EQ(0, ask(&self->host, "ibind", "1", "127.0.0.1", "8200"));
	ASSERT_EQ(0, ask(&self->host, "ilisten", "1"));
	ASSERT_EQ(0, ask(&self->host, "isock", "2", "4", "t"));
	ASSERT_EQ(0, ask(&self->host, "ibind", "2", "127.0.0.1", "8100"));
	ASSERT_EQ(0, ask(&self->host, "ilisten", "2"));
	EXPECT_EQ(0, try(&self->s, "t", "127.0.0.1", "8200"));
	EXPECT_EQ(EACCES, try(&self->s, "t", "127.0.0.1", "8100"));
	ASSERT_EQ(0, ask(&self->s, "isock", "1", "4", "t"));
	ASSERT_EQ(0, ask(&self->s, "ibind", "1", "127.0.0.1", "0"));
	ASSERT_EQ(0, ask(&self->s, "ilisten", "1"));
}

/* NET-45: loopback's address, and another device to leave by. */
TEST_F(egress, a_device_is_no_way_around)
{
	static const char *const ends[] = { "::1", "127.0.0.1" };
	char port[16];

	for (int i = 0; i < 2; i++) {
		const char *family = i ? "4" : "6";
		long before;

		ASSERT_EQ(0, ask(&self->s, "isock", "1", family, "u"));
		ASSERT_EQ(0, ask(&self->s, "ibind", "1", ends[i], "0"));
		snprintf(port, sizeof(port), "%d", self->s.reply.value);
		ASSERT_EQ(0, ask(&self->s, "isock", "2", family, "u"));
		EXPECT_EQ(0, ask(&self->s, "isend", "2", "x", ends[i], port));
		ASSERT_EQ(0, ask(&self->s, "isock", "2", family, "u"));
		ASSERT_EQ(0, ask(&self->s, "idevice", "2", "d0"));
		before = left();
		EXPECT_NE(0, ask(&self->s, "isend", "2", "x", ends[i], port));
		EXPECT_EQ(before, left());
	}
}

/*
 * Its own sockets may say by which device a datagram leaves, loopback's too.
 * All of it is for the packet's program: what the task asks for is its own.
 */
static const struct steer {
	const char *name, *family;
	const char *level, *option;	/* NULL: IPV6_PKTINFO */
	const char *granted, *refused, *near;
} steers[] = {
	{ "IP_UNICAST_IF", "4", "0", "50", "192.0.2.63", "192.0.2.64",
	  "127.0.0.1" },
	{ "IPV6_UNICAST_IF", "6", "41", "76", "2001:db8::63", "fd00::1",
	  "::1" },
	{ "IPV6_PKTINFO", "6", NULL, NULL, "2001:db8::63", "fd00::1",
	  "::1" },
};

/* A datagram so, to @addr; through connect() if @first. */
static int steer(struct session *s, const struct steer *t, bool first,
		 const char *addr, const char *port)
{
	int err = ask(s, "isock", "9", t->family, "u");
	char index[16];

	snprintf(index, sizeof(index), "%d", htonl(if_nametoindex("d0")));
	if (!err)
		err = t->option ? ask(s, "iopt", "9", t->level, t->option,
				      index) :
		      ask(s, "ipktinfo", "9", "2001:db8::1", "d0");
	if (err)
		return -err;
	if (!first)
		return ask(s, "isend", "9", "x", addr, port);
	err = ask(s, "iconnect", "9", addr, port);
	return err ? err : ask(s, "isend", "9", "x");
}

TEST_F(egress, an_option_that_names_a_device_is_no_way_around)
{
	struct session *s = &self->s, *host = &self->host;
	char mine[16], theirs[16];

	for (size_t i = 0; i < ARRAY_SIZE(steers) * 2; i++) {
		const struct steer *t = &steers[i / 2];
		bool first = i & 1;
		long before = left();
		int err;

		ASSERT_EQ(0, ask(s, "isock", "1", t->family, "u"));
		ASSERT_EQ(0, ask(s, "ibind", "1", t->near, "0"));
		snprintf(mine, sizeof(mine), "%d", s->reply.value);
		ASSERT_EQ(0, ask(host, "isock", "1", t->family, "u"));
		ASSERT_EQ(0, ask(host, "ibind", "1", t->near, "0"));
		snprintf(theirs, sizeof(theirs), "%d", host->reply.value);
		EXPECT_EQ(EACCES, steer(s, t, first, t->refused, "8100"));
		/* A connect() is judged before, a datagram as a packet. */
		err = steer(s, t, first, t->near, theirs);
		EXPECT_TRUE(err == EACCES || (!first && err == EPERM)) {
			TH_LOG("%s: %d", t->name, err);
		}
		EXPECT_EQ(EPERM, steer(s, t, first, t->near, mine)) {
			TH_LOG("%s: %d", t->name, s->reply.err);
		}
		EXPECT_EQ(before, left()) {
			TH_LOG("%s", t->name);
		}
		for (int k = 0; k < 3; k++)
			EXPECT_TRUE(denied(s, NULL, NULL, NULL));
		EXPECT_TRUE(quiet(s));
		EXPECT_EQ(ETIMEDOUT, ask(host, "irecv", "1", "0"));
		/* Without it they arrive; the host's leaves by the device. */
		EXPECT_EQ(0, ask(s, "isock", "2", t->family, "u"));
		EXPECT_EQ(0, ask(s, "isend", "2", "x", t->near, mine));
		EXPECT_EQ(0, ask(s, "irecv", "1"));
		EXPECT_EQ(0, steer(host, t, first, t->near, theirs)) {
			TH_LOG("%s: %d", t->name, host->reply.err);
		}
		EXPECT_LT(before, left()) {
			TH_LOG("%s", t->name);
		}
		before = left();
		EXPECT_EQ(0, steer(s, t, first, t->granted, "9000")) {
			TH_LOG("%s: %d", t->name, s->reply.err);
		}
		EXPECT_LT(before, left()) {
			TH_LOG("%s", t->name);
		}
	}
}

TEST_HARNESS_MAIN
