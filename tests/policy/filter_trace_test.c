// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the grant of tracing opens in the filter, call by call.
 */
#include <asm/unistd.h>
#include <errno.h>
#include <linux/audit.h>
#include <linux/seccomp.h>

#include "../../policy-compiler/filter.h"
#include "kselftest_harness.h"

#define ALLOW SECCOMP_RET_ALLOW
#define PERM (SECCOMP_RET_ERRNO | EPERM)
#define NOSYS (SECCOMP_RET_ERRNO | ENOSYS)
#define NEWEST 470		/* first number that no kernel we know has */

/* Whom it reaches the programs judge. */
TEST(tracing_opens_its_calls_and_no_others)
{
	size_t count, bare_count;
	const struct sock_filter *f = filter_ready(FILTER_PTRACE, &count);
	const struct sock_filter *bare = filter_ready(0, &bare_count);
	uint32_t before;
	int nr;

	for (nr = 0; nr < NEWEST; nr++) {
		struct seccomp_data d = { .arch = AUDIT_ARCH_X86_64,
					  .nr = nr };
		bool opened = nr == __NR_ptrace || nr == __NR_kcmp ||
			nr == __NR_pidfd_getfd ||
			nr == __NR_process_vm_readv ||
			nr == __NR_process_vm_writev;

		before = filter_run(bare, bare_count, &d);
		EXPECT_EQ(opened ? ALLOW : before, filter_run(f, count, &d)) {
			TH_LOG("%d", nr);
		}
		EXPECT_TRUE(!opened || before == PERM);
		d.arch = AUDIT_ARCH_I386;
		EXPECT_EQ(PERM, filter_run(f, count, &d));
	}
	/* what a tracer had left out is no call */
	EXPECT_EQ(ALLOW, filter_run(f, count, &(struct seccomp_data){
		.arch = AUDIT_ARCH_X86_64, .nr = -1 }));
	EXPECT_EQ(PERM, filter_run(f, count, &(struct seccomp_data){
		.arch = AUDIT_ARCH_I386, .nr = -1 }));
	EXPECT_EQ(NOSYS, filter_run(bare, bare_count, &(struct seccomp_data){
		.arch = AUDIT_ARCH_X86_64, .nr = -1 }));
}

TEST_HARNESS_MAIN
