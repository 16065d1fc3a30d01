// SPDX-License-Identifier: GPL-2.0-only
/*
 * The command's first process. Between fork and exec nothing but system calls:
 * no allocation, no lock. Each step that fails ends it; none is skipped.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <linux/close_range.h>
#include <linux/sched.h>

#include "cleanup.h"
#include "launch.h"
#include "listener.h"
#include "step.h"

enum stage {
	STAGE_DESCRIPTORS, STAGE_DIRECTORY, STAGE_LIMITS, STAGE_CREDENTIALS,
	STAGE_SECCOMP, STAGE_EXEC,
	UNHEARD,	/* no failure: the filter has no listener */
};

static const char *const stages[] = {
	[STAGE_DESCRIPTORS] = "setting descriptors",
	[STAGE_DIRECTORY] = "entering the working directory",
	[STAGE_LIMITS] = "setting limits",
	[STAGE_CREDENTIALS] = "dropping credentials",
	[STAGE_SECCOMP] = "loading the system call filter",
	[STAGE_EXEC] = "exec",
};

struct failure {
	int stage, err;
};

/* 0: an executable file; else why not. */
static int runnable(int cwd, const char *path)
{
	struct stat st;

	if (fstatat(cwd, path, &st, 0))
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -EACCES;
	return faccessat(cwd, path, X_OK, AT_EACCESS) ? -errno : 0;
}

static int absolute(const char *dir, const char *path, char **out)
{
	if (path[0] == '/')
		*out = strdup(path);
	else if (asprintf(out, "%s/%s", strcmp(dir, "/") ? dir : "", path) < 0)
		*out = NULL;
	return *out ? 0 : -ENOMEM;
}

/* The best of what the directories of @path say. */
static int search(const char *name, int cwd, const char *path, char **found)
{
	int best = -ENOENT;

	while (path) {
		size_t len = strcspn(path, ":");
		_cleanup_free_ char *full = NULL;
		int ret;

		if (asprintf(&full, "%.*s%s%s", (int)len, path,
			     len ? "/" : "./", name) < 0)
			return -ENOMEM;
		ret = runnable(cwd, full);
		if (!ret) {
			*found = take_str(&full);
			return 0;
		}
		/* A directory that cannot be searched has no command. */
		if (!faccessat(cwd, full, F_OK, AT_EACCESS))
			best = ret;
		path = path[len] ? path + len + 1 : NULL;
	}
	return best;
}

int launch_find(const struct identity *id, const char *name, int cwd,
		const char *cwd_path, const char *path, char **out,
		struct err *e)
{
	_cleanup_free_ char *found = NULL;
	int ret = identity_enter(id, &id->user);

	if (ret) {
		err_sys(e, ret, "user %s", id->name);
		return EXIT_OURS;
	}
	if (strchr(name, '/')) {
		found = strdup(name);
		ret = found ? runnable(cwd, name) : -ENOMEM;
	} else {
		ret = *name ? search(name, cwd, path, &found) : -ENOENT;
	}
	identity_enter(id, NULL);
	if (!ret)
		ret = absolute(cwd_path, found, out);
	if (!ret)
		return 0;
	err_sys(e, ret, "%s", name);
	return ret == -ENOMEM ? EXIT_OURS :
	       ret == -ENOENT || ret == -ENOTDIR ? EXIT_NOT_FOUND :
	       EXIT_NOT_EXECUTABLE;
}

static int set_descriptors(const struct launch *l)
{
	unsigned int i;

	if (l->terminal >= 0 &&
	    (setsid() < 0 || ioctl(l->terminal, TIOCSCTTY, 0)))
		return -errno;
	for (i = 0; i < 3; i++)
		if (l->stdio[i] >= 0 && dup2(l->stdio[i], i) < 0)
			return -errno;
	if (syscall(SYS_close_range, 3, ~0u, CLOSE_RANGE_CLOEXEC))
		return -errno;
	for (i = 0; i < l->keep_count; i++)
		if (fcntl(l->keep[i], F_SETFD, 0))
			return -errno;
	return 0;
}

static int set_limits(const struct launch *l)
{
	/* 1 and not 0: 0 still starts a piped core handler, as root. */
	struct rlimit core = { 1, 1 }, files;

	if (!l->free && setrlimit(RLIMIT_CORE, &core))
		return -errno;
	/* Resolving may have raised it for its own descriptors. */
	if (!l->open_files)
		return 0;
	if (getrlimit(RLIMIT_NOFILE, &files))
		return -errno;
	files.rlim_cur = l->open_files;
	return setrlimit(RLIMIT_NOFILE, &files) ? -errno : 0;
}

