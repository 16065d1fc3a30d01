// SPDX-License-Identifier: GPL-2.0-only
/*
 * A terminal that is asked to tells its whole foreground of each key, whoever
 * is in it; and one that is stopped keeps all waiting that write there, and no
 * key lets it go on. Nobody in a session asks, and all else is free.
 */
#define _GNU_SOURCE
#include <asm/unistd.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/seccomp.h>
#include <sys/ioctl.h>
#include <termios.h>

#include "../../policy-compiler/filter.h"
#include "kselftest_harness.h"

#define ALLOW SECCOMP_RET_ALLOW
#define PERM (SECCOMP_RET_ERRNO | EPERM)

static uint32_t call(int nr, uint64_t what, uint64_t value)
{
	size_t count;
	const struct sock_filter *f = filter_ready(0, &count);
	struct seccomp_data d = {
		.arch = AUDIT_ARCH_X86_64, .nr = nr,
		.args = { 0, what, value },
	};

	return filter_run(f, count, &d);
}

static uint32_t set(uint64_t what, uint64_t value)
{
	return call(__NR_fcntl, what, value);
}

TEST(a_terminal_is_not_stopped)
{
	static const uint64_t good[] = { TCOON, TCIOFF, TCION };
	size_t i;

	EXPECT_EQ(PERM, call(__NR_ioctl, TCXONC, TCOOFF));
	EXPECT_EQ(PERM, call(__NR_ioctl, 1ULL << 32 | TCXONC, TCOOFF));
	for (i = 0; i < ARRAY_SIZE(good); i++)
		EXPECT_EQ(ALLOW, call(__NR_ioctl, TCXONC, good[i]));
	/* What stands after it is looked at all the same, and no other call. */
	EXPECT_EQ(PERM, call(__NR_ioctl, TIOCSTI, TCOOFF));
	EXPECT_EQ(PERM, call(__NR_ioctl, 0x40086602, TCOOFF));
	EXPECT_EQ(ALLOW, call(__NR_ioctl, TCGETS, TCOOFF));
	EXPECT_EQ(ALLOW, call(__NR_ioctl, TCSBRK, TCOOFF));
}

TEST(no_signal_is_asked_for)
{
	static const uint64_t bad[] = {
		O_ASYNC, O_ASYNC | O_RDWR | O_NONBLOCK, UINT64_MAX,
		1ULL << 32 | O_ASYNC,
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		EXPECT_EQ(PERM, set(F_SETFL, bad[i]));
		/* The kernel does not look at the upper half. */
		EXPECT_EQ(PERM, set(1ULL << 32 | F_SETFL, bad[i]));
		EXPECT_EQ(ALLOW, set(F_GETFL, bad[i]));
		EXPECT_EQ(ALLOW, set(F_SETFD, bad[i]));
		EXPECT_EQ(ALLOW, set(F_DUPFD, bad[i]));
		/* What stands after it in the filter is looked at all the
		 * same. */
		EXPECT_EQ(SECCOMP_RET_ERRNO, set(F_SETOWN, bad[i]));
		EXPECT_EQ(PERM, set(1036 /* F_SET_RW_HINT */, bad[i]));
	}
}

TEST(all_else_of_a_descriptor_is_free)
{
	static const uint64_t good[] = {
		0, O_RDWR, O_NONBLOCK, O_APPEND | O_NONBLOCK | O_DIRECT,
		UINT64_MAX & ~(uint64_t)O_ASYNC, (uint64_t)O_ASYNC << 32,
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(good); i++) {
		EXPECT_EQ(ALLOW, set(F_SETFL, good[i]));
		EXPECT_EQ(PERM, set(F_SETSIG, good[i]));
		EXPECT_EQ(PERM, set(1036, good[i]));
	}
}

TEST_HARNESS_MAIN
