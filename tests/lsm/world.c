// SPDX-License-Identifier: GPL-2.0-only
/*
 * The world of a test: directories that all belong to the session's user, so
 * that file modes never refuse what a policy is asked about.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <pwd.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "session.h"

/* Defined by who stays in DIR. */
__attribute__((weak)) extern const bool world_is_apart;

/* Others mount over /etc and more: on a machine of somebody's, none begins. */
__attribute__((constructor)) static void only_in_a_guest(void)
{
	if (&world_is_apart || !access("/run/lh-vm", F_OK))
		return;
	printf("Bail out! not in a guest; use tools/lh-vm -- tests/lsm/run\n");
	fflush(stdout);
	_exit(1);
}

const char *at(const struct world *w, const char *fmt, ...)
{
	static char path[8][1024];
	static unsigned int turn;
	char *p = path[turn++ % 8];
	int n = snprintf(p, sizeof(path[0]), "%s/", w->dir);
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(p + n, sizeof(path[0]) - n, fmt, ap);
	va_end(ap);
	return p;
}

int world_dir(const struct world *w, const char *path)
{
	char part[4400];

	snprintf(part, sizeof(part), "%s", path);
	for (char *p = part + strlen(w->dir) + 1; p; p++) {
		p = strchr(p, '/');
		if (p)
			*p = 0;
		if (!mkdir(part, 0755) && chown(part, w->uid, w->gid))
			return -errno;
		if (!p)
			break;
		*p = '/';
	}
	return exists(path) ? 0 : -errno;
}

int world_file(const struct world *w, const char *path, const char *text)
{
	char dir[4400];
	ssize_t len = strlen(text);
	int fd, err = 0;

	snprintf(dir, sizeof(dir), "%s", path);
	*strrchr(dir, '/') = 0;
	if (world_dir(w, dir))
		return -errno;
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	if (fd < 0 || write(fd, text, len) != len ||
	    fchown(fd, w->uid, w->gid))
		err = -errno;
	close(fd);
	return err;
}

bool exists(const char *path)
{
	struct stat st;

	return !lstat(path, &st);
}

bool holds(const char *path, const char *text)
{
	char buf[1024];
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	ssize_t n = fd < 0 ? -1 : read(fd, buf, sizeof(buf));

	if (fd >= 0)
		close(fd);
	return n == (ssize_t)strlen(text) && !memcmp(buf, text, n);
}

/* @script as root, told where: DIR, OWNER (uid), SHARE. 0, -1. */
static int arrange(const struct world *w, const char *script)
{
	const char *share = getenv("SHARE");
	char owner[16];
	int status;

	if (!script)
		return 0;
	snprintf(owner, sizeof(owner), "%d", (int)w->uid);
	if (setenv("DIR", w->dir, 1) || setenv("OWNER", owner, 1) ||
	    setenv("SHARE", share ? share : "/nonexistent", 1))
		return -1;
	status = system(script);
	if (status)
		fprintf(stderr, "# status %d of: %s\n", status, script);
	return status ? -1 : 0;
}

struct world *world_empty(const char *user)
{
	struct world *w = calloc(1, sizeof(*w));
	const struct passwd *pw = getpwnam(user);

	if (!w || !pw)
		return NULL;
	snprintf(w->dir, sizeof(w->dir), "/tmp/world.XXXXXX");
	snprintf(w->user, sizeof(w->user), "%s", user);
	w->uid = pw->pw_uid;
	w->gid = pw->pw_gid;
	if (!mkdtemp(w->dir) || chmod(w->dir, 0755) ||
	    chown(w->dir, w->uid, w->gid))
		return NULL;
	return w;
}

struct world *world_make(const char *user)
{
	return world_make_on(user, NULL, NULL);
}

struct world *world_make_on(const char *user, const char *before,
			    const char *after)
{
	struct world *w = world_empty(user);
	static const char *const dirs[] = {
		"ws/secret/deep", "ws/lib", "ws/.git/hooks", "ws/.git/info",
		"ws/.git/objects", "ws/.git/refs/heads", "ws/sub", "ro/sub",
		"outside/sub", "log",
	};
	static const char *const files[] = {
		"ws/file", "ws/lib/file", "ws/secret/key", "ws/secret/deep/k",
		"ws/.git/config", "ws/.git/hooks/pre-commit", "ro/file",
		"outside/file",
	};

	if (!w || arrange(w, before))
		return NULL;
	for (size_t i = 0; i < sizeof(dirs) / sizeof(dirs[0]); i++)
		if (world_dir(w, at(w, "%s", dirs[i])))
			return NULL;
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		if (world_file(w, at(w, "%s", files[i]), "TEXT"))
			return NULL;
	if (world_file(w, at(w, "ws/.git/HEAD"), "ref: refs/heads/main\n") ||
	    arrange(w, after))
		return NULL;
	return w;
}

static int remove_one(const char *path, const struct stat *st, int type,
		      struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	remove(path);
	return 0;
}

/* The mount made last whose place begins with DIR, or false. */
static bool last_mount(const struct world *w, char *path, size_t size)
{
	FILE *f = fopen("/proc/self/mountinfo", "re");
	char line[4096], place[2048];
	bool found = false;

	while (f && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%*s %*s %*s %*s %2047s", place) != 1 ||
		    strncmp(place, w->dir, strlen(w->dir)))
			continue;
		snprintf(path, size, "%s", place);
		found = true;
	}
	if (f)
		fclose(f);
	return found;
}

void world_remove(struct world *w)
{
	char path[2048];

	if (!w)
		return;
	nftw(w->dir, remove_one, 32, FTW_DEPTH | FTW_PHYS);
	while (last_mount(w, path, sizeof(path)) &&
	       !umount2(path, MNT_DETACH))
		;
	nftw(w->dir, remove_one, 32, FTW_DEPTH | FTW_PHYS);
	/* What a script made beside it. */
	snprintf(path, sizeof(path), "rm -rf --one-file-system %s.*", w->dir);
	if (system(path))
		fprintf(stderr, "# %s failed\n", path);
	free(w);
}

int policy_write(const struct world *w, const struct policy *p)
{
	char text[16384];

	snprintf(text, sizeof(text),
		 "{\"version\":1,\"name\":\"test\",\"sandbox_profile\":\"%s\","
		 "\"side_effect_level\":\"%s\","
		 "\"workspace_roots\":%s%s%s,"
		 "\"read_only_roots\":[\"%s/ro\",\"%s/ws/lib\"%s],"
		 "\"process_sandbox\":{\"presets\":[\"system_runtime\","
		 "\"user_temp\"],\"read_deny_roots\":[\"%s/ws/secret\","
		 "\"%s/ws/late/secret\"%s],\"unix_socket_roots\":[%s]%s}"
		 "%s}\n",
		 p->profile ? p->profile : "os_hardened",
		 p->level ? p->level : "process_exec",
		 p->roots ? p->roots : "[\"", p->roots ? "" : w->dir,
		 p->roots ? "" : "/ws\"]", w->dir, w->dir, p->ro ? p->ro : "",
		 w->dir, w->dir,
		 p->deny ? p->deny : "", p->sockets ? p->sockets : "",
		 p->sandbox ? p->sandbox : "",
		 p->more ? p->more : "");
	return world_file(w, at(w, "log/policy.json"), text);
}