/* At most @most, and never more than the caller may have. */
static int set_ceiling(int resource, uint64_t most)
{
	struct rlimit now;

	if (most == IMAGE_NO_LIMIT)
		return 0;
	if (getrlimit(resource, &now))
		return -errno;
	if (now.rlim_max > most)
		now.rlim_max = most;
	now.rlim_cur = now.rlim_max;
	return setrlimit(resource, &now) ? -errno : 0;
}

/*
 * Last: we need descriptors ourselves up to here. Without a capability nobody
 * raises a hard limit again.
 */
static int set_ceilings(const struct launch *l)
{
	const struct image_limits *most = &l->im->limits;
	int err = set_ceiling(RLIMIT_NOFILE, most->open_files);

	return err ? err : set_ceiling(RLIMIT_FSIZE, most->file_size);
}

static int set_filter(const struct launch *l, int gate)
{
	struct failure f = { .stage = UNHEARD };
	int err = listener_make(l->im, l->listener, &f.err);

	if (!err && f.err && write(gate, &f, sizeof(f)) != sizeof(f))
		err = -EPIPE;
	return err;
}

static struct failure run(const struct launch *l, int gate)
{
	int err;

	if ((err = set_descriptors(l)))
		return (struct failure){ STAGE_DESCRIPTORS, err };
	if (fchdir(l->cwd))
		return (struct failure){ STAGE_DIRECTORY, -errno };
	if ((err = set_limits(l)))
		return (struct failure){ STAGE_LIMITS, err };
	step("limits");
	err = l->free ? identity_switch(&l->id->user) :
			identity_become(&l->id->user);
	if (err)
		return (struct failure){ STAGE_CREDENTIALS, err };
	step("credentials");
	if (!l->free && (err = set_filter(l, gate)))
		return (struct failure){ STAGE_SECCOMP, err };
	step("filter");
	if ((err = set_ceilings(l)))
		return (struct failure){ STAGE_LIMITS, err };
	sigprocmask(SIG_SETMASK, l->mask, NULL);
	execve(l->path, l->argv, l->envp);
	return (struct failure){ STAGE_EXEC, -errno };
}

__attribute__((noreturn))
static void child(const struct launch *l, int gate)
{
	struct failure f;
	char go;

	step_as("command");
	step("forked");
	if (read(gate, &go, 1) != 1)
		_exit(EXIT_OURS);	/* the supervisor thought better */
	step("released");
	f = run(l, gate);
	if (write(gate, &f, sizeof(f)) != sizeof(f))
		_exit(EXIT_OURS);
	_exit(EXIT_OURS);
}

int launch_fork(struct launch *l, struct err *e)
{
	_cleanup_close_ int near = -1;
	_cleanup_close_ int far = -1;
	int pair[2], pidfd = -1;
	struct clone_args args = {
		.flags = CLONE_PIDFD | CLONE_INTO_CGROUP,
		.pidfd = (uintptr_t)&pidfd,
		.exit_signal = SIGCHLD,
		.cgroup = l->cgroup,
	};
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair))
		return err_sys(e, -errno, "cannot start the command");
	near = pair[0];
	far = pair[1];
	pid = syscall(SYS_clone3, &args, sizeof(args));
	if (pid < 0)
		return err_sys(e, -errno, "cannot fork into the session's "
			       "cgroup");
	if (!pid) {
		close(near);
		child(l, far);
	}
	l->pid = pid;
	l->pidfd = pidfd;
	l->gate = take_fd(&near);
	return 0;
}

int launch_release(struct launch *l)
{
	return send(l->gate, "", 1, MSG_NOSIGNAL) == 1 ? 0 : -errno;
}

/* Not for want of the mechanism. */
static bool is_passing(int err)
{
	return err == -ENOMEM || err == -EAGAIN;
}

int launch_outcome(struct launch *l, struct err *e)
{
	struct failure f;
	ssize_t n;

	do
		n = read(l->gate, &f, sizeof(f));
	while (n < 0 && errno == EINTR);
	if (n == sizeof(f) && f.stage == UNHEARD) {
		l->unheard = true;
		return 0;
	}
	close_fd(&l->gate);
	if (!n)
		return 0;
	if (n != sizeof(f) || f.stage < 0 || f.stage > STAGE_EXEC) {
		err_set(e, -EIO, "the command's process failed to report");
		return EXIT_OURS;
	}
	l->no_filter = f.stage == STAGE_SECCOMP && !is_passing(f.err);
	if (f.stage != STAGE_EXEC) {
		err_sys(e, f.err, "%s", stages[f.stage]);
		return EXIT_OURS;
	}
	/* It was found, so what is missing now is what it names. */
	if (f.err == -ENOENT)
		err_set(e, f.err, "%s: the interpreter it names is missing",
			l->path);
	else
		err_sys(e, f.err, "%s", l->path);
	return EXIT_NOT_EXECUTABLE;
}
