// SPDX-License-Identifier: GPL-2.0-only
/*
 * Unix sockets by whose they are: the session's own, another session's, the
 * host's abstract ones; those that a session was given; the host's services.
 * NET-15, NET-19, LOG-10 are rows here.
 */
#define _GNU_SOURCE
#include <poll.h>
#include <sys/mount.h>
#include <sys/wait.h>

#include "kselftest_harness.h"
#include "local.h"
#include "twins.h"

FIXTURE(peer) {
	struct world *w;
	struct session s, twin;
};

FIXTURE_VARIANT(peer) {
	const char *user;
};

FIXTURE_VARIANT_ADD(peer, user) {
	.user = TEST_USER,
};

FIXTURE_VARIANT_ADD(peer, root) {
	.user = "root",
};

FIXTURE_SETUP(peer)
{
	struct world *w = self->w = world_make(variant->user);
	char sockets[128];

	ASSERT_NE(NULL, w);
	ASSERT_EQ(0, world_dir(w, at(w, "granted")));
	snprintf(sockets, sizeof(sockets), "\"%s\",\"/run\"",
		 at(w, "granted"));
	ASSERT_EQ(0, policy_write(w, &(struct policy){ .sockets = sockets }));
	ASSERT_EQ(0, session_start(&self->s, w, "s", NULL));
	ASSERT_EQ(0, twin_start(&self->twin, w));
}

FIXTURE_TEARDOWN(peer)
{
	session_end(&self->twin);
	EXPECT_EQ(0, session_end(&self->s));
	world_remove(self->w);
}

TEST_F(peer, what_a_session_made_is_its_own_and_no_other_sessions)
{
	static const char *const places[] = {
		"granted/own", "ws/own", "@own-of-a-session",
	};
	struct session other;
	struct denial d;

	ASSERT_EQ(0, session_start(&other, self->w, "other", NULL));
	for (size_t i = 0; i < ARRAY_SIZE(places) * 3; i++) {
		const char type[2] = { local_types[i % 3], 0 };
		const char *p = places[i / 3];
		char name[128], fd[12];

		snprintf(name, sizeof(name), "%s",
			 *p == '@' ? p : at(self->w, "%s", p));
		ASSERT_EQ(0, ask(&self->s, "ubind", name, type));
		sprintf(fd, "%d", self->s.reply.value);
		EXPECT_EQ(0, ask(&self->s, "uconnect", name, type));
		EXPECT_EQ(EACCES, ask(&other, "uconnect", name, type)) {
			TH_LOG("%s %s", name, type);
		}
		ASSERT_EQ(0, denial_next(&other, &d));
		EXPECT_STREQ("connect", d.operation);
		EXPECT_STREQ("local_socket", d.mechanism);
		EXPECT_STREQ("peer", d.reason);
		EXPECT_STREQ(name, d.path);
		if (*type == 'd') {
			EXPECT_EQ(EACCES, ask(&other, "usend", name, "0"));
			EXPECT_TRUE(denied(&other, "send", name, NULL));
		}
		/* the host reaches it */
		EXPECT_EQ(0, ask(&self->twin, "uconnect", name, type));
		EXPECT_EQ(0, ask(&self->s, "uclose", fd));
		if (*p != '@') {
			ASSERT_EQ(0, unlink(name));
		}
		/* and the place is free for the other */
		EXPECT_EQ(0, ask(&other, "ubind", name, type));
		sprintf(fd, "%d", other.reply.value);
		EXPECT_EQ(0, ask(&other, "uconnect", name, type));
		EXPECT_EQ(0, ask(&other, "uclose", fd));
		if (*p != '@') {
			ASSERT_EQ(0, unlink(name));
		}
	}
	EXPECT_TRUE(quiet(&other));
	EXPECT_TRUE(quiet(&self->s));
	EXPECT_EQ(0, session_end(&other));
}

