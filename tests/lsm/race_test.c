// SPDX-License-Identifier: GPL-2.0-only
/*
 * On two CPUs: names, links and mounts change as fast as they can while a
 * session opens what they lead to. In no state is it allowed to read "TEXT";
 * a walk that saw half of one state and half of another might think so. And
 * sockets that change while they ask for a port.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <time.h>

#include "kselftest_harness.h"
#include "inet.h"

#define OPENS "3000"

FIXTURE(race) {
	struct world *w;
	struct session s;
	unsigned long *rounds;	/* of whoever changes the tree */
	pid_t pid;
	char a[4][128];
};

FIXTURE_SETUP(race)
{
	struct policy p = { 0 };

	self->w = world_make(TEST_USER);
	ASSERT_NE(NULL, self->w);
	ASSERT_EQ(0, policy_write(self->w, &p));
	self->rounds = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ASSERT_NE(MAP_FAILED, self->rounds);
	ASSERT_EQ(0, session_start(&self->s, self->w, "s", NULL));
}

FIXTURE_TEARDOWN(race)
{
	if (self->pid > 0) {
		kill(self->pid, SIGKILL);
		waitpid(self->pid, NULL, 0);
	}
	EXPECT_EQ(0, session_end(&self->s));
	for (int i = 0; i < 2; i++) {
		umount2(at(self->w, "ws/sub/m"), MNT_DETACH);
		umount2(at(self->w, "outside/m"), MNT_DETACH);
		umount2(at(self->w, "outside/y/m"), MNT_DETACH);
		umount2(at(self->w, "outside/x/y/m"), MNT_DETACH);
		umount2(at(self->w, "ws/x/y/m"), MNT_DETACH);
	}
	world_remove(self->w);
}

/*
 * A process of the host that does STEPS again and again; it touches no memory
 * of ours that changes but .rounds.
 */
#define CHANGING(steps) do {						\
	self->pid = fork();						\
	ASSERT_LE(0, self->pid);					\
	if (!self->pid)							\
		for (;; ++*self->rounds) {				\
			steps;						\
		}							\
} while (0)

/* Open @path many times while the other changes something at least once. */
static int leaks(FIXTURE_DATA(race) *self, const char *path)
{
	unsigned long from = *self->rounds;
	int sum = 0, i;

	for (i = 0; i < 20 && (!i || *self->rounds < from + 100); i++) {
		if (ask(&self->s, "race", path, OPENS))
			return -1;
		sum += self->s.reply.value;
	}
	fprintf(stderr, "# %s: %s; %lu changes\n", path, self->s.reply.text,
		*self->rounds - from);
	return sum;
}

/* How many of as many opens of a file that is always granted were refused. */
static int refusals(FIXTURE_DATA(race) *self)
{
	int refused = -1;

	if (ask(&self->s, "race", "honest/file", OPENS) ||
	    sscanf(self->s.reply.text, "fine=%*d refused=%d", &refused) != 1)
		return -1;
	return refused;
}

#define NAME(i, ...) snprintf(self->a[i], sizeof(self->a[i]), "%s",	\
			      at(self->w, __VA_ARGS__))

/*
 *   outside/x/y/key -> outside/y/key, and x goes to ws and back: whoever has
 *   seen y in x, and then x in ws, would let key be read.
 */
TEST_F(race, two_halves_of_a_way_grant_nothing)
{
	ASSERT_EQ(0, world_file(self->w, at(self->w, "outside/x/y/key"),
				"TEXT"));
	NAME(0, "outside/x");
	NAME(1, "ws/x");
	NAME(2, "outside/x/y");
	NAME(3, "outside/y");
	CHANGING(rename(self->a[2], self->a[3]);
		 rename(self->a[0], self->a[1]);
		 rename(self->a[1], self->a[0]);
		 rename(self->a[3], self->a[2]));
	EXPECT_EQ(0, leaks(self, at(self->w, "outside/x/y/key")));
	EXPECT_EQ(0, leaks(self, at(self->w, "outside/y/key")));
}

