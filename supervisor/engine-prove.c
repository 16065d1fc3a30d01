// SPDX-License-Identifier: GPL-2.0-only
/*
 * The proof: before a first command starts, a process under a small policy
 * tries something of each class of rule, and must be refused and recorded; and
 * something allowed, which must work. Programs that attach and never run (no
 * `bpf` in lsm=) are found here and nowhere else.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "../bpf/decide.h"
#include "engine-pins.h"

#define PLACE ENGINE_RUN "/proof"

/* Each returns 0 or the errno it got. */
static int try_open(const char *path, int flags)
{
	int fd = open(path, flags | O_CLOEXEC, 0600);

	if (fd < 0)
		return errno;
	close(fd);
	return 0;
}

static int allowed_read(void) { return try_open(PLACE "/in/file", O_RDWR); }
static int outside_read(void) { return try_open(PLACE "/out", O_RDONLY); }
static int denied_read(void) { return try_open(PLACE "/in/deny", O_RDONLY); }

static int named_create(void)
{
	return try_open(PLACE "/in/later", O_WRONLY | O_CREAT);
}

static int outside_create(void)
{
	return mkdir(PLACE "/new", 0700) ? errno : 0;
}

static int denied_rename(void)
{
	return rename(PLACE "/in/deny", PLACE "/in/x") ? errno : 0;
}

/* A datagram socket, connected to itself: the session's own. */
static int allowed_unix(void)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0), err = 0;
	socklen_t len = sizeof(a.sun_family);

	/* At an abstract name that the kernel chooses. */
	if (fd < 0 || bind(fd, (struct sockaddr *)&a, len))
		err = errno;
	len = sizeof(a);
	if (!err && (getsockname(fd, (struct sockaddr *)&a, &len) ||
		     connect(fd, (struct sockaddr *)&a, len)))
		err = errno;
	if (fd >= 0)
		close(fd);
	return err;
}

/* For a datagram socket nothing is sent by that. */
static int inet_connect(void)
{
	struct sockaddr_in a = {
		.sin_family = AF_INET, .sin_port = htons(9),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	};
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), err = 0;

	if (fd < 0 || connect(fd, (struct sockaddr *)&a, sizeof(a)))
		err = errno;
	if (fd >= 0)
		close(fd);
	return err;
}

static int outside_signal(void)
{
	return kill(getppid(), 0) ? errno : 0;
}

static int outside_process(void)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/environ", getppid());
	return try_open(path, O_RDONLY);
}

static int guarded_bpf(void)
{
	return bpf_map_create(BPF_MAP_TYPE_ARRAY, NULL, 4, 4, 1, NULL) < 0 ?
	       errno : 0;
}

static const struct trial {
	const char *class;
	int (*run)(void);
	int want[2];		/* any of these errnos */
} trials[] = {
	{ "granted file", allowed_read, { 0, 0 } },
	{ "local socket", allowed_unix, { 0, 0 } },
	{ "file outside", outside_read, { EACCES, EACCES } },
	{ "denied file", denied_read, { EACCES, EACCES } },
	{ "denied name", named_create, { EACCES, EACCES } },
	{ "new name outside", outside_create, { EACCES, EACCES } },
	{ "rename of a denied file", denied_rename, { EACCES, EACCES } },
	{ "network address", inet_connect, { EACCES, EACCES } },
	{ "signal to a process outside", outside_signal, { EPERM, EPERM } },
	{ "/proc of a process outside", outside_process, { EACCES, EPERM } },
	{ "bpf()", guarded_bpf, { EPERM, EPERM } },
};

#define TRIALS (sizeof(trials) / sizeof(trials[0]))

/* In the session: wait, try everything, report, wait for death. */
static _Noreturn void subject(int fd)
{
	int got[TRIALS];
	size_t i;
	char go;

	if (read(fd, &go, 1) != 1)
		_exit(1);
	for (i = 0; i < TRIALS; i++)
		got[i] = trials[i].run();
	if (write(fd, got, sizeof(got)) != sizeof(got) ||
	    read(fd, &go, 1) != 1)
		_exit(1);
	/* The session is dead now: this open must not return. */
	try_open(PLACE "/in/file", O_RDONLY);
	_exit(2);
}

static int judge(const int got[TRIALS], struct err *e)
{
	size_t i;

	for (i = 0; i < TRIALS; i++)
		if (got[i] != trials[i].want[0] && got[i] != trials[i].want[1])
			return err_set(e, -ENOTSUP, "the engine is attached but "
				       "does not hold on this kernel (%s: %s); "
				       "is `bpf` in the lsm= list of the kernel "
				       "command line? see "
				       "/sys/kernel/security/lsm",
				       trials[i].class,
				       got[i] ? strerror(got[i]) :
				       "not refused");
	return 0;
}