TEST_F(peer, an_abstract_socket_of_the_host_is_out_of_reach)
{
	static const char *const names[] = {
		"@lh-of-the-host", "@/tmp/.X11-unix/X97", "@a\"b\\c\n",
	};

	for (size_t i = 0; i < ARRAY_SIZE(names) * 3; i++) {
		char type = local_types[i % 3];
		const char t[2] = { type, 0 };
		int fd = local_listen(names[i / 3], type);
		struct denial d;

		ASSERT_LE(0, fd);
		EXPECT_EQ(EACCES, ask(&self->s, "uconnect", names[i / 3], t));
		EXPECT_EQ(0, local_heard(fd, type));
		ASSERT_EQ(0, denial_next(&self->s, &d));
		EXPECT_STREQ("connect", d.operation);
		EXPECT_STREQ("local_socket", d.mechanism);
		EXPECT_STREQ("peer", d.reason);
		EXPECT_STREQ(names[i / 3], d.path);
		EXPECT_STREQ("default", d.rule);
		EXPECT_EQ(1, d.count);
		EXPECT_TRUE(quiet(&self->s));
		EXPECT_EQ(0, ask(&self->twin, "uconnect", names[i / 3], t));
		EXPECT_EQ(1, local_heard(fd, type));
		close(fd);
	}
}

/* As a descriptor that the command has from the start: standard error. */
TEST_F(peer, an_inherited_socket_works_as_it_is_and_reaches_no_further)
{
	char in[128], out[128];
	int other = local_listen(strcpy(out, at(self->w, "outside/d")), 'd');
	int granted = local_listen(strcpy(in, at(self->w, "granted/d")), 'd');
	static const int types[] = { SOCK_STREAM, SOCK_DGRAM, SOCK_SEQPACKET };
	struct session s;
	char buf[16];
	int pair[2];

	for (size_t i = 0; i < ARRAY_SIZE(types); i++) {
		bool names = types[i] == SOCK_DGRAM;

		ASSERT_EQ(0, socketpair(AF_UNIX, types[i] | SOCK_CLOEXEC, 0,
					pair));
		session_stderr = pair[1];
		ASSERT_EQ(0, session_start(&s, self->w, names ? "d" : "i",
					   NULL));
		close(pair[1]);
		EXPECT_EQ(0, ask(&s, "ufdsend", "2"));
		EXPECT_EQ(2, recv(pair[0], buf, sizeof(buf), MSG_DONTWAIT));
		if (names) {
			EXPECT_EQ(EACCES, ask(&s, "ufdsend", "2", out));
			EXPECT_TRUE(denied(&s, "send", out, NULL));
			EXPECT_EQ(EACCES, ask(&s, "ufdconnect", "2", out));
			EXPECT_TRUE(denied(&s, "connect", out, NULL));
			EXPECT_EQ(0, ask(&s, "ufdconnect", "2", in));
			EXPECT_EQ(0, ask(&s, "ufdsend", "2"));
			EXPECT_EQ(1, local_heard(granted, 'd'));
		}
		EXPECT_TRUE(quiet(&s));
		EXPECT_EQ(0, session_end(&s));
		close(pair[0]);
	}
	EXPECT_EQ(0, local_heard(other, 'd'));
	EXPECT_EQ(0, ask(&self->twin, "usend", out, "0"));
	EXPECT_EQ(1, local_heard(other, 'd'));
	close(other);
	close(granted);
}

TEST_F(peer, a_received_socket_works_as_it_is_and_reaches_no_further)
{
	char name[128], out[128], fd[12], buf[16];
	int other = local_listen(strcpy(out, at(self->w, "outside/d")), 'd');
	int pair[2], loose, status;

	snprintf(name, sizeof(name), "%s", at(self->w, "granted/giver"));
	/* connected */
	ASSERT_EQ(0, socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, pair));
	ASSERT_LT(0, local_give(name, pair[1]));
	EXPECT_EQ(0, ask(&self->s, "ureceive", name));
	sprintf(fd, "%d", self->s.reply.value);
	wait(&status);
	EXPECT_EQ(0, status);
	EXPECT_EQ(0, ask(&self->s, "ufdsend", fd));
	EXPECT_EQ(2, recv(pair[0], buf, sizeof(buf), MSG_DONTWAIT));
	EXPECT_EQ(EACCES, ask(&self->s, "ufdsend", fd, out));
	EXPECT_TRUE(denied(&self->s, "send", out, NULL));
	unlink(name);
	/* not connected: who uses it is judged, not who made it */
	loose = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	ASSERT_LT(0, local_give(name, loose));
	EXPECT_EQ(0, ask(&self->s, "ureceive", name));
	sprintf(fd, "%d", self->s.reply.value);
	wait(&status);
	EXPECT_EQ(EACCES, ask(&self->s, "ufdsend", fd, out));
	EXPECT_TRUE(denied(&self->s, "send", out, NULL));
	EXPECT_EQ(EACCES, ask(&self->s, "ufdconnect", fd, out));
	EXPECT_EQ(0, local_heard(other, 'd'));
	unlink(name);
	/* the twin is given the same */
	ASSERT_LT(0, local_give(name, loose));
	EXPECT_EQ(0, ask(&self->twin, "ureceive", name));
	sprintf(fd, "%d", self->twin.reply.value);
	wait(&status);
	EXPECT_EQ(0, ask(&self->twin, "ufdsend", fd, out));
	EXPECT_EQ(1, local_heard(other, 'd'));
	close(other);
	close(loose);
}

