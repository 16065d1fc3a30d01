// SPDX-License-Identifier: GPL-2.0-only
/*
 * The host's services, each at the place where it listens: out of reach without
 * a grant, one record a try; with one they answer, but for what the credential
 * list holds. What libraries try by themselves is recorded and not told.
 * NET-19, NET-20, NET-21, LOG-07, LOG-10.
 */
#define _GNU_SOURCE
#include <signal.h>

#include "kselftest_harness.h"
#include "local.h"
#include "session.h"

enum kind {
	PLAIN,
	PROBE,			/* nobody misses it */
	NEVER,			/* a credential: no root grants it */
	NAMELESS,		/* no file, so no root either */
};

static const struct service {
	const char *path;	/* relative: of the world */
	char type;
	enum kind kind;
} services[] = {
	{ "/run/docker.sock", 's', NEVER },
	{ "/run/podman/podman.sock", 's', NEVER },
	{ "/run/containerd/containerd.sock", 's', NEVER },
	{ "/run/snapd.socket", 's', PLAIN },
	{ "/run/libvirt/libvirt-sock", 's', PLAIN },
	{ "/run/systemd/private", 's', PLAIN },
	{ "/run/systemd/notify", 'd', PROBE },
	{ "/run/systemd/resolve/io.systemd.Resolve", 's', PROBE },
	{ "/run/systemd/userdb/io.systemd.DynamicUser", 's', PROBE },
	{ "/run/systemd/journal/socket", 'd', PROBE },
	{ "/run/systemd/journal/dev-log", 'd', PROBE },
	{ "/run/systemd/journal/stdout", 's', PROBE },
	{ "/run/nscd/socket", 's', PROBE },
	{ "/run/dbus/system_bus_socket", 's', PROBE },
	{ "/run/user/4242/bus", 's', PROBE },
	{ "/run/user/4242/systemd/private", 's', PLAIN },
	{ "/run/user/4242/wayland-0", 's', PLAIN },
	{ "/run/user/4242/pipewire-0", 's', PLAIN },
	{ "/run/user/4242/gnupg/S.gpg-agent", 's', PLAIN },
	{ "/run/user/4242/keyring/ssh", 's', PLAIN },
	{ "/tmp/.X11-unix/X97", 's', PLAIN },
	{ "@/tmp/.X11-unix/X97", 's', NAMELESS },
	{ "@/tmp/dbus-x", 's', NAMELESS },
	{ "/tmp/home-lh-test/.gnupg/S.gpg-agent", 's', NEVER },
	{ "/tmp/home-lh-test/agent.sock", 's', PLAIN },
	{ "outside/agent.1", 's', PLAIN },
	{ "outside/tmux", 's', PLAIN },
};

FIXTURE(service) {
	struct world *w;
	struct session none, granted, net, twin;
	int fd[ARRAY_SIZE(services)];
};

static const char *place(struct world *w, const struct service *s)
{
	return strchr("/@", *s->path) ? s->path : at(w, "%s", s->path);
}

FIXTURE_SETUP(service)
{
	struct world *w = self->w = world_make(TEST_USER);
	char cmd[256], sockets[256];

	ASSERT_NE(NULL, w);
	ASSERT_EQ(0, system("tests/lsm/homes"));
	ASSERT_EQ(0, system("ip link set lo up; mkdir -p /tmp/.X11-unix"));
	ASSERT_EQ(0, policy_write(w, &(struct policy){ 0 }));
	ASSERT_EQ(0, session_start(&self->none, w, "none", NULL));
	snprintf(sockets, sizeof(sockets), "\"/run\",\"/tmp/.X11-unix\","
		 "\"%s\",\"?/tmp/home-lh-test/agent.sock\"", at(w, "outside"));
	ASSERT_EQ(0, policy_write(w, &(struct policy){ .sockets = sockets }));
	ASSERT_EQ(0, session_start(&self->granted, w, "granted", NULL));
	ASSERT_EQ(0, policy_write(w, &(struct policy){
		.sandbox = ",\"allow_loopback\":true" }));
	ASSERT_EQ(0, session_start(&self->net, w, "net", NULL));
	ASSERT_EQ(0, twin_start(&self->twin, w));
	/* Now: whoever starts a session asks some of them, and waits. */
	for (size_t i = 0; i < ARRAY_SIZE(services); i++) {
		const char *path = place(w, &services[i]);

		snprintf(cmd, sizeof(cmd), "mkdir -p \"$(dirname %s)\"; "
			 "rm -f %s", path, path);
		if (*path == '/')
			ASSERT_EQ(0, system(cmd));
		self->fd[i] = local_listen(path, services[i].type);
		ASSERT_LE(0, self->fd[i]);
	}
}

FIXTURE_TEARDOWN(service)
{
	session_end(&self->twin);
	session_end(&self->none);
	session_end(&self->granted);
	session_end(&self->net);
	for (size_t i = 0; i < ARRAY_SIZE(services); i++) {
		const char *path = place(self->w, &services[i]);

		close(self->fd[i]);
		if (*path == '/')
			unlink(path);
	}
	world_remove(self->w);
}

/* One record, which says what it was. */
static void refused(struct __test_metadata *_metadata, struct session *s,
		    const struct service *v, const char *path,
		    const char *operation)
{
	struct denial d;

	ASSERT_EQ(0, denial_next(s, &d));
	EXPECT_STREQ(operation, d.operation);
	EXPECT_STREQ("local_socket", d.mechanism);
	EXPECT_STREQ(path, d.path);
	EXPECT_STREQ("EACCES", d.errno_name);
	EXPECT_EQ(1, d.count);
	if (v->kind == NEVER) {
		EXPECT_EQ(0, strncmp(d.rule, "builtin:credentials/", 20)) {
			TH_LOG("%s: %s", path, d.rule);
		}
	} else {
		EXPECT_STREQ("default", d.rule);
	}
	EXPECT_TRUE(quiet(s));
}

