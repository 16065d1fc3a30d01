// SPDX-License-Identifier: GPL-2.0-only
/*
 * The command line, by one table: what the parser takes and what --help lists
 * cannot differ. A flag that a later version will know is refused by name, so
 * that nobody believes it was obeyed.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "../policy-compiler/policy.h"
#include "../policy-compiler/suggest.h"
#include "options.h"

enum id {
	O_POLICY, O_POLICY_FROM, O_CWD, O_ENV, O_ENV_FILE, O_TIMEOUT, O_IDLE,
	O_MEMORY, O_PIDS, O_CPU, O_USER, O_NAME, O_LABEL, O_WRITE, O_READ,
	O_READ_ONLY, O_DENY,
	O_CREDENTIAL, O_LOOPBACK, O_LOOPBACK_PORT, O_PUBLISH_PORT, O_SOCKET,
	O_NETWORK, O_EGRESS, O_NO_SANDBOX, O_DENIALS, O_RESULT, O_STATUS_FD,
	O_CAPTURE, O_PTY, O_KEEP_FD, O_DRY_RUN, O_ENGINE, O_JSON, O_QUIET,
	O_VERBOSE, O_VERSION, O_HELP,
};

struct option_row {
	const char *name;
	char letter;
	enum id id;
	const char *arg;	/* NULL: takes none */
	const char *help;	/* NULL: another spelling of the row above */
};

static const struct option_row rows[] = {
	{ "--policy", 0, O_POLICY, "FILE|NAME",
	  "policy or image file, or the name of a policy" },
	{ "--policy-from", 0, O_POLICY_FROM, "RESULT",
	  "the policy that an earlier run recorded" },
	{ "--cwd", 'C', O_CWD, "DIR", "run there; ${WORKSPACE} of the policy" },
	{ "--rw", 0, O_WRITE, "PATH", "one more readable and writable root" },
	{ "--write-root", 0, O_WRITE, "PATH", NULL },
	{ "--sandbox-write-root", 0, O_WRITE, "PATH", NULL },
	{ "--ro", 0, O_READ_ONLY, "PATH", "one more root, never writable" },
	{ "--read-only-root", 0, O_READ_ONLY, "PATH", NULL },
	{ "--sandbox-read-root", 0, O_READ, "PATH", "one more readable root" },
	{ "--deny", 0, O_DENY, "PATH", "neither readable nor writable" },
	{ "--read-deny-root", 0, O_DENY, "PATH", NULL },
	{ "--allow-credential", 0, O_CREDENTIAL, "PATH",
	  "lift one entry of the credential list" },
	{ "--allow-process-loopback", 0, O_LOOPBACK, NULL,
	  "loopback between processes of the session" },
	{ "--loopback-port", 0, O_LOOPBACK_PORT, "PORT[-PORT]",
	  "ports of the host's loopback to reach too" },
	{ "--publish-port", 0, O_PUBLISH_PORT, "PORT[-PORT]",
	  "ports of the session for the host to reach" },
	{ "--sandbox-unix-socket-root", 0, O_SOCKET, "PATH",
	  "host's socket files below it may be used" },
	{ "--allow-net", 0, O_NETWORK, NULL,
	  "level network, for what egress rules allow" },
	{ "--allow-process-network", 0, O_NETWORK, NULL, NULL },
	{ "--egress-allow", 0, O_EGRESS, "RULE",
	  "allow CIDR[:PORT], and level network" },
	{ "--no-sandbox", 0, O_NO_SANDBOX, NULL,
	  "no confinement at all, for this run" },
	{ "--env", 0, O_ENV, "NAME[=VALUE]", "pass or set a variable" },
	{ "--env-file", 0, O_ENV_FILE, "FILE", "set the variables in it" },
	{ "--timeout", 0, O_TIMEOUT, "TIME", "wall time: 30, 500ms, 10m, 2h" },
	{ "--idle-timeout", 0, O_IDLE, "TIME", "end it after so long without "
	  "output" },
	{ "--memory", 0, O_MEMORY, "SIZE", "memory limit: 512M, 2G" },
	{ "--pids", 0, O_PIDS, "N", "limit of processes and threads" },
	{ "--cpu", 0, O_CPU, "PERCENT", "share of processors: 50%, 200% for "
	  "two" },
	{ "--user", 0, O_USER, "NAME|UID", "run as this user" },
	{ "--name", 0, O_NAME, "NAME", "name of the session in result and ps" },
	{ "--label", 0, O_LABEL, "KEY=VALUE", "a label of the result" },
	{ "--denials", 0, O_DENIALS, "FILE|fd:N",
	  "append the denials there (default: /var/log/lh/SESSION.jsonl)" },
	{ "--result", 0, O_RESULT, "FILE", "write the result there, as JSON" },
	{ "--status-fd", 0, O_STATUS_FD, "N", "the same, to descriptor N" },
	{ "--capture", 0, O_CAPTURE, NULL,
	  "stdout and stderr go into the result" },
	{ "--pty", 0, O_PTY, NULL,
	  "the command has a terminal of its own" },
	{ "--keep-fd", 0, O_KEEP_FD, "N", "leave descriptor N to the command" },
	{ "--dry-run", 0, O_DRY_RUN, NULL,
	  "print what would be enforced, run nothing" },
	{ "--engine", 0, O_ENGINE, "status|load|unload",
	  "look at, load or unload the kernel programs" },
	{ "--json", 0, O_JSON, NULL, "the result, as JSON, on stderr" },
	{ "--quiet", 'q', O_QUIET, NULL, "no summary, no notes" },
	{ "--verbose", 'v', O_VERBOSE, NULL, "say more" },
	{ "--version", 0, O_VERSION, NULL, "print the version" },
	{ "--help", 'h', O_HELP, NULL, "print this" },
};

