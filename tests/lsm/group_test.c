// SPDX-License-Identifier: GPL-2.0-only
/*
 * Multicast groups, and options that lead elsewhere. Joining sends a report by
 * itself, so what is counted is what leaves that names the group.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "kselftest_harness.h"
#include "device.h"
#include "inet.h"

#define RULES ",\"egress\":{\"allow\":[\"239.1.0.0/16\"," \
	"\"udp/[ff05::1:0/112]\",\"udp/239.9.9.9:5353\",\"192.0.2.0/24\"]," \
	"\"deny\":[\"239.1.9.0/24\"]}"

FIXTURE(group) {
	struct world *w;
	struct session s, host;
	int wire;		/* sees what leaves by d0 */
};

FIXTURE_SETUP(group)
{
	struct policy p = {
		.level = "network", .more = RULES,
		.sandbox = ",\"allow_loopback\":true",
	};
	struct sockaddr_ll at = {
		.sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_ALL),
	};
	int given = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	ASSERT_EQ(0, device_make());
	ASSERT_EQ(0, system("ip link set d0 multicast on"));
	self->w = world_make(TEST_USER);
	ASSERT_NE(NULL, self->w);
	ASSERT_EQ(0, policy_write(self->w, &p));
	session_stderr = given;		/* made by somebody else */
	ASSERT_EQ(0, session_start(&self->s, self->w, "s", NULL));
	close(given);
	ASSERT_EQ(0, twin_start(&self->host, self->w));
	self->wire = socket(AF_PACKET, SOCK_DGRAM | SOCK_CLOEXEC |
			    SOCK_NONBLOCK, htons(ETH_P_ALL));
	at.sll_ifindex = if_nametoindex("d0");
	ASSERT_EQ(0, bind(self->wire, (struct sockaddr *)&at, sizeof(at)));
}

FIXTURE_TEARDOWN(group)
{
	close(self->wire);
	session_end(&self->host);
	EXPECT_EQ(0, session_end(&self->s));
	world_remove(self->w);
	device_remove();
}

/* Does a packet that names @group leave, of those up to @ms from now? */
static bool reported(int wire, const char *group, int ms)
{
	int family = strchr(group, ':') ? AF_INET6 : AF_INET;
	struct pollfd p = { .fd = wire, .events = POLLIN };
	struct timespec now, end;
	unsigned char want[16];
	char buf[2048];

	inet_pton(family, group, want);
	clock_gettime(CLOCK_MONOTONIC, &end);
	end.tv_sec += ms / 1000;
	do {
		ssize_t n = recv(wire, buf, sizeof(buf), 0);

		if (n > 0 && memmem(buf, n, want, family == AF_INET ? 4 : 16))
			return true;
		if (n <= 0 && poll(&p, 1, ms ? 100 : 0) < 0)
			return false;
		clock_gettime(CLOCK_MONOTONIC, &now);
		if (n <= 0 && !ms)
			return false;
	} while (!ms || now.tv_sec < end.tv_sec);
	return false;
}

static int join(struct session *s, const char *how, const char *group,
		const char *device)
{
	int err = ask(s, "isock", "9", strstr(how, "six") ? "6" : "4", "u");

	return err ? err : ask(s, "ijoin", "9", how, group, device);
}

static const struct row {
	const char *how, *granted;
	const char *refused[2];	/* by default, and by a rule */
} rows[] = {
	{ "mreq", "239.1.0.1", { "239.2.0.1", "239.1.9.1" } },
	{ "mreqn", "239.1.0.2", { "224.0.0.251", "239.1.9.2" } },
	{ "source", "239.1.0.3", { "232.2.0.3", "239.1.9.3" } },
	{ "group", "239.1.0.4", { "239.2.0.4", "239.1.9.4" } },
	{ "group_source", "239.1.0.5", { "239.2.0.5", "239.1.9.5" } },
	{ "six", "ff05::1:6", { "ff02::6", "ff05::2:6" } },
	{ "six_group", "ff05::1:7", { "ff02::7", "ff05::2:7" } },
	{ "six_source", "ff05::1:8", { "ff0e::8", "ff05::2:8" } },
};

