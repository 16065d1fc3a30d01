// SPDX-License-Identifier: GPL-2.0-only
/*
 * lh-supervise: run a command under a capability policy that the kernel
 * enforces, and tell what was refused. Here every error is printed, once, and
 * the exit status is decided.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "cleanup.h"
#include "confine.h"
#include "named.h"
#include "run.h"
#include "say.h"
#include "version.h"

/* What is opened later must not become the command's standard stream. */
static int fill_streams(void)
{
	int fd;

	do
		fd = open("/dev/null", O_RDWR);
	while (fd >= 0 && fd <= 2);
	if (fd > 2)
		close(fd);
	return fd < 0 ? -errno : 0;
}

static void say_policy(struct run *r)
{
	struct diags *d = &r->load.diags;

	if (d->count && (d->errors || !r->o.quiet))
		diags_print(d, stderr, "lh-supervise: ");
	if (d->errors)
		say("the policy has %u error%s; nothing was run", d->errors,
		    d->errors == 1 ? "" : "s");
}

static void say_end(const struct run *r)
{
	const struct result *res = &r->result;
	char text[3000];
	unsigned int i;

	if (res->error[0])
		say("%s", res->error);
	if (r->o.quiet)
		return;
	if (res->timed_out)
		say("%s; the session was ended", res->idle ?
		    "nothing was written for the idle time" :
		    "the wall time is over");
	flow_say(&r->flow);
	if (res->usage.oom_kills)
		say("the memory limit was reached: %llu process(es) killed",
		    (unsigned long long)res->usage.oom_kills);
	if (res->usage.pids_refused)
		say("the limit of processes was reached: %llu fork(s) refused",
		    (unsigned long long)res->usage.pids_refused);
	if (res->signal == SIGXFSZ)
		say("the limit of file sizes was reached");
	if (r->denials.unwritten)
		say("%llu denial record(s) could not be kept: %s",
		    (unsigned long long)r->denials.unwritten,
		    strerror(-r->denials.error));
	if (hostexec_summary(r->host_exec, r->cwd_path, text, sizeof(text)))
		say("%s", text);
	if (r->o.json || res->status == RESULT_NOT_STARTED ||
	    (!res->exit_status && !r->o.verbose))
		return;
	for (i = 0; denials_summary(&r->denials, i, text, sizeof(text)); i++)
		say("%s", text);
}

static int session(struct run *r)
{
	struct err e = {};
	int status;

	r->result.status = RESULT_NOT_STARTED;
	r->result.exit_code = -1;
	r->result.name = r->o.name;
	r->result.labels = &r->o.labels;
	status = run_prepare(r, &e);
	say_policy(r);
	if (!status && r->o.dry_run) {
		confine_say(r);
		status = run_plan(r, &e);
		if (e.num)
			say("%s", e.msg);
		return status;
	}
	if (!status) {
		status = run_start(r, &e);
		if (!status)
			status = run_follow(r, &e);
		else if (r->result.signal)
			status = 128 + r->result.signal;
	}
	flow_leave(&r->flow);
	run_undo(r);
	if (e.num && !r->result.error[0])
		memcpy(r->result.error, e.msg, sizeof(r->result.error));
	else if (r->load.diags.errors)
		snprintf(r->result.error, sizeof(r->result.error), "%s",
			 diags_error(&r->load.diags));
	r->result.exit_status = status;
	/* Who asked for it and has none must not think that all is well. */
	if (run_tell(r))
		status = EXIT_OURS;
	if (r->load.diags.errors)
		r->result.error[0] = 0;	/* printed already, all of them */
	say_end(r);
	return status;
}

static void run_free(struct run *r)
{
	denials_free(&r->denials);
	hostexec_free(r->host_exec);
	if (r->resolved)
		table_free(&r->table);
	environment_free(&r->env);
	load_free(&r->load);
	identity_free(&r->id);
	flow_free(&r->flow);
	close_fd(&r->cwd);
	close_fd(&r->signals);
	close_fd(&r->kernel_log);
	named_whole_free(&r->result_file);
	close_fd(&r->status_fd);
	free(r->cwd_path);
	free(r->command);
	free(r->cgroup_root);
	free(r->temp);
	free(r->cache);
}

static int engine_verb(const struct options *o)
{
	_cleanup_free_ char *root = NULL;
	struct err e = {};
	int status;

	if (o->command) {
		say("--engine: takes no command");
		return EXIT_OURS;
	}
	/* Only loading needs one: the proof makes a cgroup. */
	root = strcmp(o->engine, "load") ? strdup("") : cgroup_root(&e);
	status = root && !engine_command(o->engine, root, &e) ? 0 : EXIT_OURS;
	if (e.num)
		say("%s", e.msg);
	return status;
}

int main(int argc, char **argv)
{
	static struct run r = RUN_NONE;
	struct err e = {};
	sigset_t quiet;
	int status;

	if (fill_streams())
		return EXIT_OURS;
	prctl(PR_SET_DUMPABLE, 0);
	/* Who ignores it loses his children's ends, and waits for ever. */
	signal(SIGCHLD, SIG_DFL);
	sigemptyset(&quiet);
	/* Writing to a closed pipe or a busy terminal must not end us, nor to
	 * a file that may grow no more; nor a terminal that tells all in its
	 * foreground of a key, because the command wants to know. */
	sigaddset(&quiet, SIGPIPE);
	sigaddset(&quiet, SIGTTOU);
	sigaddset(&quiet, SIGXFSZ);
	sigaddset(&quiet, SIGIO);
	sigprocmask(SIG_BLOCK, &quiet, &r.mask);
	if (options_parse(argc, argv, &r.o, &e)) {
		say("%s", e.msg);
		return EXIT_OURS;
	}
	if (r.o.help) {
		options_usage(stdout);
		return fflush(stdout) ? EXIT_OURS : 0;
	}
	if (r.o.version) {
		printf("lh-supervise %s (abi %d)\n", LH_VERSION, LH_ABI);
		return fflush(stdout) ? EXIT_OURS : 0;
	}
	if (r.o.engine)
		return engine_verb(&r.o);
	if (!r.o.command && !r.o.dry_run) {
		say("no command: lh-supervise [OPTION]... -- COMMAND "
		    "[ARG]... (see --help)");
		return EXIT_OURS;
	}
	status = session(&r);
	run_free(&r);
	return status;
}