static void try_all(struct __test_metadata *_metadata,
		    FIXTURE_DATA(service) *self, struct session *s)
{
	for (size_t i = 0; i < ARRAY_SIZE(services); i++) {
		const struct service *v = &services[i];
		const char t[2] = { v->type, 0 };
		bool open = s == &self->granted && v->kind < NEVER;
		char path[128];

		snprintf(path, sizeof(path), "%s", place(self->w, v));
		EXPECT_EQ(open ? 0 : EACCES, ask(s, "uconnect", path, t)) {
			TH_LOG("%s", path);
		}
		if (!open)
			refused(_metadata, s, v, path, "connect");
		EXPECT_EQ(open, local_heard(self->fd[i], v->type)) {
			TH_LOG("%s", path);
		}
		if (v->type == 'd') {
			EXPECT_EQ(open ? 0 : EACCES,
				  ask(s, "usend", path, "0"));
			if (!open)
				refused(_metadata, s, v, path, "send");
			EXPECT_EQ(open, local_heard(self->fd[i], 'd'));
		}
		EXPECT_EQ(0, ask(&self->twin, "uconnect", path, t));
		EXPECT_EQ(1, local_heard(self->fd[i], v->type));
	}
	EXPECT_TRUE(quiet(s));
}

/* How many lines of log/NAME say so. */
static int lines(struct world *w, const char *name, const char *what)
{
	FILE *f = fopen(at(w, "log/%s", name), "re");
	char line[8192];
	int n = 0;

	while (f && fgets(line, sizeof(line), f))
		n += strstr(line, what) != NULL;
	if (f)
		fclose(f);
	return n;
}

TEST_F(service, without_a_grant_none_is_reached)
{
	char says[64];
	int probes = 0;

	try_all(_metadata, self, &self->none);
	for (size_t i = 0; i < ARRAY_SIZE(services); i++)
		probes += (services[i].kind == PROBE ||
			   !strncmp(services[i].path, "@/tmp/dbus", 10)) *
			  (services[i].type == 'd' ? 2 : 1);
	EXPECT_EQ(probes, lines(self->w, "none.denials",
				"\"expected_probe\":true"));
	/* Of a command that failed, words say what it was refused. */
	ASSERT_EQ(0, kill(self->none.probe, SIGTERM));
	EXPECT_NE(0, session_end(&self->none));
	snprintf(says, sizeof(says), "%d of them common probes", probes);
	EXPECT_EQ(1, lines(self->w, "none.stderr", says));
	EXPECT_EQ(1, lines(self->w, "none.stderr", "outside/tmux"));
	EXPECT_EQ(0, lines(self->w, "none.stderr", "nscd"));
	EXPECT_EQ(0, lines(self->w, "none.stderr", "/run/systemd/resolve"));
	EXPECT_EQ(0, lines(self->w, "none.stderr", "/run/dbus"));
}

TEST_F(service, with_a_grant_they_answer)
{
	try_all(_metadata, self, &self->granted);
}

/* LOG-07: each kind of address has its mechanism, whoever refuses. */
TEST_F(service, records_tell_the_network_from_local_sockets)
{
	static const struct {
		const char *family, *type, *addr, *port, *mechanism;
	} all[] = {
		{ "4", "t", "192.0.2.1", "80", "egress" },
		{ "6", "t", "::ffff:192.0.2.1", "80", "egress" },
		{ "4", "u", "192.0.2.1", "53", "egress" },
		{ "6", "t", "2001:db8::1", "80", "egress" },
		{ "4", "t", "127.0.0.1", "", "egress" },	/* the host's */
	};
	struct session *net = &self->net;
	struct denial d;
	int theirs;

	ASSERT_EQ(0, ask(&self->twin, "isock", "1", "4", "t"));
	ASSERT_EQ(0, ask(&self->twin, "ibind", "1", "127.0.0.1", "0"));
	theirs = self->twin.reply.value;
	ASSERT_EQ(0, ask(&self->twin, "ilisten", "1"));
	for (size_t i = 0; i < ARRAY_SIZE(all); i++) {
		char port[8];

		snprintf(port, sizeof(port), "%d", *all[i].port ?
			 atoi(all[i].port) : theirs);
		ASSERT_EQ(0, ask(net, "isock", "1", all[i].family,
				 all[i].type));
		EXPECT_EQ(EACCES, ask(net, "iconnect", "1", all[i].addr,
				      port)) {
			TH_LOG("%s", all[i].addr);
		}
		ASSERT_EQ(0, denial_next(net, &d));
		EXPECT_STREQ(all[i].mechanism, d.mechanism);
		EXPECT_EQ(atoi(port), d.port);
		EXPECT_STREQ(strrchr(all[i].addr, 'f') ? "192.0.2.1" :
			     all[i].addr, d.address);
	}
	EXPECT_EQ(EACCES, ask(net, "uconnect", "/run/snapd.socket", "s"));
	ASSERT_EQ(0, denial_next(net, &d));
	EXPECT_STREQ("local_socket", d.mechanism);
	EXPECT_EQ(EACCES, ask(net, "uconnect", "@/tmp/.X11-unix/X97", "s"));
	ASSERT_EQ(0, denial_next(net, &d));
	EXPECT_STREQ("local_socket", d.mechanism);
	EXPECT_TRUE(quiet(net));
}

TEST_HARNESS_MAIN