TEST_F(group, a_group_is_joined_where_datagrams_may_go)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows) * 2; i++) {
		const struct row *r = &rows[i / 2];
		const char *group = r->refused[i % 2];
		struct denial d;

		EXPECT_EQ(EACCES, join(&self->s, r->how, group, "d0")) {
			TH_LOG("%s %s", r->how, group);
		}
		ASSERT_EQ(0, denial_next(&self->s, &d));
		EXPECT_STREQ("join", d.operation);
		EXPECT_STREQ("egress", d.mechanism);
		EXPECT_STREQ("cgroup_setsockopt", d.hook);
		EXPECT_STREQ(group, d.address);
		EXPECT_EQ(1, d.count);
		EXPECT_EQ(0, join(&self->s, r->how, group, "lo")) {
			TH_LOG("%s %s", r->how, group);
		}
	}
	EXPECT_TRUE(quiet(&self->s));
	for (size_t i = 0; i < ARRAY_SIZE(rows) * 2; i++) {
		const char *group = rows[i / 2].refused[i % 2];

		EXPECT_FALSE(reported(self->wire, group, i ? 0 : 2000)) {
			TH_LOG("%s", group);
		}
	}
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct row *r = &rows[i];

		EXPECT_EQ(0, join(&self->s, r->how, r->granted, "d0")) {
			TH_LOG("%s %s", r->how, r->granted);
		}
		EXPECT_TRUE(reported(self->wire, r->granted, 10000)) {
			TH_LOG("%s %s", r->how, r->granted);
		}
		EXPECT_EQ(0, join(&self->host, r->how, r->refused[0], "d0"));
		EXPECT_TRUE(reported(self->wire, r->refused[0], 10000)) {
			TH_LOG("%s %s", r->how, r->refused[0]);
		}
	}
	EXPECT_TRUE(quiet(&self->s));
}

/* A rule with a port is for the datagrams that come to this port. */
TEST_F(group, a_rule_with_a_port_asks_for_the_sockets_own)
{
	EXPECT_EQ(EACCES, join(&self->s, "mreqn", "239.9.9.9", "d0"));
	EXPECT_TRUE(denied(&self->s, "join", NULL, NULL));
	ASSERT_EQ(0, ask(&self->s, "isock", "9", "4", "u"));
	ASSERT_EQ(0, ask(&self->s, "ibind", "9", "127.0.0.1", "5353"));
	EXPECT_EQ(0, ask(&self->s, "ijoin", "9", "mreqn", "239.9.9.9", "d0"));
	EXPECT_TRUE(quiet(&self->s));
}

/* What the program of the cgroup does not see is not let through. */
TEST_F(group, a_socket_that_was_given_joins_nothing)
{
	ASSERT_EQ(0, ask(&self->s, "iadopt", "8", "2"));
	for (size_t i = 0; i < 5; i++) {
		struct denial d;

		EXPECT_EQ(EACCES, ask(&self->s, "ijoin", "8", rows[i].how,
				      rows[i].granted, "d0"));
		ASSERT_EQ(0, denial_next(&self->s, &d));
		EXPECT_STREQ("option", d.operation);
		EXPECT_STREQ("peer", d.reason);
		EXPECT_STREQ("socket_setsockopt", d.hook);
	}
	EXPECT_EQ(0, ask(&self->s, "isend", "8", "x", "192.0.2.63", "80"));
	EXPECT_FALSE(reported(self->wire, rows[0].granted, 0));
	EXPECT_TRUE(quiet(&self->s));
}

