// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sockets of the host, by the place of the file that they were bound to:
 * stream, seqpacket and datagram, each way to name them, each way to get a
 * socket. NET-13, NET-14, NET-16, NET-17 are rows here.
 *
 *   DIR/granted		unix_socket_roots; below it deny/, a deny root
 *   DIR/one.sock		likewise, a socket file
 *   DIR/later, DIR/later.d	likewise, not there when the session starts
 *   DIR/ws/socks		likewise, in the workspace
 *   DIR/ro/in			likewise, in a read-only root
 *   DIR/granted/ro		a read-only root in it
 */
#define _GNU_SOURCE
#include <sched.h>
#include <sys/mount.h>
#include <sys/wait.h>

#include "kselftest_harness.h"
#include "local.h"
#include "twins.h"

FIXTURE(local) {
	struct world *w;
	struct session s, twin;
	int one;
};

FIXTURE_VARIANT(local) {
	const char *user;
};

FIXTURE_VARIANT_ADD(local, user) {
	.user = TEST_USER,
};

FIXTURE_VARIANT_ADD(local, root) {
	.user = "root",
};

FIXTURE_SETUP(local)
{
	struct world *w = self->w = world_make(variant->user);
	static const char *const dirs[] = {
		"granted/deny", "granted/ro", "granted/mnt", "granted/sub",
		"ws/socks", "ro/in", "other",
	};
	char sockets[512], deny[128], ro[128];

	ASSERT_NE(NULL, w);
	for (size_t i = 0; i < ARRAY_SIZE(dirs); i++) {
		ASSERT_EQ(0, world_dir(w, at(w, "%s", dirs[i])));
	}
	self->one = local_listen(at(w, "one.sock"), 's');
	ASSERT_LE(0, self->one);
	snprintf(sockets, sizeof(sockets), "\"%s\",\"%s\",\"?%s\",\"?%s\","
		 "\"%s\",\"%s\"", at(w, "granted"), at(w, "one.sock"),
		 at(w, "later"), at(w, "later.d"), at(w, "ws/socks"),
		 at(w, "ro/in"));
	snprintf(deny, sizeof(deny), ",\"%s\"", at(w, "granted/deny"));
	snprintf(ro, sizeof(ro), ",\"%s\"", at(w, "granted/ro"));
	ASSERT_EQ(0, policy_write(w, &(struct policy){
		.sockets = sockets, .deny = deny, .ro = ro }));
	ASSERT_EQ(0, session_start(&self->s, w, "s", NULL));
	ASSERT_EQ(0, twin_start(&self->twin, w));
}

FIXTURE_TEARDOWN(local)
{
	session_end(&self->twin);
	EXPECT_EQ(0, session_end(&self->s));
	close(self->one);
	world_remove(self->w);
}

/*
 * @fd was made by the host. By @name the session reaches it, or does not and
 * one record says so; its twin always does.
 */
static void try_name(struct __test_metadata *_metadata,
		     FIXTURE_DATA(local) *self, int fd, char type,
		     const char *name, bool granted)
{
	const char t[2] = { type, 0 };
	int err = ask(&self->s, "uconnect", name, t);
	struct denial d;

	ASSERT_LE(0, fd);
	EXPECT_EQ(granted ? 0 : EACCES, err) {
		TH_LOG("%c %s", type, name);
	}
	EXPECT_EQ(granted, local_heard(fd, type) > 0) {
		TH_LOG("%c %s", type, name);
	}
	if (!granted && err) {
		ASSERT_EQ(0, denial_next(&self->s, &d));
		EXPECT_STREQ("connect", d.operation);
		EXPECT_STREQ("local_socket", d.mechanism);
		EXPECT_STREQ("EACCES", d.errno_name);
		EXPECT_STREQ(type == 'd' ? "unix_may_send" :
			     "unix_stream_connect", d.hook);
	}
	EXPECT_EQ(0, ask(&self->twin, "uconnect", name, t));
	EXPECT_EQ(1, local_heard(fd, type));
}

/* What the host does after the bind; TMPFS: before it. */
enum host_act { NOTHING, SYMLINK, RENAME, LINK, AWAY, BIND, TMPFS };