/* The same below a mount that goes along. */
TEST_F(race, nor_do_they_across_a_mount)
{
	ASSERT_EQ(0, world_dir(self->w, at(self->w, "outside/x/y/m")));
	ASSERT_EQ(0, mount("none", at(self->w, "outside/x/y/m"), "tmpfs", 0,
			   NULL));
	ASSERT_EQ(0, world_file(self->w, at(self->w, "outside/x/y/m/key"),
				"TEXT"));
	NAME(0, "outside/x");
	NAME(1, "ws/x");
	NAME(2, "outside/x/y");
	NAME(3, "outside/y");
	CHANGING(rename(self->a[2], self->a[3]);
		 rename(self->a[0], self->a[1]);
		 rename(self->a[1], self->a[0]);
		 rename(self->a[3], self->a[2]));
	EXPECT_EQ(0, leaks(self, at(self->w, "outside/x/y/m/key")));
	EXPECT_EQ(0, leaks(self, at(self->w, "outside/y/m/key")));
}

TEST_F(race, a_denied_directory_that_changes_places_stays_denied)
{
	ASSERT_EQ(0, world_file(self->w, at(self->w, "ws/sub/d/key"), "FINE"));
	NAME(0, "ws/secret");
	NAME(1, "ws/sub/d");
	CHANGING(renameat2(AT_FDCWD, self->a[0], AT_FDCWD, self->a[1],
			   RENAME_EXCHANGE));
	EXPECT_EQ(0, leaks(self, "sub/d/key"));
	/* What was found as secret/key may be sub/d/key when it is judged. */
	EXPECT_EQ(0, leaks(self, "secret/key"));
}

TEST_F(race, a_mount_that_comes_and_goes_shows_nothing_denied)
{
	struct timespec pause = { .tv_nsec = 1000000 };

	ASSERT_EQ(0, world_dir(self->w, at(self->w, "ws/sub/m")));
	NAME(0, "ws/secret");
	NAME(1, "ws/sub/m");
	CHANGING(mount(self->a[0], self->a[1], NULL, MS_BIND, NULL);
		 nanosleep(&pause, NULL);
		 umount2(self->a[1], MNT_DETACH));
	EXPECT_EQ(0, leaks(self, "sub/m/key"));
	EXPECT_EQ(0, leaks(self, "secret/key"));
}

/* Beside a mount in the workspace, which is readable. */
TEST_F(race, a_mount_that_moves_outside_grants_nothing)
{
	ASSERT_EQ(0, world_dir(self->w, at(self->w, "outside/m")));
	ASSERT_EQ(0, world_dir(self->w, at(self->w, "outside/n")));
	ASSERT_EQ(0, world_dir(self->w, at(self->w, "ws/sub/m")));
	NAME(0, "outside/m");
	NAME(1, "outside/n");
	NAME(2, "ws/sub/m");
	ASSERT_EQ(0, mount("none", self->a[0], "tmpfs", 0, NULL));
	ASSERT_EQ(0, world_file(self->w, at(self->w, "outside/m/key"),
				"TEXT"));
	ASSERT_EQ(0, mount("none", self->a[2], "tmpfs", 0, NULL));
	/* It can be moved. */
	ASSERT_EQ(0, mount(self->a[0], self->a[1], NULL, MS_MOVE, NULL));
	ASSERT_EQ(0, mount(self->a[1], self->a[0], NULL, MS_MOVE, NULL));
	CHANGING(mount(self->a[0], self->a[1], NULL, MS_MOVE, NULL);
		 mount(self->a[1], self->a[0], NULL, MS_MOVE, NULL));
	EXPECT_EQ(0, leaks(self, at(self->w, "outside/m/key")));
	EXPECT_EQ(0, leaks(self, at(self->w, "outside/n/key")));
	kill(self->pid, SIGKILL);
	waitpid(self->pid, NULL, 0);
	self->pid = 0;
	umount2(self->a[0], MNT_DETACH);
	umount2(self->a[1], MNT_DETACH);
}

/*
 * Attributes are judged over all mounts of a file system: here two come and go
 * by turns, so that the first in the kernel's list is always about to leave.
 * One of them is there at any time, and only where @from is denied or not is
 * what counts.
 */
