// SPDX-License-Identifier: GPL-2.0-only
/*
 * Words for ports and destinations: each form, what is none, and sets of them
 * against a model of single addresses.
 */
#define _GNU_SOURCE
#include <string.h>

#include "compile_test.h"
#include "../../policy-compiler/net.h"

#include "kselftest_harness.h"

TEST(what_is_written_reads_back)
{
	static const char *const rows[][2] = {
		{ "10.0.0.0/8", NULL }, { "192.0.2.7", NULL },
		{ "192.0.2.7/32", "192.0.2.7" }, { "0.0.0.0/0", NULL },
		{ "192.0.2.7:443", NULL }, { "10.0.0.0/8:80-443", NULL },
		{ "10.0.0.0/8:80-80", "10.0.0.0/8:80" },
		{ "tcp/192.0.2.7:1-65535", NULL },
		{ "udp/10.0.0.0/8", NULL }, { "::/0", NULL },
		{ "2001:db8::1", NULL }, { "[2001:db8::1]", "2001:db8::1" },
		{ "[2001:db8::1]:443", NULL },
		{ "tcp/[2001:db8::/32]:8000-8010", NULL },
		{ "2001:DB8:0::/32", "2001:db8::/32" },
		/* Sockets of both kinds reach these: they are IPv4. */
		{ "::ffff:192.0.2.7", "192.0.2.7" },
		{ "::ffff:192.0.2.0/120", "192.0.2.0/24" },
		{ "[::ffff:0:0/96]:53", "0.0.0.0/0:53" },
	};
	struct policy_net n, again;
	char text[NET_TEXT_MAX];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		ASSERT_EQ(NULL, net_parse(rows[i][0], &n)) {
			TH_LOG("%s", rows[i][0]);
		}
		net_text(&n, text);
		EXPECT_STREQ(rows[i][1] ? rows[i][1] : rows[i][0], text);
		ASSERT_EQ(NULL, net_parse(text, &again));
		EXPECT_TRUE(net_same(&n, &again));
	}
}

TEST(what_is_no_destination)
{
	static const char *const rows[][2] = {
		{ "", "no address" }, { "127.1", "no address" },
		{ "010.0.0.1", "no address" }, { "0x7f.1", "name" },
		{ "256.0.0.1", "no address" }, { "10.0.0.0.1", "no address" },
		{ "10.0.0.1/8", "beyond its prefix" },
		{ "2001:db8::1/32", "beyond its prefix" },
		{ "::ffff:10.0.0.1/104", "beyond its prefix" },
		{ "10.0.0.0/33", "0 to 32" }, { "::/129", "0 to 128" },
		{ "10.0.0.0/", "0 to 32" }, { "10.0.0.0/08", "0 to 32" },
		{ "10.0.0.0/8/8", "0 to 32" }, { "10.0.0.0/-1", "0 to 32" },
		{ "fe80::1%lo", "zone" }, { "*", "0.0.0.0/0" },
		{ "*:443", "0.0.0.0/0" }, { "example.com", "name" },
		{ "*.example.com", "name" }, { "localhost:80", "name" },
		{ "tcp/example.com", "name" }, { "icmp/192.0.2.7", "name" },
		{ "192.0.2.7:0", "no port" }, { "192.0.2.7:65536", "no port" },
		{ "192.0.2.7:", "no port" }, { "192.0.2.7:1-", "no port" },
		{ "192.0.2.7:x", "no port" }, { "192.0.2.7:9-1", "smaller" },
		{ "192.0.2.7:1-2-3", "no port" }, { "192.0.2.7: 1", "no port" },
		{ "[192.0.2.7]:1", "brackets" }, { "[2001:db8::1", "bracket" },
		{ "[2001:db8::1]x", "bracket" }, { " 192.0.2.7", "no address" },
		{ "192.0.2.7 ", "no address" },
	};
	struct policy_net n;
	char big[4096];
	const char *why;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		why = net_parse(rows[i][0], &n);
		ASSERT_NE(NULL, why) {
			TH_LOG("%s", rows[i][0]);
		}
		EXPECT_NE(NULL, strstr(why, rows[i][1])) {
			TH_LOG("%s: %s", rows[i][0], why);
		}
	}
	memset(big, '1', sizeof(big) - 1);
	big[sizeof(big) - 1] = 0;
	EXPECT_NE(NULL, net_parse(big, &n));
}

/* A random block, few enough that pairs of them often meet. */
static struct policy_net block(uint64_t *seed)
{
	struct policy_net n = { .prefix = dice(seed, 9) };
	unsigned int i;

	n.addr[0] = 0xa0 | dice(seed, 16);
	for (i = n.prefix; i < 8; i++)
		n.addr[0] &= ~(0x80 >> i);
	n.lo = dice(seed, 4);
	n.hi = n.lo + dice(seed, 4);
	n.protocols = 1 + dice(seed, 3);
	return n;
}

static bool holds(const struct policy_net *n, unsigned int first,
		  unsigned int port, unsigned int protocol)
{
	unsigned int keep = 0xff00 >> n->prefix & 0xff;

	return (first & keep) == n->addr[0] && port >= n->lo &&
	       port <= n->hi && (protocol & n->protocols);
}

TEST(sets_agree_with_their_members)
{
	unsigned int round, x, meets = 0, covers = 0;
	struct policy_net a, b, m;
	uint64_t seed = 5;

	for (round = 0; round < 4000; round++) {
		bool all = true, any = false, met;

		a = block(&seed);
		b = block(&seed);
		met = net_meet(&a, &b, &m);
		for (x = 0; x < 256 * 8 * 2; x++) {
			unsigned int first = x & 255, port = x >> 8 & 7;
			unsigned int protocol = 1 + (x >> 11);
			bool in_a = holds(&a, first, port, protocol);
			bool in_b = holds(&b, first, port, protocol);

			all &= in_a || !in_b;
			any |= in_a && in_b;
			ASSERT_EQ(in_a && in_b, met &&
				  holds(&m, first, port, protocol));
		}
		ASSERT_EQ(any, met);
		ASSERT_EQ(all, net_covers(&a, &b));
		meets += met;
		covers += all;
	}
	EXPECT_LT(100, meets);
	EXPECT_LT(100, covers);
}

TEST(an_address_that_may_be_meant_with_a_port)
{
	static const char *const doubt[] = {
		"2001:db8::1:443", "tcp/2001:db8::1:443", "::1:80",
		"udp/fe80::1:2:53",
	};
	static const char *const plain[] = {
		"2001:db8::10", "[2001:db8::1]:443", "2001:db8::1",
		"2001:db8::1:ab", "2001:db8::1:443/128", "192.0.2.7:443",
		"1:2:3:4:5:6:7:80", "tcp/192.0.2.7:443", "::", "",
	};

	for (size_t i = 0; i < sizeof(doubt) / sizeof(doubt[0]); i++) {
		EXPECT_TRUE(net_port_in_doubt(doubt[i])) TH_LOG("%s", doubt[i]);
	}
	for (size_t i = 0; i < sizeof(plain) / sizeof(plain[0]); i++) {
		EXPECT_FALSE(net_port_in_doubt(plain[i]))
			TH_LOG("%s", plain[i]);
	}
}

TEST_HARNESS_MAIN