/* Where it listens, by what name it is reached, and whether it is granted. */
static const struct {
	const char *bound, *name;
	bool granted;
	enum host_act act;
	const char *from, *to;	/* paths of the act */
} names[] = {
	{ "granted/s", "granted/s", true, NOTHING, "", "" },
	{ "granted/sub/s", "granted/sub/s", true, NOTHING, "", "" },
	{ "granted/s", "ws/../granted/./sub/../s", true, NOTHING, "", "" },
	{ "outside/s", "outside/s", false, NOTHING, "", "" },
	{ "outside/s", "granted/../outside/s", false, NOTHING, "", "" },
	{ "ws/s", "ws/s", false, NOTHING, "", "" },		/* the workspace grants files */
	{ "ro/s", "ro/s", false, NOTHING, "", "" },
	{ "ro/in/s", "ro/in/s", true, NOTHING, "", "" },	/* not written, talked to */
	{ "granted/ro/s", "granted/ro/s", true, NOTHING, "", "" },
	{ "ws/socks/s", "ws/socks/s", true, NOTHING, "", "" },
	{ "granted/deny/s", "granted/deny/s", false, NOTHING, "", "" },
	{ "later", "later", true, NOTHING, "", "" },
	{ "later.d/s", "later.d/s", true, NOTHING, "", "" },
	{ "later.d/a/b/c/s", "later.d/a/b/c/s", true, NOTHING, "", "" },
	{ "laters", "laters", false, NOTHING, "", "" },
	/* by links */
	{ "granted/s", "ws/l", true, SYMLINK, "granted/s", "ws/l" },
	{ "granted/s", "ws/l/s", true, SYMLINK, "granted", "ws/l" },
	{ "outside/s", "granted/l", false, SYMLINK, "outside/s", "granted/l" },
	{ "outside/s", "granted/l/s", false, SYMLINK, "outside", "granted/l" },
	{ "granted/deny/s", "granted/l", false, SYMLINK, "granted/deny/s",
	  "granted/l" },
	{ "granted/deny/s", "ws/l", false, SYMLINK, "granted/deny/s", "ws/l" },
	/* renamed: it is where it is now */
	{ "granted/s", "granted/l", true, RENAME, "granted/s", "granted/l" },
	{ "outside/s", "granted/l", true, RENAME, "outside/s", "granted/l" },
	{ "granted/s", "outside/l", false, RENAME, "granted/s", "outside/l" },
	{ "granted/mv/s", "outside/mv/s", false, RENAME, "granted/mv",
	  "outside/mv" },
	{ "granted/s", "granted/deny/l", false, RENAME, "granted/s",
	  "granted/deny/l" },
	/* a second name of the file: where it was bound decides */
	{ "granted/s", "outside/l", true, LINK, "granted/s", "outside/l" },
	{ "outside/s", "granted/l", false, LINK, "outside/s", "granted/l" },
	{ "granted/deny/s", "granted/l", false, LINK, "granted/deny/s",
	  "granted/l" },
	{ "outside/s", "granted/l", false, AWAY, "outside/s", "granted/l" },
	/* seen at a second place: the one that grants does */
	{ "granted/sub/s", "other/s", true, BIND, "granted/sub", "other" },
	{ "outside/s", "granted/mnt/s", true, BIND, "outside", "granted/mnt" },
	{ "granted/deny/s", "granted/mnt/s", false, BIND, "granted/deny",
	  "granted/mnt" },
	{ "granted/mnt/s", "granted/mnt/s", true, TMPFS, "granted/mnt",
	  "" },
	{ "outside/sub/s", "outside/sub/s", false, TMPFS,
	  "outside/sub", "" },
};

static int host_acts(const char *from, const char *to, enum host_act act)
{
	switch (act) {
	case SYMLINK:
		return symlink(from, to);
	case RENAME:
		return rename(from, to);
	case LINK:
		return link(from, to);
	case AWAY:
		return link(from, to) || unlink(from);
	case BIND:
		return mount(from, to, NULL, MS_BIND, NULL);
	case TMPFS:
		return mount("tmpfs", from, "tmpfs", 0, "mode=755");
	default:
		return 0;
	}
}

