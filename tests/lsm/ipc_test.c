// SPDX-License-Identifier: GPL-2.0-only
/*
 * What processes share by a name of its own: System V objects, message queues,
 * /dev/shm. A session has its own and sees no others; when it is over, nothing
 * of it is left, however it ended (PROC-32).
 */
#define _GNU_SOURCE
#include <signal.h>
#include <sys/ipc.h>
#include <sys/mount.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/stat.h>

#include "../../bpf/abi.h"
#include "kselftest_harness.h"
#include "twins.h"

TWINS(ipc);

#define KEY "0x4c48"

static const struct kind {
	const char *get, *control;
	const char *use[3];	/* operations with the object's number */
	const char *listing;	/* commands that go through all there are */
	const char *any;
} kinds[] = {
	{ "shmget", "shmctl", { "shmat" }, "13", "15" },
	{ "semget", "semctl", { "semop" }, "18", "20" },
	{ "msgget", "msgctl", { "msgsnd", "msgrcv" }, "11", "13" },
};

/* On which a number depends: bpf refuses, the kernel no longer knows it. */
static bool refused(int err)
{
	return err == EACCES || err == EPERM;
}

static int make(struct session *s, const struct kind *k, const char *key,
		char id[16])
{
	int err = ask(s, k->get, key, "01000");	/* IPC_CREAT */

	sprintf(id, "%d", s->reply.value);
	return err;
}

/* The object's place in the kernel's table, which *_STAT takes. */
static void index_of(const char *id, char at[16])
{
	sprintf(at, "%d", atoi(id) & 0x7fff);
}

TEST_F(ipc, objects_of_others_are_neither_found_nor_used)
{
	char id[16], index[16];

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		const struct kind *k = &kinds[i];

		ASSERT_EQ(0, make(&self->twin, k, KEY, id));
		EXPECT_EQ(EACCES, ask(&self->s, k->get, KEY)) {
			TH_LOG("%s", k->get);
		}
		EXPECT_TRUE(denied(&self->s, "ipc", NULL, NULL));
		EXPECT_EQ(EACCES, ask(&self->s, k->get, KEY, "01000"));
		EXPECT_TRUE(denied(&self->s, "ipc", NULL, NULL));
		for (int u = 0; u < 3 && k->use[u]; u++) {
			EXPECT_EQ(EACCES, ask(&self->s, k->use[u], id, "x")) {
				TH_LOG("%s", k->use[u]);
			}
			EXPECT_TRUE(denied(&self->s, "ipc", NULL, NULL));
		}
		/* IPC_STAT, IPC_SET, IPC_RMID */
		for (const char *const *cmd = (const char *const[]){
			     "2", "1", "0", NULL }; *cmd; cmd++) {
			EXPECT_TRUE(refused(ask(&self->s, k->control, id,
						*cmd))) {
				TH_LOG("%s %s", k->control, *cmd);
			}
			EXPECT_TRUE(denied(&self->s, "ipc", NULL, NULL));
		}
		/* what lists all of them passes them over in silence */
		index_of(id, index);
		EXPECT_EQ(EACCES, ask(&self->s, k->control, index,
				      k->listing));
		EXPECT_EQ(EACCES, ask(&self->s, k->control, index, k->any));
		EXPECT_TRUE(quiet(&self->s));
		EXPECT_EQ(0, ask(&self->twin, k->control, index, k->listing));
		EXPECT_EQ(0, ask(&self->twin, k->control, id, "2"));
		EXPECT_EQ(0, ask(&self->twin, k->get, KEY));
		EXPECT_EQ(0, ask(&self->twin, k->control, id, "0"));
	}
}

