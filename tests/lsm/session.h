/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the enforcement tests stand on: a world of directories owned by the
 * session's user, so that only a policy can refuse; a session with a probe in
 * it that answers questions; the probe's twin outside; the records.
 */
#ifndef LH_TEST_SESSION_H
#define LH_TEST_SESSION_H

#include <stdbool.h>
#include <sys/types.h>

#include "probe.h"

/* An emulated machine, beside others, needs more than the harness grants. */
#ifdef TEST_TIMEOUT_DEFAULT
#undef TEST_TIMEOUT_DEFAULT
#define TEST_TIMEOUT_DEFAULT 400
#endif

#define TEST_USER "lh-test"	/* made by the runner, see run */

/*
 * DIR/ws		workspace; below it lib/ (read-only root), secret/
 *			(deny root), a git repository (protected names)
 * DIR/ro		read-only root
 * DIR/outside		no root at all
 * DIR/log		policy, denials, result, stderr
 */
struct world {
	char dir[64];
	char user[32];
	uid_t uid;
	gid_t gid;
};

struct world *world_make(const char *user);
/*
 * The same with a shell script, run as root, before the directories are made
 * in DIR and one after. It has $DIR, $OWNER (a uid) and $SHARE (a directory of
 * the host's), may mount at and below DIR, and make names that begin so.
 */
struct world *world_make_on(const char *user, const char *before,
			    const char *after);
/* Everything at and below DIR, mounts too. */
/* DIR alone. */
struct world *world_empty(const char *user);
void world_remove(struct world *w);
/* printf a path below the world; good until the eighth call from now. */
__attribute__((format(printf, 2, 3)))
const char *at(const struct world *w, const char *fmt, ...);
/* Make, as the user, a directory with its parents or a file with a text. */
int world_dir(const struct world *w, const char *path);
int world_file(const struct world *w, const char *path, const char *text);
/* True if @path is a file with exactly this text. */
bool holds(const char *path, const char *text);
bool exists(const char *path);

/* The stock policy; "%s" members are the text of further JSON members. */
struct policy {
	const char *profile;		/* NULL: os_hardened */
	const char *level;		/* NULL: process_exec */
	const char *roots;		/* of the workspace; NULL: ["DIR/ws"] */
	const char *deny;		/* more deny roots: ",\"/x\"" */
	const char *ro;			/* more read-only roots, likewise */
	const char *sockets;		/* unix_socket_roots: "\"/x\"" */
	const char *sandbox;		/* of process_sandbox: ",\"x\":1" */
	const char *more;		/* more members: ",\"limits\":{}" */
};

/* Writes DIR/log/policy.json. */
int policy_write(const struct world *w, const struct policy *p);

struct session {
	const struct world *w;
	pid_t pid;		/* of lh-supervise, or of the twin */
	pid_t probe;		/* the command's pid */
	int in, out;		/* the probe's stdin and stdout */
	char name[16];		/* DIR/log/NAME.{denials,result,stderr} */
	long seen;		/* bytes of the records read so far */
	struct probe_reply reply;	/* of the last question */
};

/* What starts sessions, below the build's directory. */
extern const char *session_supervisor;
/* How long a question waits for its answer. */
extern int session_answer_ms;
/* What the next session gets for its standard error, if it is not -1. */
extern int session_stderr;
/* What it is left as descriptor 3, if it is not -1. */
extern int session_keep;
/* Start lh-supervise with the policy written last; flags end with NULL. */
int session_start(struct session *s, const struct world *w, const char *name,
		  const char *const *flags);
/* The same probe as the same user, outside of any session. */
int twin_start(struct session *s, const struct world *w);
/* Ask the probe; 0, its errno, -1 for no answer. */
int session_ask(struct session *s, const char *const *arg);
#define ask(s, ...) session_ask(s, (const char *const[]){ __VA_ARGS__, NULL })
/* Close the probe's stdin and wait: the wait status of lh-supervise. */
int session_end(struct session *s);
/* Its keeper, or -1. */
pid_t session_keeper(const struct session *s);
/* Wait, at most @ms, for a process that is not (or is) a child to be gone. */
bool gone(pid_t pid, int ms);

/*
 * Run lh-supervise to its end with arguments of one's own: wait status, and
 * what it wrote to stderr (to @err, of @size bytes; stdout too).
 */
int supervise(const struct world *w, char *err, size_t size,
	      const char *const *arg);

struct denial {
	long long seq, count, lost, pid;
	char operation[32], mechanism[32], reason[64], hook[48], errno_name[32];
	char address[64];
	long long port, local_port;
	char syscall[32], args[160], arch[16];	/* args: "1 2 3" */
	char rule[256], path[4400], other[4400], comm[64], exe[256];
	bool cut;		/* some path in it is not whole */
};

/* The next record if it has been written: 0, -1. */
int denial_now(struct session *s, struct denial *d);
/* The next record of the session, waiting up to a few seconds: 0, -1. */
int denial_next(struct session *s, struct denial *d);
/*
 * A record that says so comes within a few seconds; those before it are
 * skipped. All but @s may be NULL; @rule is a part of the record's.
 */
bool denied(struct session *s, const char *operation, const char *path,
	    const char *rule);
/* No record is waiting. Only after something that must come later came. */
bool quiet(struct session *s);

/* A member of the result or any JSON file, "a.b", as text; NULL: absent. */
const char *json_member(const char *path, const char *member);

#endif