TEST_F(local, a_socket_of_the_host_is_judged_by_where_its_file_is)
{
	struct world *w = self->w;
	char bound[128], name[128], from[128], to[128], dir[128];

	for (size_t i = 0; i < ARRAY_SIZE(names) * 3; i++) {
		enum host_act act = names[i / 3].act;
		char type = local_types[i % 3];
		int fd;

		strcpy(bound, at(w, "%s", names[i / 3].bound));
		strcpy(name, at(w, "%s", names[i / 3].name));
		strcpy(from, at(w, "%s", names[i / 3].from));
		strcpy(to, at(w, "%s", names[i / 3].to));
		strcpy(dir, bound);
		*strrchr(dir, '/') = 0;
		ASSERT_EQ(0, world_dir(w, dir));
		if (act == TMPFS) {
			ASSERT_EQ(0, host_acts(from, to, act));
		}
		fd = local_listen(bound, type);
		if (act != TMPFS) {
			ASSERT_EQ(0, host_acts(from, to, act)) {
				TH_LOG("%d %s %s", act, from, to);
			}
		}
		try_name(_metadata, self, fd, type, name,
			 names[i / 3].granted);
		close(fd);
		if (act == TMPFS || act == BIND) {
			EXPECT_EQ(0, umount(act == BIND ? to : from));
		} else if (act != NOTHING) {
			unlink(to);
		}
		unlink(bound);
		unlink(name);
		if (act == RENAME) {
			rmdir(to);
		}
		/* so that the next is a new one */
		if (strstr(bound, "/later.d/")) {
			rmdir(at(w, "later.d/a/b/c"));
			rmdir(at(w, "later.d/a/b"));
			rmdir(at(w, "later.d/a"));
			ASSERT_EQ(0, rmdir(at(w, "later.d")));
		}
	}
	EXPECT_TRUE(quiet(&self->s));
}

TEST_F(local, however_long_or_odd_the_name_is)
{
	static const char *const tops[] = { "granted", "outside" };
	struct world *w = self->w;
	char dir[512], cmd[600], link[700];

	for (size_t i = 0; i < 6; i++) {
		char type = local_types[i % 3];
		const char t[2] = { type, 0 };
		int want = i < 3 ? 0 : EACCES, fd;

		snprintf(dir, sizeof(dir), "%s/%0*d/%0*d",
			 at(w, "%s", tops[i / 3]), 120, 1, 120, 2);
		snprintf(cmd, sizeof(cmd), "mkdir -p %s", dir);
		ASSERT_EQ(0, system(cmd));
		/* too long for an address: by the working directory */
		ASSERT_EQ(0, chdir(dir));
		fd = local_listen("./s", type);
		ASSERT_EQ(0, chdir("/"));
		ASSERT_LE(0, fd);
		EXPECT_EQ(want, ask(&self->s, "uconnect", "s", t, dir));
		EXPECT_EQ(want, ask(&self->s, "uconnectfd", dir, "s", t));
		snprintf(link, sizeof(link), "ln -sfn %s %s", dir,
			 at(w, "ws/long"));
		ASSERT_EQ(0, system(link));
		EXPECT_EQ(want, ask(&self->s, "uconnect", "long/s", t));
		EXPECT_EQ(want, ask(&self->s, "uconnect",
				    "/proc/self/cwd/long/s", t));
		EXPECT_EQ(want ? 0 : 4, local_heard(fd, type));
		EXPECT_EQ(0, ask(&self->twin, "uconnect", "s", t, dir));
		EXPECT_EQ(0, ask(&self->twin, "uconnectfd", dir, "s", t));
		EXPECT_EQ(2, local_heard(fd, type));
		close(fd);
		snprintf(cmd, sizeof(cmd), "rm %s/s", dir);
		ASSERT_EQ(0, system(cmd));
	}
}

/* The file that a root names is made anew when its daemon starts again. */
TEST_F(local, a_socket_file_that_is_a_root_may_be_made_anew)
{
	struct world *w = self->w;

	for (int i = 0; i < 2; i++) {
		EXPECT_EQ(0, ask(&self->s, "uconnect", at(w, "one.sock"), "s"));
		EXPECT_EQ(1, local_heard(self->one, 's'));
		close(self->one);
		ASSERT_EQ(0, unlink(at(w, "one.sock")));
		self->one = local_listen(at(w, "one.sock"), 's');
		ASSERT_LE(0, self->one);
	}
	EXPECT_TRUE(quiet(&self->s));
}