TEST_F(ipc, shared_memory_of_others_is_not_read)
{
	char id[16];

	ASSERT_EQ(0, make(&self->twin, &kinds[0], KEY, id));
	ASSERT_EQ(0, ask(&self->twin, "shmat", id, "SHMSECRET"));
	EXPECT_EQ(EACCES, ask(&self->s, "shmat", id));
	EXPECT_EQ(0, ask(&self->twin, "shmat", id));
	EXPECT_STREQ("SHMSECRET", self->twin.reply.text);
	EXPECT_EQ(EACCES, ask(&self->s, "open", "/proc/sysvipc/shm", "r"));
	EXPECT_EQ(0, ask(&self->twin, "open", "/proc/sysvipc/shm", "r"));
	EXPECT_EQ(0, ask(&self->twin, "shmctl", id, "0"));
}

TEST_F(ipc, its_own_objects_work_also_from_its_children)
{
	char id[16], index[16];

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		const struct kind *k = &kinds[i];

		/* by a key, as programs that do not know each other do */
		ASSERT_EQ(0, make(&self->s, k, KEY, id));
		EXPECT_EQ(0, ask(&self->s, "child", k->get, KEY));
		EXPECT_EQ(0, ask(&self->s, k->control, id, "2"));
		index_of(id, index);
		EXPECT_EQ(0, ask(&self->s, k->control, index, k->listing));
		EXPECT_EQ(0, ask(&self->s, "daemon", k->control, id, "2"));
		if (i == 1)
			EXPECT_EQ(0, ask(&self->s, "semctl", id, "16"));
		for (int u = 0; u < 3 && k->use[u]; u++) {
			EXPECT_EQ(0, ask(&self->s, "child", k->use[u], id,
					 "hello")) {
				TH_LOG("%s", k->use[u]);
			}
		}
		/* SHM_INFO, SEM_INFO, MSG_INFO, and IPC_INFO: of the system */
		EXPECT_EQ(0, ask(&self->s, k->control, "0",
				 i == 0 ? "14" : i == 1 ? "19" : "12"));
		EXPECT_EQ(0, ask(&self->s, k->control, "0", "3"));
		EXPECT_EQ(0, ask(&self->s, k->control, id, "0"));
		/* without a key: IPC_PRIVATE */
		ASSERT_EQ(0, make(&self->s, k, "0", id));
		EXPECT_EQ(0, ask(&self->s, k->use[0], id, "hello"));
		EXPECT_EQ(0, ask(&self->s, k->control, id, "0"));
	}
	EXPECT_TRUE(quiet(&self->s));
}

TEST_F(ipc, a_freed_object_is_nobodys)
{
	char id[16];

	for (int i = 0; i < 50; i++) {
		ASSERT_EQ(0, make(&self->s, &kinds[1], "0", id));
		ASSERT_EQ(0, ask(&self->s, "semctl", id, "0"));
		ASSERT_EQ(0, make(&self->twin, &kinds[1], "0", id));
		EXPECT_EQ(EACCES, ask(&self->s, "semop", id));
		ASSERT_EQ(0, ask(&self->twin, "semctl", id, "0"));
	}
}

TEST_F(ipc, another_session_has_its_own)
{
	struct session other;
	char id[16];

	ASSERT_EQ(0, session_start(&other, self->w, "other", NULL));
	ASSERT_EQ(0, make(&self->s, &kinds[0], KEY, id));
	EXPECT_EQ(EACCES, ask(&other, "shmget", KEY));
	EXPECT_EQ(EACCES, ask(&other, "shmat", id));
	EXPECT_NE(0, ask(&other, "shmctl", id, "0"));
	ASSERT_EQ(0, ask(&self->s, "mq_open", "/lh-q", "c"));
	EXPECT_EQ(EACCES, ask(&other, "mq_open", "/lh-q", ""));
	EXPECT_EQ(EACCES, ask(&other, "mq_unlink", "/lh-q"));
	ASSERT_EQ(0, ask(&self->s, "write", "/dev/shm/lh-f", "x"));
	EXPECT_EQ(EACCES, ask(&other, "open", "/dev/shm/lh-f", "r"));
	EXPECT_EQ(EACCES, ask(&other, "unlink", "/dev/shm/lh-f"));
	EXPECT_EQ(0, session_end(&other));
	/* whose end takes away nothing of ours */
	EXPECT_EQ(0, ask(&self->s, "shmat", id));
	EXPECT_EQ(0, ask(&self->s, "mq_open", "/lh-q", ""));
	EXPECT_EQ(0, ask(&self->s, "open", "/dev/shm/lh-f", "r"));
	/* a process of the host may use them: the policy is the session's */
	EXPECT_EQ(0, ask(&self->twin, "shmat", id));
	EXPECT_EQ(0, ask(&self->twin, "open", "/dev/shm/lh-f", "r"));
}