static int touches(struct __test_metadata *_metadata, FIXTURE_DATA(race) *self,
		   const char *from, int *done)
{
	int refused = 0;

	ASSERT_EQ(0, world_dir(self->w, at(self->w, "ws/sub/m")));
	ASSERT_EQ(0, world_dir(self->w, at(self->w, "ws/sub/n")));
	NAME(0, "ws/sub/m");
	NAME(1, "ws/sub/n");
	NAME(2, "%s", from);
	ASSERT_EQ(0, mount("none", self->a[2], "tmpfs", 0, NULL));
	ASSERT_EQ(0, world_file(self->w, at(self->w, "%s/f", from), "TEXT"));
	ASSERT_EQ(0, mount(self->a[2], self->a[0], NULL, MS_BIND, NULL));
	if (!strcmp(from, "outside/m"))
		ASSERT_EQ(0, umount2(self->a[2], MNT_DETACH));
	CHANGING(mount(self->a[0], self->a[1], NULL, MS_BIND, NULL);
		 umount2(self->a[0], MNT_DETACH);
		 mount(self->a[1], self->a[0], NULL, MS_BIND, NULL);
		 umount2(self->a[1], MNT_DETACH));
	*done = 0;
	for (int i = 0, n; i < 20 || *self->rounds < 50; i++) {
		ASSERT_EQ(0, ask(&self->s, "racetouch",
				 i & 1 ? "sub/m/f" : "sub/n/f", "300"));
		ASSERT_EQ(1, sscanf(self->s.reply.text,
				    "done=%*d refused=%d", &n));
		*done += self->s.reply.value;
		refused += n;
	}
	fprintf(stderr, "# done %d, refused %d, %lu rounds of mounts\n", *done,
		refused, *self->rounds);
	kill(self->pid, SIGKILL);
	waitpid(self->pid, NULL, 0);
	self->pid = 0;
	umount2(self->a[2], MNT_DETACH);
	return refused;
}

TEST_F(race, mounts_that_come_and_go_refuse_no_attribute)
{
	int done;

	ASSERT_EQ(0, world_dir(self->w, at(self->w, "outside/m")));
	EXPECT_EQ(0, touches(_metadata, self, "outside/m", &done));
	EXPECT_LT(0, done);
}

TEST_F(race, nor_do_they_grant_one_of_what_is_denied)
{
	int done;

	EXPECT_LT(0, touches(_metadata, self, "ws/secret", &done));
	EXPECT_EQ(0, done);
}

/* The session itself changes names while another of its processes opens. */
TEST_F(race, a_session_gains_nothing_by_exchanging_its_own_names)
{
	pid_t child;

	ASSERT_EQ(0, world_file(self->w, at(self->w, "ws/r/d/key"), "FINE"));
	ASSERT_EQ(0, symlink("../secret", at(self->w, "ws/r/l")));
	ASSERT_EQ(0, lchown(at(self->w, "ws/r/l"), self->w->uid,
			    self->w->gid));
	ASSERT_EQ(0, ask(&self->s, "exchange", "r/d", "r/l"));
	child = self->s.reply.value;
	*self->rounds = 0;
	for (int i = 0; i < 5; i++) {
		ASSERT_EQ(0, ask(&self->s, "race", "r/d/key", OPENS));
		EXPECT_EQ(0, self->s.reply.value) {
			TH_LOG("%s", self->s.reply.text);
		}
	}
	fprintf(stderr, "# r/d/key: %s\n", self->s.reply.text);
	kill(child, SIGKILL);
}

/* Beside a thousand renames a second, and beside as many as there can be. */
TEST_F(race, honest_work_goes_on)
{
	struct timespec pause = { .tv_nsec = 1000000 };
	int refused;

	ASSERT_EQ(0, world_file(self->w, at(self->w, "ws/honest/file"),
				"FINE"));
	NAME(0, "outside/sub");
	NAME(1, "outside/bus");
	CHANGING(rename(self->a[0], self->a[1]);
		 rename(self->a[1], self->a[0]);
		 nanosleep(&pause, NULL));
	EXPECT_EQ(0, refusals(self));
	kill(self->pid, SIGKILL);
	waitpid(self->pid, NULL, 0);
	CHANGING(rename(self->a[0], self->a[1]);
		 rename(self->a[1], self->a[0]));
	refused = refusals(self);
	EXPECT_LE(0, refused);
	fprintf(stderr, "# as fast as can be: %d of " OPENS " refused as raced; "
		"%lu changes\n", refused, *self->rounds);
}