/* As a daemon does that the system gave a mount namespace of its own. */
TEST_F(local, a_daemon_in_a_namespace_of_its_own_is_reached_where_granted)
{
	static const char *const tops[] = { "granted", "outside" };
	struct world *w = self->w;

	for (int i = 0; i < 2; i++) {
		char name[128];
		int ready[2], status;
		char byte;
		pid_t pid;

		strcpy(name, at(w, "%s/ns", tops[i]));
		ASSERT_EQ(0, pipe(ready));
		pid = fork();
		if (!pid) {
			int fd = -1;

			close(ready[0]);
			if (!unshare(CLONE_NEWNS) &&
			    !mount("", "/", NULL, MS_REC | MS_PRIVATE, NULL))
				fd = local_listen(name, 's');
			if (fd < 0 || write(ready[1], "r", 1) != 1)
				_exit(1);
			pause();
			_exit(0);
		}
		close(ready[1]);
		ASSERT_EQ(1, read(ready[0], &byte, 1));
		close(ready[0]);
		EXPECT_EQ(i ? EACCES : 0, ask(&self->s, "uconnect", name,
					      "s"));
		EXPECT_EQ(0, ask(&self->twin, "uconnect", name, "s"));
		kill(pid, SIGKILL);
		waitpid(pid, &status, 0);
	}
	EXPECT_TRUE(denied(&self->s, "connect", at(w, "outside/ns"), NULL));
}

/* A datagram needs no connect, and a connected socket may send elsewhere. */
TEST_F(local, each_way_to_send_a_datagram_is_judged)
{
	struct world *w = self->w;
	char in[128], out[128];
	int granted = local_listen(strcpy(in, at(w, "granted/d")), 'd');
	int other = local_listen(strcpy(out, at(w, "outside/d")), 'd');
	static const char *const how[] = { "0", "1", "2" };
	struct denial d;

	for (size_t i = 0; i < ARRAY_SIZE(how); i++) {
		EXPECT_EQ(0, ask(&self->s, "usend", in, how[i]));
		EXPECT_EQ(0, ask(&self->s, "usend", in, how[i], in));
		EXPECT_EQ(2, local_heard(granted, 'd'));
		EXPECT_EQ(EACCES, ask(&self->s, "usend", out, how[i]));
		ASSERT_EQ(0, denial_next(&self->s, &d));
		EXPECT_STREQ("send", d.operation);
		EXPECT_STREQ("local_socket", d.mechanism);
		EXPECT_STREQ("not_granted", d.reason);
		EXPECT_STREQ(out, d.path);
		EXPECT_EQ(1, d.count);
		EXPECT_EQ(EACCES, ask(&self->s, "usend", out, how[i], in));
		EXPECT_TRUE(denied(&self->s, "send", out, NULL));
		EXPECT_EQ(0, local_heard(other, 'd'));
		EXPECT_EQ(0, ask(&self->twin, "usend", out, how[i]));
		EXPECT_EQ(0, ask(&self->twin, "usend", out, how[i], in));
		EXPECT_EQ(2, local_heard(other, 'd'));
	}
	EXPECT_TRUE(quiet(&self->s));
	close(granted);
	close(other);
}

TEST_F(local, a_socket_file_is_made_where_files_are_and_below_a_socket_root)
{
	static const char *const yes[] = {
		"granted/n", "granted/sub/n", "ro/in/n", "ws/n", "ws/socks/n",
		"later", "ws/sub/n",
	}, *const no[] = {
		"outside/n", "ro/n", "ws/lib/n", "granted/ro/n",
		"granted/deny/n", "ws/secret/n", "laters",
		"ws/.git/hooks/n",
	};
	struct world *w = self->w;

	for (size_t i = 0; i < ARRAY_SIZE(yes); i++) {
		for (const char *t = local_types; *t; t++) {
			const char type[2] = { *t, 0 };
			char fd[12];

			EXPECT_EQ(0, ask(&self->s, "ubind", at(w, "%s", yes[i]),
					 type)) {
				TH_LOG("%s", yes[i]);
			}
			sprintf(fd, "%d", self->s.reply.value);
			/* its own, and the host may connect too */
			EXPECT_EQ(0, ask(&self->s, "uconnect",
					 at(w, "%s", yes[i]), type));
			EXPECT_EQ(0, ask(&self->twin, "uconnect",
					 at(w, "%s", yes[i]), type));
			EXPECT_EQ(0, ask(&self->s, "uclose", fd));
			unlink(at(w, "%s", yes[i]));
		}
	}
	EXPECT_TRUE(quiet(&self->s));
	for (size_t i = 0; i < ARRAY_SIZE(no); i++) {
		struct denial d;

		EXPECT_EQ(EACCES, ask(&self->s, "ubind", at(w, "%s", no[i]),
				      "s")) {
			TH_LOG("%s", no[i]);
		}
		ASSERT_EQ(0, denial_next(&self->s, &d));
		EXPECT_STREQ("bind", d.operation);
		EXPECT_STREQ("local_socket", d.mechanism);
		EXPECT_STREQ(at(w, "%s", no[i]), d.path);
		EXPECT_FALSE(exists(at(w, "%s", no[i])));
		EXPECT_EQ(0, ask(&self->twin, "ubind", at(w, "%s", no[i]),
				 "s"));
		unlink(at(w, "%s", no[i]));
	}
}