/* What is removed is freed a little later: until then it counts. */
TEST_F(ipc, one_session_does_not_use_up_what_there_is_for_all)
{
	struct session *s = &self->s;
	char most[16], more[16];
	int tries = 0;

	snprintf(most, sizeof(most), "%d", LH_IPC_OWN);
	snprintf(more, sizeof(more), "%d", LH_IPC_OWN + 1);
	EXPECT_EQ(0, ask(s, "semfill", most));
	while (ask(s, "semfill", more) == ENOSPC &&
	       s->reply.value < LH_IPC_OWN && tries++ < 1000)
		;
	EXPECT_EQ(ENOSPC, s->reply.err);
	EXPECT_EQ(LH_IPC_OWN, s->reply.value);
	EXPECT_TRUE(denied(s, "ipc", NULL, "default"));
	EXPECT_EQ(0, ask(&self->twin, "semfill", more));
	while (ask(s, "semfill", most) == ENOSPC && tries++ < 1000)
		;
	EXPECT_EQ(0, s->reply.err);
}

TEST_F(ipc, queues_of_others_are_neither_used_nor_removed)
{
	ASSERT_EQ(0, ask(&self->twin, "mq_open", "/lh-theirs", "c"));
	ASSERT_EQ(0, ask(&self->twin, "mq_send", "/lh-theirs", "QSECRET"));
	EXPECT_EQ(EACCES, ask(&self->s, "mq_receive", "/lh-theirs"));
	EXPECT_TRUE(denied(&self->s, "open", NULL, NULL));
	EXPECT_EQ(EACCES, ask(&self->s, "mq_send", "/lh-theirs", "x"));
	EXPECT_EQ(EACCES, ask(&self->s, "mq_open", "/lh-theirs", "c"));
	EXPECT_EQ(EACCES, ask(&self->s, "mq_unlink", "/lh-theirs"));
	EXPECT_TRUE(denied(&self->s, "unlink", "/lh-theirs", NULL));
	EXPECT_EQ(0, ask(&self->twin, "mq_receive", "/lh-theirs"));
	EXPECT_STREQ("QSECRET", self->twin.reply.text);
	EXPECT_EQ(0, ask(&self->twin, "mq_unlink", "/lh-theirs"));
	/* its own */
	EXPECT_EQ(0, ask(&self->s, "mq_open", "/lh-mine", "cx"));
	EXPECT_EQ(0, ask(&self->s, "child", "mq_send", "/lh-mine", "hello"));
	EXPECT_EQ(0, ask(&self->s, "mq_receive", "/lh-mine"));
	EXPECT_STREQ("hello", self->s.reply.text);
	EXPECT_EQ(0, ask(&self->s, "mq_unlink", "/lh-mine"));
	EXPECT_EQ(ENOENT, ask(&self->s, "mq_open", "/lh-mine", ""));
}

/* The same queues as files, where the session can see them. */
TEST_F(ipc, a_mount_of_the_queues_shows_no_more)
{
	const char *q = at(self->w, "ws/sub");

	ASSERT_EQ(0, mount("mqueue", q, "mqueue", 0, NULL));
	ASSERT_EQ(0, ask(&self->twin, "mq_open", "/lh-theirs", "c"));
	EXPECT_EQ(EACCES, ask(&self->s, "open", "sub/lh-theirs", "r"));
	EXPECT_EQ(EACCES, ask(&self->s, "unlink", "sub/lh-theirs"));
	EXPECT_EQ(0, ask(&self->s, "mq_open", "/lh-mine", "c"));
	EXPECT_EQ(0, ask(&self->s, "open", "sub/lh-mine", "r"));
	EXPECT_EQ(0, ask(&self->s, "unlink", "sub/lh-mine"));
	EXPECT_EQ(0, ask(&self->twin, "open", "sub/lh-theirs", "r"));
	EXPECT_EQ(0, ask(&self->twin, "mq_unlink", "/lh-theirs"));
	EXPECT_EQ(0, umount2(q, MNT_DETACH));
}