/* Known to the documents, not to this version. */
static const char *const later[] = { "--attach" };

void options_usage(FILE *f)
{
	size_t i;

	fprintf(f, "usage: lh-supervise [OPTION]... [--] COMMAND [ARG]...\n"
		"Run COMMAND under a capability policy that the kernel "
		"enforces.\n\n");
	for (i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const struct option_row *r = &rows[i];
		char left[64];

		snprintf(left, sizeof(left), "%c%c%s%s%s%s",
			 r->letter ? '-' : ' ', r->letter ? r->letter : ' ',
			 r->letter ? ", " : "  ", r->name, r->arg ? " " : "",
			 r->arg ? r->arg : "");
		fprintf(f, "  %-36s %s\n", left,
			r->help ? r->help : "(the same)");
	}
	fprintf(f, "\nExit status: the command's own; 128+N by signal N; 124 "
		"time over;\n125 not run or not finished under the policy;"
		" 126 not executable; 127 not found.\n");
}

static int number(const char *s, uint64_t *v)
{
	char *end;

	if (*s < '0' || *s > '9')
		return -EINVAL;
	errno = 0;
	*v = strtoull(s, &end, 10);
	return errno || *end ? -EINVAL : 0;
}

static int descriptor(const char *flag, const char *s, int *fd, struct err *e)
{
	uint64_t v;

	if (number(s, &v) || v > INT_MAX)
		return err_set(e, -EINVAL, "%s: not a descriptor: %s", flag, s);
	if (v <= 2)
		return err_set(e, -EINVAL, "%s: descriptors 0 to 2 are the "
			       "command's own; use 3 or higher", flag);
	*fd = v;
	return 0;
}

static int too_many(const char *flag, struct err *e)
{
	return err_set(e, -E2BIG, "%s: given more than %d times", flag,
		       OPTIONS_MANY);
}

static int add_root(struct options *o, enum option_root_kind kind,
		    const char *flag, const char *arg, struct err *e)
{
	if (!*arg)
		return err_set(e, -EINVAL, "%s: the path is empty", flag);
	if (o->root_count == OPTIONS_MANY)
		return too_many(flag, e);
	o->root[o->root_count++] = (struct option_root){ kind, flag, arg };
	return 0;
}

static int add_word(struct option_words *w, const char *flag, const char *arg,
		    struct err *e)
{
	if (!*arg)
		return err_set(e, -EINVAL, "%s: the value is empty", flag);
	if (w->count == OPTIONS_MANY)
		return too_many(flag, e);
	w->word[w->count++] = arg;
	return 0;
}

static int add_env(struct options *o, const char *arg, struct err *e)
{
	if (!*arg || *arg == '=')
		return err_set(e, -EINVAL, "--env: the name is empty");
	return add_word(&o->env, "--env", arg, e);
}

/* The name goes into a file name's place in messages and into ps. */
static int set_name(struct options *o, const char *arg, struct err *e)
{
	size_t i, n = strlen(arg);

	for (i = 0; i < n; i++)
		if (arg[i] <= ' ' || arg[i] == 0x7f || arg[i] == '/')
			break;
	if (!n || n > 64 || i < n)
		return err_set(e, -EINVAL, "--name: 1 to 64 printable "
			       "characters without space or '/'");
	o->name = arg;
	return 0;
}

static int set_once(const char **slot, const char *flag, const char *arg,
		    struct err *e)
{
	if (!*arg)
		return err_set(e, -EINVAL, "%s: the value is empty", flag);
	if (*slot)
		return err_set(e, -EINVAL, "%s: given twice", flag);
	*slot = arg;
	return 0;
}

