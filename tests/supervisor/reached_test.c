// SPDX-License-Identifier: GPL-2.0-only
/*
 * The kernel's words about a process that it killed for memory: those of this
 * session alone, whatever its processes are called.
 */
#include <string.h>

#include "../../supervisor/reached.h"
#include "kselftest_harness.h"

#define ID "0123456789ab"
#define KILL(group, name)						\
	"6,1042,23456789,-;oom-kill:constraint=CONSTRAINT_MEMCG,"	\
	"nodemask=(null),cpuset=/,mems_allowed=0,oom_memcg=" group	\
	",task_memcg=" group ",task=" name ",pid=4711,uid=1000\n"
#define OURS "/lh/" ID

TEST(whom_it_killed)
{
	struct victim v;

	ASSERT_TRUE(reached_victim(KILL(OURS, "python3"), ID, &v));
	EXPECT_EQ(4711, v.pid);
	EXPECT_EQ(1000, v.uid);
	EXPECT_STREQ("python3", v.comm);
	/* below a delegated scope */
	EXPECT_TRUE(reached_victim(KILL("/user.slice" OURS, "a"), ID, &v));
}

TEST(a_name_is_only_a_name)
{
	struct victim v;

	ASSERT_TRUE(reached_victim(KILL(OURS, "x,pid=1,uid=0"), ID, &v));
	EXPECT_EQ(4711, v.pid);
	EXPECT_EQ(1000, v.uid);
	EXPECT_STREQ("x,pid=1,uid=0", v.comm);
	ASSERT_TRUE(reached_victim(KILL(OURS, ",task=,pid=1"), ID, &v));
	EXPECT_EQ(4711, v.pid);
	ASSERT_TRUE(reached_victim(KILL(OURS, ""), ID, &v));
	EXPECT_STREQ("", v.comm);
	/* longer than the kernel has them: cut */
	ASSERT_TRUE(reached_victim(KILL(OURS, "abcdefghijklmnopqr"), ID, &v));
	EXPECT_STREQ("abcdefghijklmno", v.comm);
}

TEST(another_line_is_none)
{
	static const char *const lines[] = {
		"", ";", "6,1,2,-;", "no semicolon",
		KILL("/lh/ba9876543210", "python3"), KILL("/", OURS),
		KILL(OURS "/below", "python3"), KILL("/lh/" ID "0", "a"),
		"6,1,2,-;python3 invoked oom-killer: gfp_mask=0x\n",
		"6,1,2,-;x" KILL(OURS, "python3"),
		"6,1,2,-;oom-kill:constraint=CONSTRAINT_MEMCG,oom_memcg=" OURS
		",task_memcg=" OURS ",task=a\n",
		"6,1,2,-;oom-kill:constraint=CONSTRAINT_MEMCG,oom_memcg=" OURS
		",task_memcg=" OURS ",task=a,pid=,uid=\n",
		"6,1,2,-;oom-kill:constraint=CONSTRAINT_MEMCG,oom_memcg=" OURS
		",task_memcg=" OURS ",task=a,uid=1,pid=1\n",
	};
	struct victim v;
	size_t i;

	for (i = 0; i < sizeof(lines) / sizeof(*lines); i++)
		EXPECT_FALSE(reached_victim(lines[i], ID, &v)) {
			TH_LOG("line %zu", i);
		}
}

TEST_HARNESS_MAIN