TEST_F(ipc, shared_memory_files_are_its_own)
{
	const char *dir = "/dev/shm/lh-theirs", *in = "/dev/shm/lh-theirs/new";

	ASSERT_EQ(0, ask(&self->twin, "mkdir", dir));
	ASSERT_EQ(0, ask(&self->twin, "write", "/dev/shm/lh-file", "TEXT"));
	EXPECT_EQ(EACCES, ask(&self->s, "open", "/dev/shm/lh-file", "r"));
	EXPECT_EQ(EACCES, ask(&self->s, "write", "/dev/shm/lh-file", "x"));
	EXPECT_EQ(EACCES, ask(&self->s, "unlink", "/dev/shm/lh-file"));
	EXPECT_EQ(EACCES, ask(&self->s, "list", "/dev/shm"));
	EXPECT_EQ(EACCES, ask(&self->s, "list", dir));
	/* nor does it add to what others made */
	EXPECT_EQ(EACCES, ask(&self->s, "write", in, "x"));
	EXPECT_TRUE(denied(&self->s, "create", in, NULL));
	EXPECT_EQ(EACCES, ask(&self->s, "mkdir", in));
	EXPECT_EQ(0, ask(&self->s, "write", "/dev/shm/lh-own", "x"));
	EXPECT_EQ(EACCES, ask(&self->s, "rename", "/dev/shm/lh-own", in));
	EXPECT_EQ(EACCES, ask(&self->s, "link", "/dev/shm/lh-own", in));
	EXPECT_EQ(EACCES, ask(&self->s, "rename", "/dev/shm/lh-own",
			      "/dev/shm/lh-file"));
	/* its own, with all that is below it */
	EXPECT_EQ(0, ask(&self->s, "mkdir", "/dev/shm/lh-d"));
	EXPECT_EQ(0, ask(&self->s, "mkdir", "/dev/shm/lh-d/e"));
	EXPECT_EQ(0, ask(&self->s, "write", "/dev/shm/lh-d/e/f", "x"));
	EXPECT_EQ(0, ask(&self->s, "list", "/dev/shm/lh-d/e"));
	EXPECT_EQ(0, ask(&self->s, "rename", "/dev/shm/lh-d/e/f",
			 "/dev/shm/lh-g"));
	EXPECT_EQ(0, ask(&self->s, "unlink", "/dev/shm/lh-g"));
	EXPECT_EQ(0, ask(&self->twin, "write", in, "x"));
	EXPECT_EQ(0, ask(&self->twin, "unlink", in));
	EXPECT_EQ(0, ask(&self->twin, "rmdir", dir));
	EXPECT_EQ(0, ask(&self->twin, "unlink", "/dev/shm/lh-file"));
}

struct left {
	char shm[16], sem[16], msg[16], theirs[16];
};

/* Make one of each, and beside it one of the twin's. */
static int leave(struct session *s, struct session *twin, struct left *l)
{
	char deep[1024] = "/dev/shm/lh-deep";
	int err = make(s, &kinds[0], "0x4c01", l->shm) ||
		make(s, &kinds[1], "0x4c02", l->sem) ||
		make(s, &kinds[2], "0x4c03", l->msg) ||
		make(twin, &kinds[0], "0x4c04", l->theirs) ||
		ask(s, "mq_open", "/lh-left", "c") ||
		ask(twin, "mq_open", "/lh-theirs", "c") ||
		ask(s, "write", "/dev/shm/lh-left", "x") ||
		ask(twin, "write", "/dev/shm/lh-theirs", "x") ||
		ask(s, "symlink", "/etc/passwd", "/dev/shm/lh-link") ||
		ask(s, "mkdir", deep);

	for (int i = 0; i < 40 && !err; i++) {
		strcat(deep, "/d");
		err = ask(s, "mkdir", deep);
	}
	strcat(deep, "/f");
	return err || ask(s, "write", deep, "x");
}