/* Of files the file rules hold, however they arrive. */
TEST_F(peer, a_received_file_is_judged_as_a_file)
{
	static const struct {
		const char *file;
		int want;
	} all[] = {
		{ "ws/file", 0 }, { "ro/file", 0 }, { "outside/file", EACCES },
		{ "ws/secret/key", EACCES },
	};
	char name[128];
	int status;

	snprintf(name, sizeof(name), "%s", at(self->w, "granted/giver"));
	for (size_t i = 0; i < ARRAY_SIZE(all); i++) {
		int fd = open(at(self->w, "%s", all[i].file),
			      O_RDONLY | O_CLOEXEC);

		ASSERT_LE(0, fd);
		ASSERT_LT(0, local_give(name, fd));
		EXPECT_EQ(all[i].want, ask(&self->s, "ureceive", name)) {
			TH_LOG("%s", all[i].file);
		}
		wait(&status);
		unlink(name);
		ASSERT_LT(0, local_give(name, fd));
		EXPECT_EQ(0, ask(&self->twin, "ureceive", name));
		wait(&status);
		unlink(name);
		close(fd);
	}
}

TEST_F(peer, an_answer_comes_back_to_a_name_that_the_kernel_gave)
{
	char in[128];
	int fd = local_listen(strcpy(in, at(self->w, "granted/d")), 'd');
	int status;
	pid_t pid = fork();

	ASSERT_LE(0, fd);
	if (!pid) {
		struct pollfd p = { .fd = fd, .events = POLLIN };

		for (int i = 0; i < 2; i++) {
			struct sockaddr_un from;
			socklen_t n = sizeof(from);
			char buf[16];

			if (poll(&p, 1, 20000) != 1 ||
			    recvfrom(fd, buf, sizeof(buf), 0,
				     (struct sockaddr *)&from, &n) != 2 ||
			    sendto(fd, "answer", 6, 0,
				   (struct sockaddr *)&from, n) != 6)
				_exit(1);
		}
		_exit(0);
	}
	EXPECT_EQ(0, ask(&self->s, "uask", in));
	EXPECT_STREQ("answer", self->s.reply.text);
	EXPECT_EQ(0, ask(&self->twin, "uask", in));
	waitpid(pid, &status, 0);
	EXPECT_EQ(0, status);
	EXPECT_TRUE(quiet(&self->s));
	close(fd);
}

/* /run is granted here, and credentials are not: engines' sockets are. */
TEST_F(peer, a_container_engine_is_no_host_socket_like_another)
{
	static const char *const sockets[] = {
		"/run/docker.sock", "/run/containerd/containerd.sock",
		"/run/podman/podman.sock",
	};
	int plain;

	for (size_t i = 0; i < ARRAY_SIZE(sockets); i++) {
		char cmd[128];
		int fd;

		snprintf(cmd, sizeof(cmd), "mkdir -p $(dirname %s)",
			 sockets[i]);
		ASSERT_EQ(0, system(cmd));
		fd = local_listen(sockets[i], 's');
		ASSERT_LE(0, fd);
		EXPECT_EQ(EACCES, ask(&self->s, "uconnect", sockets[i], "s"));
		EXPECT_TRUE(denied(&self->s, "connect", sockets[i],
				   "builtin:credentials/"));
		EXPECT_EQ(0, local_heard(fd, 's'));
		EXPECT_EQ(0, ask(&self->twin, "uconnect", sockets[i], "s"));
		close(fd);
		unlink(sockets[i]);
	}
	plain = local_listen("/run/lh-plain.sock", 's');
	EXPECT_EQ(0, ask(&self->s, "uconnect", "/run/lh-plain.sock", "s"));
	EXPECT_EQ(1, local_heard(plain, 's'));
	close(plain);
	unlink("/run/lh-plain.sock");
	EXPECT_TRUE(quiet(&self->s));
}

TEST_HARNESS_MAIN
