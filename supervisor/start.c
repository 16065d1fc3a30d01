// SPDX-License-Identifier: GPL-2.0-only
/*
 * The start of a session, step by step, each of which may refuse. Nothing of
 * the user's runs until the last; whatever fails, run_undo() takes back what
 * was made.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#include "cleanup.h"
#include "confine.h"
#include "facts.h"
#include "named.h"
#include "reached.h"
#include "run.h"
#include "say.h"
#include "step.h"
#include "temp.h"

static bool is_confined(const struct run *r)
{
	return r->result.confinement != CONFINE_NONE;
}

static bool has_engine(const struct run *r)
{
	return r->engine;
}

static int check_nested(struct err *e)
{
	char id[64];

	cgroup_own_session(id);
	if (!id[0])
		return 0;
	return err_set(e, -EBUSY, "already inside session %s: a session "
		       "cannot start another one yet", id);
}

/* Before anything is opened: a kept descriptor is one the caller gave. */
static int check_descriptors(struct run *r, struct err *e)
{
	unsigned int i;

	for (i = 0; i < r->o.keep_fd_count; i++)
		if (fcntl(r->o.keep_fd[i], F_GETFD) < 0)
			return err_sys(e, -errno, "--keep-fd %d",
				       r->o.keep_fd[i]);
	if (r->o.status_fd >= 0) {
		for (i = 0; i < r->o.keep_fd_count; i++)
			if (r->o.keep_fd[i] == r->o.status_fd)
				return err_set(e, -EINVAL, "--status-fd %d: is "
					       "kept for the command too",
					       r->o.status_fd);
		r->status_fd = named_descriptor("--status-fd", r->o.status_fd,
						NULL, e);
		if (r->status_fd < 0)
			return r->status_fd;
	}
	return 0;
}

static int find_directory(struct run *r, struct err *e)
{
	char link[64], path[4096];
	ssize_t n;

	r->cwd = named_directory(&r->id, "--cwd", r->o.cwd ? r->o.cwd : ".", e);
	if (r->cwd < 0)
		return r->cwd;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", r->cwd);
	n = readlink(link, path, sizeof(path) - 1);
	if (n <= 0 || path[0] != '/')
		return err_set(e, -ENOENT, "the working directory has no path");
	path[n] = 0;
	r->cwd_path = strdup(path);
	return r->cwd_path ? 0 : err_sys(e, -ENOMEM, "--cwd");
}

static int find_command(struct run *r, struct err *e)
{
	const char *path = environment_get(&r->env, "PATH");
	int ret;

	ret = launch_find(&r->id, r->o.command[0], r->cwd, r->cwd_path,
			  path ? path : "/usr/local/bin:/usr/bin:/bin",
			  &r->command, e);
	r->result.command = r->command;
	return ret;
}

int run_prepare(struct run *r, struct err *e)
{
	int ret = check_nested(e);

	if (!ret)
		ret = confine_select(r, e);
	if (!ret)
		ret = identity_find(r->o.user, !r->o.dry_run, &r->id, e);
	if (!ret)
		ret = check_descriptors(r, e);
	if (ret)
		return EXIT_OURS;
	r->result.id = &r->id;
	ret = find_directory(r, e);
	if (!ret)
		ret = load_image(&r->o, &r->id, r->cwd_path, &r->load, e);
	r->result.im = r->load.im;
	r->result.credentials = r->load.lifted;
	r->result.credential_count = r->load.lifted_count;
	if (!ret)
		ret = confine_decide(r, e);
	if (!ret) {
		ret = environment_start(&r->env, r->load.im, &r->id);
		if (ret)
			err_sys(e, ret, "environment");
	}
	if (ret)
		return EXIT_OURS;
	return r->o.command ? find_command(r, e) : 0;
}

/*
 * From here on a signal is read, not suffered: half a session is taken apart
 * in order.
 */
static int hold_signals(struct run *r, struct err *e)
{
	static const int handled[] = {
		SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGALRM,
		SIGCONT, SIGWINCH, SIGTSTP, SIGTTIN, SIGTTOU, SIGCHLD,
	};
	sigset_t set;
	size_t i;

	sigemptyset(&set);
	for (i = 0; i < sizeof(handled) / sizeof(*handled); i++)
		sigaddset(&set, handled[i]);
	if (sigprocmask(SIG_BLOCK, &set, NULL))
		return err_sys(e, -errno, "signals");
	r->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return r->signals < 0 ? err_sys(e, -errno, "signalfd") : 0;
}

