// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which sockets the filter lets through, against the decision that explain
 * gives: they are written twice, once as code of seccomp's.
 */
#include <asm/unistd.h>
#include <errno.h>
#include <linux/audit.h>
#include <linux/seccomp.h>
#include <sys/socket.h>

#include "../../policy-compiler/filter.h"
#include "../../policy-compiler/network.h"
#include "kselftest_harness.h"

static void sockets_agree(struct __test_metadata *_metadata, uint32_t net)
{
	static const int protocols[] = {
		0, 1, 2, 6, 15, 17, 33, 58, 132, 136, 143, 255, 256, 262, -1,
	};
	struct seccomp_data d = { .arch = AUDIT_ARCH_X86_64 };
	int family, type, wrong = 0;
	const struct sock_filter *f;
	size_t n, i;

	f = filter_ready(filter_flags(0, net), &n);
	for (family = -1; family < 48; family++)
	for (type = 0; type < 16; type++)
	for (i = 0; i < ARRAY_SIZE(protocols); i++) {
		uint32_t want = lh_socket_may(net, family, type, protocols[i]) ?
				SECCOMP_RET_ALLOW :
				SECCOMP_RET_ERRNO | EPERM;

		/* The kernel takes an int, and cuts the flags off a type. */
		d.args[0] = (uint32_t)family | 1ULL << 40;
		d.args[1] = type | SOCK_CLOEXEC | 1ULL << 33;
		d.args[2] = (uint32_t)protocols[i];
		d.nr = __NR_socket;
		wrong += filter_run(f, n, &d) != want;
		d.nr = __NR_socketpair;
		wrong += filter_run(f, n, &d) != want;
	}
	EXPECT_EQ(0, wrong) TH_LOG("net flags %#x", net);
}

TEST(sockets_are_as_the_decision_says)
{
	static const uint32_t nets[] = {
		0, LH_SESSION_LOOP_TCP, LH_SESSION_LOOP_UDP,
		LH_SESSION_LOOP_TCP | LH_SESSION_LOOP_UDP, LH_SESSION_PORTS,
		LH_SESSION_EGRESS, LH_SESSION_PUBLISH, LH_SESSION_ALLOW,
		LH_SESSION_EGRESS | LH_SESSION_LOOP_TCP,
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(nets); i++)
		sockets_agree(_metadata, nets[i]);
}

/* Should both be wrong in the same way. */
TEST(a_few_by_hand)
{
	static const struct {
		uint32_t kind;
		int args[3];
		bool may;
	} rows[] = {
		{ 0, { AF_UNIX, SOCK_SEQPACKET, 0 }, true },
		{ 0, { AF_INET, SOCK_STREAM, 0 }, false },
		{ 0, { AF_NETLINK, SOCK_RAW, 0 }, false },
		{ FILTER_TCP, { AF_INET, SOCK_STREAM, 6 }, true },
		{ FILTER_TCP, { AF_INET, SOCK_DGRAM, 0 }, false },
		{ FILTER_TCP, { AF_NETLINK, SOCK_RAW, 0 }, true },
		{ FILTER_UDP, { AF_INET6, SOCK_DGRAM, 0 }, true },
		{ FILTER_UDP, { AF_INET6, SOCK_STREAM, 0 }, false },
		{ FILTER_TCP | FILTER_UDP, { AF_INET, SOCK_RAW, 1 }, false },
		{ FILTER_TCP | FILTER_UDP, { AF_PACKET, SOCK_RAW, 0 }, false },
		{ FILTER_TCP | FILTER_UDP, { AF_ALG, 5, 0 }, false },
		{ FILTER_TCP | FILTER_UDP, { AF_VSOCK, 1, 0 }, false },
		{ FILTER_TCP | FILTER_UDP, { AF_INET, 5, 132 }, false },
		{ FILTER_TCP | FILTER_UDP, { AF_NETLINK, 3, 9 }, false },
	};
	const struct sock_filter *f;
	size_t n, i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct seccomp_data d = {
			.arch = AUDIT_ARCH_X86_64, .nr = __NR_socket,
			.args = { rows[i].args[0], rows[i].args[1],
				  rows[i].args[2] },
		};

		f = filter_ready(rows[i].kind, &n);
		EXPECT_EQ(rows[i].may ? SECCOMP_RET_ALLOW :
			  SECCOMP_RET_ERRNO | EPERM, filter_run(f, n, &d))
			TH_LOG("row %zu", i);
	}
}

TEST_HARNESS_MAIN
