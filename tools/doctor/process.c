// SPDX-License-Identifier: GPL-2.0-only
/*
 * What concerns the process of a session: each is tried in a child that is an
 * ordinary user without capabilities, as a session's is.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <inttypes.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <linux/filter.h>
#include <linux/seccomp.h>

#include "../../policy-compiler/filter.h"
#include "../../supervisor/cleanup.h"
#include "doctor.h"

#define NOBODY 65534
#define LANDLOCK_VERSION 1

/* A number in a file below /proc/sys; -1: there is none. */
static long setting(const char *name)
{
	_cleanup_file_ FILE *f = NULL;
	char path[256];
	long n;

	snprintf(path, sizeof(path), "/proc/sys/%s", name);
	f = fopen(path, "re");
	return f && fscanf(f, "%ld", &n) == 1 ? n : -1;
}

/* Run @fn, which returns 0 or an errno, as nobody. -1: it did not end so. */
static int as_nobody(int (*fn)(void))
{
	int status;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (!pid) {
		if (!geteuid() && (setgroups(0, NULL) ||
				   setresgid(NOBODY, NOBODY, NOBODY) ||
				   setresuid(NOBODY, NOBODY, NOBODY)))
			_exit(EINVAL);
		prctl(PR_SET_DUMPABLE, 1);
		prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
		_exit(fn());
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return -1;
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static const char *words(int err)
{
	return err < 0 ? "the trial was killed" : strerror(err);
}

static int try_filter(void)
{
	struct sock_fprog prog = {};
	size_t count;

	prog.filter = (struct sock_filter *)filter_ready(0, &count);
	prog.len = count;
	return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &prog) ?
	       errno : 0;
}

static int try_listener(void)
{
	struct sock_filter pass = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	struct sock_fprog prog = { .len = 1, .filter = &pass };

	return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
		       SECCOMP_FILTER_FLAG_NEW_LISTENER, &prog) < 0 ? errno : 0;
}

static void check_seccomp(struct doctor *d)
{
	int err = as_nobody(try_filter);
	struct finding *f;

	if (!err) {
		find(d, "seccomp", NEED_CONFINED, V_OK, "the filter of a "
		     "session loads");
	} else {
		f = find(d, "seccomp", NEED_CONFINED, V_MISSING, "the filter "
			 "of a session does not load: %s", words(err));
		effect(f, "no confined session starts");
		remedy(f, "a kernel with CONFIG_SECCOMP_FILTER, and x86-64");
	}
	err = as_nobody(try_listener);
	if (!err) {
		find(d, "seccomp_notify", NEED_NOTHING, V_OK, "user "
		     "notification can be had");
		return;
	}
	f = find(d, "seccomp_notify", NEED_NOTHING, V_LIMITED, err == EBUSY ?
		 "there is a listener already, above us%s%s" :
		 "no user notification%s%s", err == EBUSY ? "" : ": ",
		 err == EBUSY ? "" : words(err));
	effect(f, "what seccomp refuses is refused without a record");
	if (err == EBUSY)
		remedy(f, "start it outside of the container, or with that "
		       "one's own seccomp profile off");
}

static void check_landlock(struct doctor *d)
{
	long abi = syscall(SYS_landlock_create_ruleset, NULL, 0,
			   LANDLOCK_VERSION);

	if (abi > 0)
		find(d, "landlock", NEED_NOTHING, V_OK, "ABI %ld (for "
		     "information: nothing here uses it)", abi);
	else
		find(d, "landlock", NEED_NOTHING, V_OK, "none: %s (for "
		     "information: nothing here uses it)", strerror(errno));
}

static int try_trace(void)
{
	int status, err = 0;
	pid_t pid = fork();

	if (!pid) {
		pause();
		_exit(0);
	}
	if (pid < 0)
		return errno;
	if (ptrace(PTRACE_SEIZE, pid, 0, 0))
		err = errno;
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	return err;
}

static void check_ptrace(struct doctor *d)
{
	long scope = setting("kernel/yama/ptrace_scope");
	int err = as_nobody(try_trace);
	struct finding *f;

	if (!err) {
		find(d, "ptrace", NEED_NOTHING, V_OK, scope < 0 ?
		     "a user can trace a child; no Yama" :
		     "a user can trace a child; Yama's ptrace_scope is %ld",
		     scope);
		return;
	}
	f = find(d, "ptrace", NEED_NOTHING, V_LIMITED, "a user cannot trace a "
		 "child: %s; Yama's ptrace_scope is %ld", words(err), scope);
	effect(f, "with \"ptrace\": true of a policy os_hardened is refused, "
	       "and worktree grants nothing by it");
	if (scope == 2)
		remedy(f, "sysctl kernel.yama.ptrace_scope=1");
	else if (scope == 3)
		remedy(f, "set kernel.yama.ptrace_scope=1 in /etc/sysctl.d, "
		       "and boot again: 3 cannot be lowered before");
}

static int try_userns(void)
{
	if (unshare(CLONE_NEWUSER))
		return errno;
	/* Where AppArmor takes the capabilities away, this is what fails. */
	return unshare(CLONE_NEWUTS) ? errno : 0;
}

static void check_userns(struct doctor *d)
{
	static const struct {
		const char *name, *sysctl;
		long bad, good;
	} settings[] = {
		{ "kernel/unprivileged_userns_clone",
		  "kernel.unprivileged_userns_clone", 0, 1 },
		{ "user/max_user_namespaces", "user.max_user_namespaces", 0,
		  15000 },
		{ "kernel/apparmor_restrict_unprivileged_userns",
		  "kernel.apparmor_restrict_unprivileged_userns", 1, 0 },
	};
	int err = as_nobody(try_userns);
	struct finding *f;
	size_t i;

	if (!err) {
		find(d, "userns", NEED_NOTHING, V_OK, "a user can make a user "
		     "namespace");
		return;
	}
	f = find(d, "userns", NEED_NOTHING, V_LIMITED, "a user cannot make a "
		 "user namespace: %s", words(err));
	effect(f, "\"user_namespaces\": true of a policy grants nothing");
	for (i = 0; i < sizeof(settings) / sizeof(*settings); i++)
		if (setting(settings[i].name) == settings[i].bad) {
			remedy(f, "sysctl %s=%ld", settings[i].sysctl,
			       settings[i].good);
			return;
		}
	remedy(f, "start it where unshare(2) is not refused (outside of the "
	       "container or chroot)");
}

static void check_loginuid(struct doctor *d)
{
	_cleanup_file_ FILE *f = fopen("/proc/self/loginuid", "re");
	struct finding *is;
	uint32_t id;

	if (!f || fscanf(f, "%" SCNu32, &id) != 1) {
		find(d, "loginuid", NEED_NOTHING, V_OK, "the kernel keeps "
		     "none");
		return;
	}
	if (id != UINT32_MAX) {
		find(d, "loginuid", NEED_NOTHING, V_OK, "%" PRIu32 ": the "
		     "audit log names who logged in; a session cannot change "
		     "it", id);
		return;
	}
	is = find(d, "loginuid", NEED_NOTHING, V_LIMITED, "not set: we were "
		  "not started from a login");
	effect(is, "the host's audit log cannot name whose session it was; "
	       "records of lh-supervise can");
	remedy(is, "start it from a login session (pam_loginuid), if you need "
	       "that log");
}

void check_process(struct doctor *d)
{
	check_seccomp(d);
	check_landlock(d);
	check_ptrace(d);
	check_userns(d);
	check_loginuid(d);
}