static int make_places(struct run *r, struct err *e)
{
	const struct image *im = r->load.im;
	struct cgroup_limits limits = {
		.memory = im->limits.memory, .swap = im->limits.swap,
		.pids = im->limits.pids, .cpu = im->limits.cpu,
		.io = im->limits.io,
	};
	int ret = registry_enter(&r->id, r->o.name, &r->registry, e);

	if (ret)
		return ret;
	r->result.session = r->registry.id;
	step("registry");
	ret = facts_write(r, e);
	step("facts");
	if (!ret)
		ret = cgroup_make(r->cgroup_root, r->registry.id, &limits,
				  &r->group, e);
	step("cgroup");
	if (!ret)
		ret = registry_hold(&r->group, e);
	if (!ret)
		ret = confine_swap(r, e);
	if (!ret && (im->flags & IMAGE_USER_TEMP) && is_confined(r)) {
		r->temp = temp_make(&r->id, r->registry.id, e);
		ret = r->temp ? 0 : -EIO;
	}
	return ret;
}

static int resolve(struct run *r, struct err *e)
{
	int stdio[3] = { 0, 1, 2 }, i, ret;
	char base[TEMP_BASE_LEN];
	struct resolve_options o = {
		.as = identity_as, .arg = &r->id, .temp_dir = r->temp,
		.temp_base = temp_base_may_be(r->id.user.uid) ? base : NULL,
		.command = r->command, .stdio = stdio,
		.kept = r->o.keep_fd, .kept_count = r->o.keep_fd_count,
		.cgroup_dir = r->group.path, .policy_file = r->load.file,
	};

	temp_base(r->id.user.uid, base);
	for (i = 0; i < 3; i++)
		if (r->flow.command[i] >= 0)
			stdio[i] = r->flow.command[i];
	ret = table_resolve(r->load.im, &o, &r->table, e);
	identity_as(RESOLVE_AS_SELF, &r->id);
	r->resolved = !ret;
	return ret;
}

/* The first writable root that is a directory and not the temp directory. */
static void make_cache(struct run *r)
{
	size_t i;

	for (i = 0; !r->cache && i < r->table.writable_count; i++)
		if (!r->temp || strcmp(r->table.writable[i], r->temp))
			r->cache = temp_cache_make(&r->id,
						   r->table.writable[i]);
}

static bool hidden_at(struct run *r, const char *home, const char *below)
{
	_cleanup_free_ char *path = NULL;
	struct explain x = {};
	bool hide;
	int ret;

	if (asprintf(&path, "%s/%s", home, below) < 0)
		return false;
	if (identity_as(RESOLVE_AS_USER, &r->id))
		return false;
	ret = table_explain(r->load.im, &r->table, path, LH_READ, &x, NULL);
	identity_as(RESOLVE_AS_SELF, &r->id);
	if (ret)
		return false;
	hide = !x.absent && x.verdict.why != LH_WHY_ALLOW;
	free(x.object);
	free(x.root);
	return hide;
}

/* git dies of a configuration it may not read: is there one? */
static bool hides_git_config(struct run *r)
{
	/* What the command will take for its home, which may be another. */
	const char *home = environment_get(&r->env, "HOME");

	if (!home || home[0] != '/')
		home = r->id.home;
	return hidden_at(r, home, ".gitconfig") ||
	       hidden_at(r, home, ".config/git/config");
}

static int admit(struct run *r, struct err *e)
{
	struct engine_tables t = {
		.items = r->table.items, .count = r->table.count,
		.wild = r->table.wild, .wild_count = r->table.wild_count,
		.wild_lens = r->table.wild_lens,
		.flags = image_session_flags(r->load.im),
		.cgroup_fd = r->group.dir, .im = r->load.im,
	};
	int ret = engine_admit(r->engine, &t, &r->es, e);

	r->admitted = !ret;
	if (!ret)
		engine_made(r->engine, &r->es, &r->made);
	return ret;
}

/* Who is confined has records: of the engine, of seccomp. */
static int open_records(struct run *r, struct err *e)
{
	r->book = book_new();
	if (!r->book)
		return err_sys(e, -errno, "the book of refused calls");
	r->denials.session = r->registry.id;
	r->denials.id = &r->id;
	r->denials.im = r->load.im;
	r->denials.table = &r->table;
	r->denials.serial = r->es.serial;
	r->result.denials = &r->denials;
	return 0;
}

/* What the command finds around it, beyond what its user has anyway. */
static int furnish(struct run *r, struct err *e)
{
	int ret;

	make_cache(r);
	r->host_exec = hostexec_begin(&r->id, r->table.writable,
				      r->table.writable_count, r->temp);
	ret = environment_finish(&r->env, r->temp, r->cache,
				 hides_git_config(r));
	return ret ? err_sys(e, ret, "environment") : 0;
}

static int start_keeper(struct run *r, struct err *e)
{
	struct keeper_job job = {
		.group = &r->group, .registry = &r->registry, .id = &r->id,
		.session = r->registry.id, .cache = r->cache,
		.temp = r->temp, .wall_time = r->load.im->limits.wall_time,
		.grace = r->load.im->limits.grace,
		.terminal = r->flow.terminal.outer < 0 ? NULL :
			    &r->flow.terminal,
		.made = r->admitted ? &r->made : NULL,
		.listener = {
			.fd = -1, .book = r->book, .serial = r->es.serial,
			.im = r->load.im,
		},
	};

	if (r->admitted) {
		engine_counts(r->engine, &r->es, &job.listener.seq,
			      &job.listener.lost);
	} else if (r->book) {
		job.listener.seq = &r->book->seq;
		job.listener.lost = &r->book->lost;
	}

	return keeper_start(&job, &r->keeper, e);
}