/* The words of a policy's limits, and a bare number of seconds. */
static int take_time(const char *flag, const char *arg, uint64_t *ns,
		     struct err *e)
{
	char seconds[32];

	snprintf(seconds, sizeof(seconds), "%s%s", arg,
		 arg[strspn(arg, "0123456789")] ? "" : "s");
	if (!limit_time(seconds, ns) || !*ns)
		return err_set(e, -EINVAL, "%s: not a time: %s (write 30, "
			       "500ms, 10m or 2h)", flag, arg);
	return 0;
}

static int take_memory(struct options *o, const char *arg, struct err *e)
{
	if (!limit_size(arg, &o->memory) || !o->memory)
		return err_set(e, -EINVAL, "--memory: not a size: %s (write "
			       "512M or 2G)", arg);
	if (o->memory < LIMIT_MEMORY_MIN)
		return err_set(e, -EINVAL, "--memory: %s: less than 1M, in "
			       "which no program starts", arg);
	return 0;
}

static int take_pids(struct options *o, const char *arg, struct err *e)
{
	if (!limit_count(arg, &o->pids) || !o->pids ||
	    o->pids > LIMIT_PIDS_MAX)
		return err_set(e, -EINVAL, "--pids: not a number from 1 to %u: "
			       "%s", LIMIT_PIDS_MAX, arg);
	return 0;
}

static int take_cpu(struct options *o, const char *arg, struct err *e)
{
	if (!limit_percent(arg, &o->cpu))
		return err_set(e, -EINVAL, "--cpu: no share of processors: %s "
			       "(write 50%%, or 200%% for two; up to %u%%)",
			       arg, LIMIT_CPU_MAX);
	return 0;
}

static int take_fd(enum id id, struct options *o, const char *arg,
		   struct err *e)
{
	if (id == O_STATUS_FD && o->status_fd >= 0)
		return err_set(e, -EINVAL, "--status-fd: given twice");
	if (id == O_STATUS_FD)
		return descriptor("--status-fd", arg, &o->status_fd, e);
	if (o->keep_fd_count == OPTIONS_MANY)
		return too_many("--keep-fd", e);
	return descriptor("--keep-fd", arg, &o->keep_fd[o->keep_fd_count++], e);
}

/* What widens or narrows one run. */
static int take_change(enum id id, struct options *o, const char *flag,
		       const char *arg, struct err *e)
{
	switch (id) {
	case O_WRITE: return add_root(o, OPTION_WRITE_ROOT, flag, arg, e);
	case O_READ: return add_root(o, OPTION_READ_ROOT, flag, arg, e);
	case O_READ_ONLY:
		return add_root(o, OPTION_READ_ONLY_ROOT, flag, arg, e);
	case O_DENY: return add_root(o, OPTION_DENY_ROOT, flag, arg, e);
	case O_SOCKET: return add_root(o, OPTION_SOCKET_ROOT, flag, arg, e);
	case O_CREDENTIAL: return add_word(&o->credentials, flag, arg, e);
	case O_EGRESS: return add_word(&o->egress, flag, arg, e);
	case O_LOOPBACK_PORT: return add_word(&o->loopback_ports, flag, arg, e);
	case O_PUBLISH_PORT: return add_word(&o->publish_ports, flag, arg, e);
	case O_LOOPBACK: o->loopback = true; return 0;
	case O_NETWORK: o->network = true; return 0;
	default: return -ENOENT;	/* none of them */
	}
}

static int take(enum id id, struct options *o, const char *flag,
		const char *arg, struct err *e)
{
	int ret = take_change(id, o, flag, arg, e);

	if (ret != -ENOENT) {
		if (!o->widened)
			o->widened = flag;
		return ret;
	}
	switch (id) {
	case O_POLICY: return set_once(&o->policy, flag, arg, e);
	case O_POLICY_FROM: return set_once(&o->policy_from, flag, arg, e);
	case O_CWD: return set_once(&o->cwd, flag, arg, e);
	case O_USER: return set_once(&o->user, flag, arg, e);
	case O_DENIALS: return set_once(&o->denials, flag, arg, e);
	case O_RESULT: return set_once(&o->result, flag, arg, e);
	case O_ENGINE: return set_once(&o->engine, flag, arg, e);
	case O_NAME: return set_name(o, arg, e);
	case O_LABEL: return labels_add(&o->labels, arg, e);
	case O_ENV: return add_env(o, arg, e);
	case O_ENV_FILE: return add_word(&o->env_files, flag, arg, e);
	case O_TIMEOUT: return take_time(flag, arg, &o->timeout, e);
	case O_IDLE: return take_time(flag, arg, &o->idle, e);
	case O_MEMORY: return take_memory(o, arg, e);
	case O_PIDS: return take_pids(o, arg, e);
	case O_CPU: return take_cpu(o, arg, e);
	case O_STATUS_FD:
	case O_KEEP_FD: return take_fd(id, o, arg, e);
	case O_NO_SANDBOX: o->no_sandbox = true; return 0;
	case O_CAPTURE: o->capture = true; return 0;
	case O_PTY: o->pty = true; return 0;
	case O_DRY_RUN: o->dry_run = true; return 0;
	case O_JSON: o->json = true; return 0;
	case O_QUIET: o->quiet = true; return 0;
	case O_VERBOSE: o->verbose = true; return 0;
	case O_VERSION: o->version = true; return 0;
	case O_HELP: o->help = true; return 0;
	default: return -EINVAL;
	}
}

