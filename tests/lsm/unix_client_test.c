// SPDX-License-Identifier: GPL-2.0-only
/*
 * Programs that people run against sockets of the host: with the grant they
 * work, without it they say what they say when nobody is there, and end.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <sys/wait.h>

#include "kselftest_harness.h"
#include "local.h"
#include "session.h"

#define READY_MS 20000

FIXTURE(client) {
	struct world *w;
	char policy[128], ws[128], result[128], denials[128], out[65536];
};

FIXTURE_SETUP(client)
{
	struct world *w = self->w = world_make(TEST_USER);

	ASSERT_NE(NULL, w);
	strcpy(self->policy, at(w, "log/policy.json"));
	strcpy(self->ws, at(w, "ws"));
	strcpy(self->result, at(w, "log/result"));
	strcpy(self->denials, at(w, "log/denials"));
	ASSERT_EQ(0, policy_write(w, &(struct policy){ 0 }));
}

FIXTURE_TEARDOWN(client)
{
	world_remove(self->w);
}

/* Exit status of @command in a session; what it says is in .out. */
static int run(FIXTURE_DATA(client) *self, const char *env, const char *grant,
	       const char *const *command)
{
	const char *arg[24] = {
		"--policy", self->policy, "-C", self->ws, "--user", TEST_USER,
		"--env", env, "--result", self->result, "--denials",
		self->denials,
	};
	int n = 12, status;

	if (grant) {
		arg[n++] = "--sandbox-unix-socket-root";
		arg[n++] = grant;
	}
	arg[n++] = "--";
	while (*command)
		arg[n++] = *command++;
	unlink(self->denials);
	unlink(self->result);
	status = supervise(self->w, self->out, sizeof(self->out), arg);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* The file comes to be, within the time that a slow machine takes. */
static bool comes(const char *path)
{
	for (int i = 0; i < READY_MS / 10 && !exists(path); i++)
		usleep(10000);
	return exists(path);
}

TEST_F(client, ssh_add_lists_the_keys_of_an_agent_that_is_granted)
{
	static const char *const list[] = { "ssh-add", "-l", NULL };
	char socket[128], env[160], id[16], says[256];
	int status;
	pid_t agent;

	strcpy(socket, at(self->w, "outside/agent"));
	snprintf(env, sizeof(env), "SSH_AUTH_SOCK=%s", socket);
	snprintf(id, sizeof(id), "%d", self->w->uid);
	agent = fork();
	if (!agent) {
		execlp("setpriv", "setpriv", "--reuid", id, "--regid", id,
		       "--clear-groups", "ssh-agent", "-D", "-a", socket,
		       NULL);
		_exit(127);
	}
	ASSERT_TRUE(comes(socket));
	EXPECT_EQ(2, run(self, env, NULL, list));
	EXPECT_NE(NULL, strstr(self->out, "Permission denied")) {
		TH_LOG("%s", self->out);
	}
	/* the run's own words say which flag would do */
	snprintf(says, sizeof(says), "--sandbox-unix-socket-root %s", socket);
	EXPECT_NE(NULL, strstr(self->out, says)) {
		TH_LOG("%s", self->out);
	}
	EXPECT_EQ(1, run(self, env, socket, list));
	EXPECT_NE(NULL, strstr(self->out, "no identities")) {
		TH_LOG("%s", self->out);
	}
	snprintf(says, sizeof(says), "extra socket root: %s", socket);
	EXPECT_NE(NULL, strstr(self->out, says)) {
		TH_LOG("%s", self->out);
	}
	kill(agent, SIGTERM);
	waitpid(agent, &status, 0);
}

/* As the engine's client does, in as many words of Python. */
TEST_F(client, a_container_engines_client_is_told_no_and_ends)
{
	static const char code[] =
		"import socket, sys\n"
		"s = socket.socket(socket.AF_UNIX)\n"
		"s.settimeout(20)\n"
		"try: s.connect('/run/docker.sock')\n"
		"except PermissionError: sys.exit(13)\n"
		"sys.exit(0)\n";
	static const char *const client[] = {
		"/usr/bin/python3", "-c", code, NULL
	};
	int fd = local_listen("/run/docker.sock", 's');

	ASSERT_LE(0, fd);
	EXPECT_EQ(13, run(self, "X=1", NULL, client)) {
		TH_LOG("%s", self->out);
	}
	/* nor does a grant of its place, or of itself */
	EXPECT_EQ(13, run(self, "X=1", "/run", client));
	EXPECT_EQ(13, run(self, "X=1", "/run/docker.sock", client));
	EXPECT_EQ(0, local_heard(fd, 's'));
	EXPECT_EQ(0, system("/usr/bin/python3 -c \"import socket; "
			    "socket.socket(socket.AF_UNIX)"
			    ".connect('/run/docker.sock')\""));
	EXPECT_EQ(1, local_heard(fd, 's'));
	close(fd);
	unlink("/run/docker.sock");
}

/* The C library asks nscd first, and goes on without: no word of it. */
TEST_F(client, what_a_library_tries_by_itself_is_recorded_and_not_told)
{
	static const char *const getent[] = {
		"sh", "-c", "getent passwd root >/dev/null; exit 3", NULL
	};
	int fd;

	ASSERT_EQ(0, system("mkdir -p /run/nscd && chmod 755 /run/nscd"));
	fd = local_listen("/run/nscd/socket", 's');
	ASSERT_LE(0, fd);
	EXPECT_EQ(3, run(self, "X=1", NULL, getent));
	EXPECT_EQ(NULL, strstr(self->out, "nscd")) {
		TH_LOG("%s", self->out);
	}
	/* Who starts the session asks as well, outside. */
	local_heard(fd, 's');
	EXPECT_EQ(0, system("getent passwd root >/dev/null"));
	EXPECT_LE(1, local_heard(fd, 's'));
	close(fd);
	unlink("/run/nscd/socket");
	snprintf(self->out, sizeof(self->out),
		 "grep -q '\"path\":\"/run/nscd/socket\".*"
		 "\"expected_probe\":true' %s", self->denials);
	EXPECT_EQ(0, system(self->out));
}

TEST_HARNESS_MAIN