/* A signal that came before the command existed is for the whole start. */
static int check_signals(struct run *r, struct err *e)
{
	struct signalfd_siginfo s;

	while (read(r->signals, &s, sizeof(s)) == sizeof(s)) {
		struct sigaction now = {};

		if (s.ssi_signo == SIGCHLD)
			keeper_wake(&r->keeper);
		/* Blocked, it arrives even where the caller ignores it. */
		sigaction(s.ssi_signo, NULL, &now);
		if (now.sa_handler == SIG_IGN)
			continue;
		switch (s.ssi_signo) {
		case SIGINT: case SIGQUIT: case SIGTERM: case SIGHUP:
			r->result.signal = s.ssi_signo;
			return err_set(e, -EINTR, "stopped by %s before the "
				       "command was started",
				       strsignal(s.ssi_signo));
		}
	}
	return 0;
}

static int start_command(struct run *r, struct err *e)
{
	int ret;

	widen_say(r);
	r->launch.id = &r->id;
	r->launch.im = r->load.im;
	r->launch.path = r->command;
	r->launch.argv = r->o.command;
	r->launch.envp = r->env.vars;
	r->launch.cwd = r->cwd;
	r->launch.cgroup = r->group.dir;
	r->launch.stdio = r->flow.command;
	r->launch.terminal = r->flow.terminal.slave;
	r->launch.keep = r->o.keep_fd;
	r->launch.keep_count = r->o.keep_fd_count;
	r->launch.mask = &r->mask;
	r->launch.open_files = r->table.open_files;
	r->launch.free = !is_confined(r);
	r->launch.listener = r->keeper.child;
	ret = launch_fork(&r->launch, e);
	/* The child's alone now: without it the keeper would wait. */
	close_fd(&r->keeper.child);
	step("fork");
	if (!ret)
		ret = cgroup_attach(&r->group, r->launch.pid, e);
	flow_started(&r->flow);
	step("attach");
	if (!ret && r->engine)
		ret = engine_label(r->engine, &r->es, r->launch.pidfd, e);
	step("label");
	if (!ret)
		ret = check_signals(r, e);
	if (ret)
		return ret;
	reached_begin(r);
	ret = keeper_tell(&r->keeper, KEEPER_START);
	if (ret)
		return err_sys(e, ret, "the keeper is gone");
	step("clock");
	clock_gettime(CLOCK_REALTIME, &r->result.started);
	ret = launch_release(&r->launch);
	return ret ? err_sys(e, ret, "the command's process is gone") : 0;
}

/* The engine, where this run has one. */
static int open_engine(struct run *r, struct err *e)
{
	enum engine_lack lack;
	int ret;

	if (!is_confined(r))
		return 0;
	ret = engine_open(r->cgroup_root, &r->engine, &lack, e);
	return ret ? confine_no_engine(r, lack, e) : 0;
}

/* What this host has for us. */
static int open_host(struct run *r, struct err *e)
{
	int ret;

	r->cgroup_root = cgroup_root(e);
	if (!r->cgroup_root)
		return confine_refused(r, "linux_cgroup_v2", true, e);
	ret = confine_limits(r, e);
	if (!ret)
		ret = open_engine(r, e);
	if (!ret)
		ret = confine_tracing(r, e);
	if (!ret)
		ret = cgroup_ready(e);
	return ret ? ret : hold_signals(r, e);
}

static int sweep(struct run *r, struct err *e)
{
	int places = registry_sweep(&r->id, r->cgroup_root);
	int slots = r->engine ? engine_sweep(r->engine, e) : 0;

	if (r->o.verbose && (places > 0 || slots > 0))
		say("cleared up after %d session(s) that were killed",
		    places > slots ? places : slots);
	return slots < 0 ? slots : 0;
}

int run_start(struct run *r, struct err *e)
{
	static const struct {
		const char *name;
		int (*run)(struct run *r, struct err *e);
		bool (*needed)(const struct run *r);
	} steps[] = {
		{ "host", open_host, NULL },
		{ "sweep", sweep, NULL },
		{ "places", make_places, NULL },
		{ "flow", run_flow, NULL },
		{ "resolve", resolve, is_confined },
		{ "outputs", run_outputs, NULL },
		{ "furnish", furnish, is_confined },
		{ "admit", admit, has_engine },
		{ "records", open_records, is_confined },
		{ "keeper", start_keeper, NULL },
		{ "command", start_command, NULL },
	};
	size_t i;

	confine_say(r);
	for (i = 0; i < sizeof(steps) / sizeof(*steps); i++) {
		if (steps[i].needed && !steps[i].needed(r))
			continue;
		if (steps[i].run(r, e))
			return EXIT_OURS;
		step(steps[i].name);
	}
	return 0;
}