INET(ports, LOOP);

#define TIMES "20000"
#define FEW_PORTS "sysctl -qw net.ipv4.ip_local_port_range='40000 40007'"
#define ALL_PORTS "sysctl -qw net.ipv4.ip_local_port_range='32768 60999'"

/* A socket of the host's in slot @n that shares its port with who wants to. */
static int shared(FIXTURE_DATA(ports) *self, const char *n, const char *type,
		  int option, const char *address, const char *port)
{
	int err = ask(&self->host, "isock", n, "4", type);

	if (!err)
		err = ask(&self->host, "iopt", n, "1", text(option), "1");
	return err ? err : ask(&self->host, "ibind", n, address, port);
}

/* One process of the session's asks for the port, one to share it. */
TEST_F(ports, nobody_is_joined_by_sharing_in_between)
{
	const char *reuse = text(SO_REUSEADDR);

	ASSERT_EQ(7001, server(&self->host, "1", "4", "u", "127.0.0.1",
			       "7001"));
	ASSERT_EQ(0, shared(self, "2", "u", SO_REUSEADDR, "127.0.0.1",
			    "7005"));
	ASSERT_EQ(0, ask(&self->host, "iconnect", "2", "127.0.0.1", "7001"));
	ASSERT_EQ(0, ask(&self->s, "isock", "1", "4", "u"));
	EXPECT_EQ(0, ask(&self->s, "irace", "1", reuse, "bind", "127.0.0.1",
			 "7005", TIMES));
	EXPECT_EQ(0, self->s.reply.value);
	/* Elsewhere it may be as quick as it likes. */
	EXPECT_EQ(0, ask(&self->s, "irace", "1", reuse, "bind", "127.0.0.1",
			 "7006", TIMES));
	EXPECT_EQ(1, self->s.reply.value);
	ASSERT_EQ(0, shared(self, "3", "t", SO_REUSEPORT, "127.0.0.1",
			    "7005"));
	ASSERT_EQ(0, ask(&self->s, "isock", "2", "4", "t"));
	ASSERT_EQ(0, ask(&self->s, "iopt", "2", "1", text(SO_REUSEPORT),
			 "1"));
	ASSERT_EQ(0, ask(&self->s, "ibind", "2", "127.0.0.1", "7005"));
	EXPECT_EQ(0, ask(&self->s, "irace", "2", text(SO_REUSEPORT), "listen",
			 "127.0.0.1", "7005", TIMES));
	EXPECT_EQ(0, self->s.reply.value);
	ASSERT_EQ(0, ask(&self->host, "iclose", "3"));
	EXPECT_EQ(0, ask(&self->s, "irace", "2", text(SO_REUSEPORT), "listen",
			 "127.0.0.1", "7005", TIMES));
	EXPECT_EQ(1, self->s.reply.value);
}

/* The host has all that the kernel could choose from. */
TEST_F(ports, none_of_the_kernels_choice_is_shared_in_between)
{
	const char *reuse = text(SO_REUSEADDR);

	ASSERT_EQ(7003, server(&self->s, "1", "4", "u", "127.0.0.1", "7003"));
	ASSERT_EQ(0, system(FEW_PORTS));
	for (int i = 0; i < 8; i++)
		EXPECT_EQ(0, shared(self, text(i + 1), "u", SO_REUSEADDR,
				    "0.0.0.0", text(40000 + i)));
	ASSERT_EQ(0, ask(&self->s, "isock", "2", "4", "u"));
	EXPECT_EQ(0, ask(&self->s, "irace", "2", reuse, "send", "127.0.0.1",
			 "7003", TIMES));
	EXPECT_EQ(0, self->s.reply.value);
	ASSERT_EQ(0, ask(&self->s, "isock", "2", "4", "u"));
	EXPECT_EQ(EAGAIN, ask(&self->s, "isend", "2", "x", "127.0.0.1",
			      "7003"));
	ASSERT_EQ(0, ask(&self->host, "iclose", "8"));
	EXPECT_EQ(0, ask(&self->s, "isend", "2", "x", "127.0.0.1", "7003"));
	EXPECT_EQ(0, system(ALL_PORTS));
}

TEST_HARNESS_MAIN