static const struct option_row *find_long(const char *name, size_t len)
{
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		if (strlen(rows[i].name) == len &&
		    !memcmp(rows[i].name, name, len))
			return &rows[i];
	return NULL;
}

static const struct option_row *find_letter(char c)
{
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		if (rows[i].letter == c)
			return &rows[i];
	return NULL;
}

static int unknown_long(const char *word, size_t len, struct err *e)
{
	const char *near;
	char name[65];
	size_t i;

	for (i = 0; i < sizeof(later) / sizeof(*later); i++)
		if (strlen(later[i]) == len && !memcmp(later[i], word, len))
			return err_set(e, -EOPNOTSUPP, "%s: not supported by "
				       "this version; nothing was run",
				       later[i]);
	snprintf(name, sizeof(name), "%.*s", (int)(len > 64 ? 64 : len), word);
	near = suggest(name, &rows->name, sizeof(*rows),
		       sizeof(rows) / sizeof(*rows));
	if (near)
		return err_set(e, -EINVAL, "unknown option: %s; did you mean "
			       "%s?", name, near);
	return err_set(e, -EINVAL, "unknown option: %s (see --help)", name);
}

static int parse_long(char **argv, int *i, struct options *o, struct err *e)
{
	char *word = argv[*i];
	size_t len = strcspn(word, "=");
	const struct option_row *r = find_long(word, len);
	const char *arg = word[len] ? word + len + 1 : NULL;

	if (!r)
		return unknown_long(word, len, e);
	if (!r->arg && arg)
		return err_set(e, -EINVAL, "%s: takes no value", r->name);
	if (r->arg && !arg) {
		arg = argv[*i + 1];
		if (!arg)
			return err_set(e, -EINVAL, "%s: %s is missing", r->name,
				       r->arg);
		++*i;
	}
	return take(r->id, o, r->name, arg, e);
}

static int parse_letters(char **argv, int *i, struct options *o,
			 struct err *e)
{
	const char *p = argv[*i] + 1;

	while (*p) {
		const struct option_row *r = find_letter(*p++);
		const char *arg = NULL;
		int ret;

		if (!r)
			return err_set(e, -EINVAL, "unknown option: -%c (see "
				       "--help)", p[-1]);
		if (r->arg) {
			arg = *p ? p : argv[++*i];
			if (!arg)
				return err_set(e, -EINVAL, "-%c: %s is missing",
					       r->letter, r->arg);
			p = "";
		}
		ret = take(r->id, o, r->name, arg, e);
		if (ret)
			return ret;
	}
	return 0;
}

/* Flags that contradict each other: which one was meant is not guessed. */
static int check_together(const struct options *o, struct err *e)
{
	if (o->policy && o->policy_from)
		return err_set(e, -EINVAL, "--policy and --policy-from: one "
			       "policy at a time");
	if (o->no_sandbox && o->widened)
		return err_set(e, -EINVAL, "--no-sandbox and %s: without a "
			       "sandbox there is nothing that it could change",
			       o->widened);
	if (o->no_sandbox && o->policy_from)
		return err_set(e, -EINVAL, "--no-sandbox and --policy-from: a "
			       "recorded policy is applied whole, or not at "
			       "all");
	if (o->capture && !o->result && o->status_fd < 0 && !o->json &&
	    !o->dry_run)
		return err_set(e, -EINVAL, "--capture: the output would be "
			       "lost: it is part of the result, so add "
			       "--result, --status-fd or --json");
	return 0;
}

int options_parse(int argc, char **argv, struct options *o, struct err *e)
{
	int i, ret;

	*o = (struct options){ .status_fd = -1 };
	for (i = 1; i < argc; i++) {
		char *word = argv[i];

		if (word[0] != '-' || !word[1])
			break;
		if (!strcmp(word, "--")) {
			i++;
			break;
		}
		ret = word[1] == '-' ? parse_long(argv, &i, o, e)
				     : parse_letters(argv, &i, o, e);
		if (ret)
			return ret;
	}
	if (i < argc)
		o->command = argv + i;
	return check_together(o, e);
}