#define NOTHING_LEFT(l) do {						\
	EXPECT_EQ(EINVAL, ask(&self->twin, "shmctl", (l)->shm, "2"));	\
	EXPECT_EQ(EINVAL, ask(&self->twin, "semctl", (l)->sem, "2"));	\
	EXPECT_EQ(EINVAL, ask(&self->twin, "msgctl", (l)->msg, "2"));	\
	EXPECT_EQ(ENOENT, ask(&self->twin, "mq_open", "/lh-left", ""));	\
	EXPECT_FALSE(exists("/dev/shm/lh-left"));			\
	EXPECT_FALSE(exists("/dev/shm/lh-link"));			\
	EXPECT_FALSE(exists("/dev/shm/lh-deep"));			\
	EXPECT_EQ(0, system("! ls -A /dev/shm | grep -q '^.lh-'"));	\
	/* what is not its own stays */					\
	EXPECT_EQ(0, ask(&self->twin, "shmctl", (l)->theirs, "2"));	\
	EXPECT_EQ(0, ask(&self->twin, "shmctl", (l)->theirs, "0"));	\
	EXPECT_EQ(0, ask(&self->twin, "mq_unlink", "/lh-theirs"));	\
	EXPECT_EQ(0, ask(&self->twin, "unlink", "/dev/shm/lh-theirs"));	\
} while (0)

TEST_F(ipc, nothing_is_left_when_a_session_ends)
{
	struct left l;

	ASSERT_EQ(0, leave(&self->s, &self->twin, &l));
	EXPECT_EQ(0, ask(&self->twin, "shmctl", l.shm, "2"));
	EXPECT_TRUE(exists("/dev/shm/lh-left"));
	EXPECT_EQ(0, session_end(&self->s));
	NOTHING_LEFT(&l);
	ASSERT_EQ(0, session_start(&self->s, self->w, "again", NULL));
}

static pid_t keeper_of(pid_t supervisor)
{
	char cmd[128], out[32] = "";
	FILE *f;

	snprintf(cmd, sizeof(cmd), "pgrep -P %d -x lh-keeper", supervisor);
	f = popen(cmd, "r");
	if (f && !fgets(out, sizeof(out), f))
		out[0] = 0;
	if (f)
		pclose(f);
	return atoi(out);
}

/* The keeper outlives it and clears up. */
TEST_F(ipc, nothing_is_left_when_the_supervisor_is_killed)
{
	struct left l;
	pid_t keeper;

	ASSERT_EQ(0, leave(&self->s, &self->twin, &l));
	keeper = keeper_of(self->s.pid);
	ASSERT_LT(0, keeper);
	ASSERT_EQ(0, kill(self->s.pid, SIGKILL));
	EXPECT_TRUE(gone(keeper, 20000));
	NOTHING_LEFT(&l);
	session_end(&self->s);
	ASSERT_EQ(0, session_start(&self->s, self->w, "again", NULL));
}

/* Both are killed: the next start does it. */
TEST_F(ipc, nothing_is_left_after_the_next_start)
{
	struct left l;
	pid_t keeper;

	ASSERT_EQ(0, leave(&self->s, &self->twin, &l));
	keeper = keeper_of(self->s.pid);
	ASSERT_LT(0, keeper);
	ASSERT_EQ(0, kill(keeper, SIGSTOP));
	ASSERT_EQ(0, kill(self->s.pid, SIGKILL));
	ASSERT_EQ(0, kill(keeper, SIGKILL));
	session_end(&self->s);
	EXPECT_TRUE(gone(keeper, 5000));
	ASSERT_EQ(0, session_start(&self->s, self->w, "again", NULL));
	NOTHING_LEFT(&l);
}

TEST_HARNESS_MAIN