/* A socket root makes room for sockets, and for nothing else. */
TEST_F(local, a_socket_root_grants_no_file)
{
	struct world *w = self->w;
	char f[128];

	ASSERT_EQ(0, world_file(w, at(w, "granted/f"), "TEXT"));
	snprintf(f, sizeof(f), "%s", at(w, "granted/f"));
	EXPECT_EQ(EACCES, ask(&self->s, "open", f, "r"));
	EXPECT_EQ(EACCES, ask(&self->s, "open", f, "w"));
	EXPECT_EQ(EACCES, ask(&self->s, "unlink", f));
	EXPECT_EQ(EACCES, ask(&self->s, "list", at(w, "granted")));
	EXPECT_EQ(EACCES, ask(&self->s, "write", at(w, "granted/n"), "x"));
	EXPECT_EQ(EACCES, ask(&self->s, "mkdir", at(w, "granted/n")));
	EXPECT_EQ(EACCES, ask(&self->s, "mknod", at(w, "granted/n"), "f"));
	EXPECT_EQ(EACCES, ask(&self->s, "rename", "file",
			      at(w, "granted/n")));
	EXPECT_EQ(EACCES, ask(&self->s, "link", "file", at(w, "granted/n")));
	EXPECT_EQ(0, ask(&self->twin, "open", f, "r"));
	EXPECT_EQ(0, ask(&self->twin, "write", at(w, "granted/n"), "x"));
}

/* What no rule grants is not carried to where one does. */
TEST_F(local, no_socket_gains_a_grant_by_a_rename)
{
	struct world *w = self->w;
	int fd = local_listen(at(w, "ws/sub/s"), 's');

	ASSERT_EQ(0, world_file(w, at(w, "ws/socks/x"), "TEXT"));
	ASSERT_LE(0, fd);
	EXPECT_EQ(EACCES, ask(&self->s, "rename", "sub/s", "socks/s"));
	EXPECT_TRUE(denied(&self->s, "rename", at(w, "ws/sub/s"), NULL));
	EXPECT_EQ(EACCES, ask(&self->s, "rename", "sub", "socks/sub"));
	EXPECT_EQ(EACCES, ask(&self->s, "rename", "sub/s", "socks/x", "x"));
	EXPECT_EQ(EACCES, ask(&self->s, "rename", "socks/x", "sub/s", "x"));
	ASSERT_EQ(0, chown(at(w, "ws/sub/s"), w->uid, w->gid));
	/* by a second name it stays what it was bound to */
	EXPECT_EQ(0, ask(&self->s, "link", "sub/s", "socks/s"));
	EXPECT_EQ(EACCES, ask(&self->s, "uconnect", "socks/s", "s"));
	EXPECT_EQ(0, local_heard(fd, 's'));
	/* a file gains nothing; the twin may do all */
	EXPECT_EQ(0, ask(&self->s, "rename", "file", "socks/file"));
	EXPECT_EQ(0, ask(&self->s, "rename", "socks/file", "file"));
	EXPECT_EQ(0, ask(&self->twin, "unlink", "socks/s"));
	EXPECT_EQ(0, ask(&self->twin, "rename", "sub/s", "socks/s"));
	EXPECT_EQ(0, ask(&self->s, "uconnect", "socks/s", "s"));
	EXPECT_EQ(1, local_heard(fd, 's'));
	close(fd);
}

TEST_HARNESS_MAIN