static const struct option {
	const char *family, *type;
	int level, name;
	int want;
} options[] = {
	{ "6", "u", IPPROTO_IPV6, 6, EACCES },	/* IPV6_2292PKTOPTIONS */
	{ "6", "u", IPPROTO_IPV6, 32, EACCES },	/* IPV6_FLOWLABEL_MGR */
	{ "6", "u", IPPROTO_IPV6, IPV6_HOPOPTS, EACCES },
	{ "6", "t", IPPROTO_IPV6, IPV6_RTHDR, EACCES },
	{ "6", "t", IPPROTO_IPV6, IPV6_DSTOPTS, EACCES },
	{ "4", "t", IPPROTO_IP, IP_OPTIONS, EACCES },
	{ "6", "u", IPPROTO_IP, IP_OPTIONS, EACCES },
	/* The kernel asks for a capability that no session has. */
	{ "4", "t", IPPROTO_IP, IP_TRANSPARENT, EPERM },
	{ "6", "t", IPPROTO_IPV6, IPV6_TRANSPARENT, EPERM },
	{ "4", "t", IPPROTO_TCP, TCP_REPAIR, EPERM },
	{ "4", "t", SOL_SOCKET, SO_MARK, EPERM },
	{ "4", "u", IPPROTO_IP, IP_TOS, 0 },
	{ "4", "u", IPPROTO_IP, IP_MULTICAST_TTL, 0 },
	{ "4", "u", IPPROTO_IP, IP_FREEBIND, 0 },
	{ "6", "u", IPPROTO_IPV6, IPV6_V6ONLY, 0 },
	{ "6", "u", IPPROTO_IPV6, IPV6_TCLASS, 0 },
	{ "6", "u", IPPROTO_IPV6, IPV6_RECVPKTINFO, 0 },
	{ "4", "t", IPPROTO_TCP, TCP_NODELAY, 0 },
	{ "4", "t", SOL_SOCKET, SO_REUSEADDR, 0 },
};

/* NET-45 */
TEST_F(group, no_option_leads_elsewhere)
{
	for (size_t i = 0; i < ARRAY_SIZE(options); i++) {
		const struct option *o = &options[i];

		ASSERT_EQ(0, ask(&self->s, "isock", "9", o->family, o->type));
		EXPECT_EQ(o->want, ask(&self->s, "iopt", "9", text(o->level),
				       text(o->name), "1")) {
			TH_LOG("%d %d", o->level, o->name);
		}
		if (o->want == EACCES) {
			EXPECT_TRUE(denied(&self->s, NULL, NULL, NULL)) {
				TH_LOG("%d %d", o->level, o->name);
			}
		}
		EXPECT_TRUE(quiet(&self->s));
	}
	EXPECT_EQ(EACCES, join(&self->s, "six_anycast", "2001:db8::9", "d0"));
	EXPECT_TRUE(denied(&self->s, "join", NULL, NULL));
	/* An address that is not there may be bound to; not by a session. */
	ASSERT_EQ(0, ask(&self->s, "isock", "9", "4", "t"));
	ASSERT_EQ(0, ask(&self->s, "iopt", "9", text(IPPROTO_IP),
			 text(IP_FREEBIND), "1"));
	EXPECT_EQ(EACCES, ask(&self->s, "ibind", "9", "198.51.100.1", "0"));
	/* A device is no way around, and is a way to what is granted. */
	ASSERT_EQ(0, ask(&self->s, "isock", "9", "4", "u"));
	ASSERT_EQ(0, ask(&self->s, "idevice", "9", "d0"));
	EXPECT_EQ(EACCES, ask(&self->s, "isend", "9", "x", "198.51.100.1",
			      "80"));
	EXPECT_FALSE(reported(self->wire, "198.51.100.1", 0));
	EXPECT_EQ(0, ask(&self->s, "isend", "9", "x", "192.0.2.63", "80"));
	EXPECT_TRUE(reported(self->wire, "192.0.2.63", 2000));
}

/* A group that is named may be sent to, joined or not. */
TEST_F(group, a_datagram_to_a_group_is_judged_as_any_other)
{
	ASSERT_EQ(0, ask(&self->s, "isock", "9", "4", "u"));
	EXPECT_EQ(EACCES, ask(&self->s, "isend", "9", "x", "239.2.0.1", "80"));
	EXPECT_TRUE(denied(&self->s, "send", NULL, NULL));
	EXPECT_EQ(0, ask(&self->s, "isend", "9", "x", "239.1.0.1", "80"));
	EXPECT_TRUE(reported(self->wire, "239.1.0.1", 2000));
	EXPECT_FALSE(reported(self->wire, "239.2.0.1", 0));
}

TEST_HARNESS_MAIN