static int trial_session(struct engine *en, struct engine_session *s, int fd,
			 pid_t pid, struct err *e)
{
	int pidfd = syscall(SYS_pidfd_open, pid, 0);
	int got[TRIALS], status, err;
	__u64 seq, lost;

	if (pidfd < 0)
		return err_sys(e, -errno, "engine: no pidfd");
	err = engine_label(en, s, pidfd, e);
	close(pidfd);
	if (err)
		return err;
	if (write(fd, "g", 1) != 1 ||
	    read(fd, got, sizeof(got)) != sizeof(got))
		return err_set(e, -ENOTSUP, "the engine's proof did not run");
	err = judge(got, e);
	if (err)
		return err;
	engine_counters(en, s, &seq, &lost);
	if (seq != TRIALS - 2 || lost)
		return err_set(e, -ENOTSUP, "the engine's proof was refused %zu "
			       "times, but %llu of %llu were recorded",
			       TRIALS - 2, seq - lost, seq);
	engine_kill(en, s);
	if (write(fd, "g", 1) != 1 || waitpid(pid, &status, 0) != pid ||
	    !WIFSIGNALED(status) || WTERMSIG(status) != SIGKILL)
		return err_set(e, -ENOTSUP, "a dead session's process was not "
			       "killed");
	return 0;
}

static int place_make(int fds[2], int *cgroup, const char *cgroup_root,
		      struct err *e)
{
	char dir[512];

	mkdir(PLACE, 0700);
	mkdir(PLACE "/in", 0700);
	close(open(PLACE "/in/file", O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
	close(open(PLACE "/in/deny", O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
	close(open(PLACE "/out", O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
	fds[0] = open(PLACE "/in", O_PATH | O_CLOEXEC);
	fds[1] = open(PLACE "/in/deny", O_PATH | O_CLOEXEC);
	snprintf(dir, sizeof(dir), "%s/lh", cgroup_root);
	mkdir(dir, 0755);
	snprintf(dir, sizeof(dir), "%s/lh/proof", cgroup_root);
	if (mkdir(dir, 0755) && errno != EEXIST)
		return err_sys(e, -errno, "cannot make the cgroup %s", dir);
	*cgroup = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fds[0] < 0 || fds[1] < 0 || *cgroup < 0)
		return err_sys(e, -errno, "cannot make " PLACE);
	return 0;
}

static void place_remove(void)
{
	static const char *const files[] = {
		PLACE "/in/file", PLACE "/in/deny", PLACE "/in/later",
		PLACE "/in/x", PLACE "/out",
	};
	size_t i;

	for (i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		unlink(files[i]);
	rmdir(PLACE "/in");
	rmdir(PLACE "/new");
	rmdir(PLACE);
}

static __u64 hash_of(const char *name, __u64 *lens)
{
	__u64 words[32] = {};
	size_t len = strlen(name);

	memcpy(words, name, len);
	*lens = lh_len_bit(len);
	return lh_name_hash(words, len);
}

static int with_session(struct engine *en, const int fds[2], int cgroup,
			struct err *e)
{
	struct lh_item items[3] = {
		{ .kind = LH_ITEM_ROOT, .fd = fds[0],
		  .root.flags = LH_ROOT_READ | LH_ROOT_WRITE | LH_ROOT_EXEC |
				LH_ROOT_PIN | LH_ROOT_ANCHOR },
		{ .kind = LH_ITEM_ROOT, .fd = fds[1],
		  .root.flags = LH_ROOT_DENY | LH_ROOT_PIN },
		{ .kind = LH_ITEM_NAME, .fd = fds[0],
		  .name.flags = LH_NAME_DENY },
	};
	struct engine_tables t = {
		.items = items, .count = 3, .cgroup_fd = cgroup,
	};
	struct engine_session s;
	int sv[2], err;
	pid_t pid;

	items[2].hash = hash_of("later", &items[0].root.name_lens);
	err = engine_admit(en, &t, &s, e);
	if (err)
		return err;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sv)) {
		err = err_sys(e, -errno, "engine: no socket pair");
		engine_forget(en, &s, NULL);
		return err;
	}
	pid = fork();
	if (!pid) {
		close(sv[0]);
		subject(sv[1]);
	}
	close(sv[1]);
	if (pid < 0)
		err = err_sys(e, -errno, "engine: cannot fork");
	else
		err = trial_session(en, &s, sv[0], pid, e);
	close(sv[0]);
	if (pid > 0 && err) {
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
	}
	if (err)
		engine_forget(en, &s, NULL);
	else
		err = engine_forget(en, &s, e);
	return err;
}

int engine_prove(struct engine *en, const char *cgroup_root, struct err *e)
{
	int fds[2] = { -1, -1 }, cgroup = -1, err, i;
	char dir[512];

	place_remove();		/* what a killed start left */
	err = place_make(fds, &cgroup, cgroup_root, e);
	if (!err)
		err = with_session(en, fds, cgroup, e);
	for (i = 0; i < 2; i++)
		if (fds[i] >= 0)
			close(fds[i]);
	if (cgroup >= 0)
		close(cgroup);
	snprintf(dir, sizeof(dir), "%s/lh/proof", cgroup_root);
	rmdir(dir);
	place_remove();
	return err;
}
