// SPDX-License-Identifier: GPL-2.0-only
/*
 * conform FILE...: plays rows of what the policy language promises, on the
 * kernel that runs, and prints a line of JSON for each: its verdict, and the
 * step that decided it. The format of FILE: README, "Conformance".
 */
#define _GNU_SOURCE
#include <ctype.h>
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include <yajl/yajl_gen.h>

#include "../lsm/session.h"

#define WORDS 24
#define GONE_MS 10000

/* All of it happens in a directory of its own. */
extern const bool world_is_apart;
const bool world_is_apart = true;

/* From what is said about a row the first of these wins. */
enum verdict { ESCAPED, OVERREFUSED, CONTRADICTION, NOT_MEASURED,
	       NOT_APPLICABLE, CONFORMS };

static const char *const verdicts[] = {
	"escaped", "overrefused", "contradiction", "not_measured",
	"not_applicable", "conforms",
};

struct play {
	struct world *w;
	struct session in, other, host;
	bool on;		/* both sessions live */
	char *policy;
	char cannot[512];	/* why no session starts here */
	char group[32];

	char row[48], promise[256];
	enum verdict verdict;
	char decided[512], why[512];
	bool quiet;		/* nothing in it is to be refused */

	const char *file;
	int line;
	char name[16][16];	/* variables and their values */
	long value[16];
	int names;
	int failed, loaded;
};

/* conform itself was told something that makes no sense. */
__attribute__((noreturn, format(printf, 2, 3)))
static void stop(const struct play *p, const char *format, ...)
{
	va_list ap;

	fprintf(stderr, "conform: %s:%d: ", p->file, p->line);
	va_start(ap, format);
	vfprintf(stderr, format, ap);
	va_end(ap);
	fputc('\n', stderr);
	exit(2);
}

__attribute__((format(printf, 4, 5)))
static void say(struct play *p, enum verdict v, const char *step,
		const char *format, ...)
{
	va_list ap;

	if (v >= p->verdict)
		return;
	p->verdict = v;
	snprintf(p->decided, sizeof(p->decided), "%s", step);
	va_start(ap, format);
	vsnprintf(p->why, sizeof(p->why), format, ap);
	va_end(ap);
}

static void put(yajl_gen g, const char *key, const char *value)
{
	yajl_gen_string(g, (const unsigned char *)key, strlen(key));
	yajl_gen_string(g, (const unsigned char *)value, strlen(value));
}

static void row_end(struct play *p)
{
	yajl_gen g = yajl_gen_alloc(NULL);
	const unsigned char *text;
	size_t len;

	if (!*p->row || !g)
		return;
	if (p->on && p->quiet && p->verdict == CONFORMS &&
	    !(quiet(&p->in) && quiet(&p->other)))
		say(p, CONTRADICTION, "the record",
		    "a refusal is recorded, and nothing was refused");
	yajl_gen_map_open(g);
	put(g, "group", p->group);
	put(g, "row", p->row);
	put(g, "promise", p->promise);
	put(g, "verdict", verdicts[p->verdict]);
	if (p->verdict != CONFORMS) {
		put(g, "decided_by", p->decided);
		put(g, "why", p->why);
	}
	yajl_gen_map_close(g);
	yajl_gen_get_buf(g, &text, &len);
	printf("%.*s\n", (int)len, text);
	fflush(stdout);
	yajl_gen_free(g);
	if (p->verdict < NOT_APPLICABLE)
		p->failed = 1;
	*p->row = 0;
}

static void sessions_end(struct play *p)
{
	row_end(p);
	if (p->on) {
		session_end(&p->host);
		session_end(&p->in);
		session_end(&p->other);
	}
	p->on = false;
	world_remove(p->w);
	p->w = NULL;
}

/* The last line that lh-supervise wrote, or why there is none. */
static void why_not(struct play *p, const char *name)
{
	FILE *f = fopen(at(p->w, "log/%s.stderr", name), "re");
	char line[512];

	snprintf(p->cannot, sizeof(p->cannot), "no session starts");
	while (f && fgets(line, sizeof(line), f)) {
		line[strcspn(line, "\n")] = 0;
		snprintf(p->cannot, sizeof(p->cannot), "%s", line);
	}
	if (f)
		fclose(f);
}

/* @W@ in a policy's text is the world's directory. */
static int policy_of(struct play *p)
{
	char *text = strdup(""), *at_, *from = p->policy, *more;
	int ret;

	while (text && (at_ = strstr(from, "@W@"))) {
		if (asprintf(&more, "%s%.*s%s", text, (int)(at_ - from), from,
			     p->w->dir) < 0)
			return -1;
		free(text);
		text = more;
		from = at_ + 3;
	}
	if (!text || asprintf(&more, "%s%s", text, from) < 0)
		return -1;
	ret = world_file(p->w, at(p->w, "log/policy.json"), more);
	free(text);
	free(more);
	return ret;
}

static void sessions_start(struct play *p)
{
	const char *user = getenv("CONFORM_USER");
	char out[512];

	*p->cannot = 0;
	p->names = 0;
	p->w = world_make(user ? user : "nobody");
	/* The first of a boot may take longer than a session has to answer. */
	if (p->w && !p->loaded++)
		supervise(p->w, out, sizeof(out), (const char *const[]){
			  "--engine", "load", NULL });
	if (!p->w || policy_of(p))
		stop(p, "cannot make a workspace in /tmp for %s",
		     user ? user : "nobody");
	if (session_start(&p->in, p->w, "in", NULL)) {
		why_not(p, "in");
		session_end(&p->in);
		return;
	}
	if (session_start(&p->other, p->w, "other", NULL) ||
	    twin_start(&p->host, p->w))
		stop(p, "one session starts, another does not");
	p->on = true;
}

/* In place: $W, and values of earlier steps. */
static char *expand(struct play *p, char *word)
{
	char *out;
	int ret = -1;

	if (!strncmp(word, "$W", 2) && !isalnum((unsigned char)word[2]))
		ret = asprintf(&out, "%s%s", p->w->dir, word + 2);
	else if (*word == '$')
		for (int i = p->names; i-- && ret < 0;)
			if (!strcmp(p->name[i], word + 1))
				ret = asprintf(&out, "%ld", p->value[i]);
	if (*word == '$' && ret < 0)
		stop(p, "%s: nothing has that name", word);
	return ret < 0 ? strdup(word) : out;
}

static void keep(struct play *p, const char *name, long value)
{
	if (p->names == 16 || strlen(name) > 15)
		stop(p, "%s: too many names, or too long a one", name);
	strcpy(p->name[p->names], name);
	p->value[p->names++] = value;
}

/* What a step of @s was to give, and what it gave. */
static void judge(struct play *p, struct session *s, const char *step,
		  const char *want, int err)
{
	bool ours = s != &p->host, works = !strcmp(want, "works");
	const char *name = err < 0 ? "no answer" : err ? strerrorname_np(err) :
			   "success";
	const char *op = strchr(want, ':');

	if (err < 0 || (!ours && works && err)) {
		say(p, NOT_MEASURED, step, "%s", name);
	} else if (works) {
		if (err)
			say(p, OVERREFUSED, step, "%s", name);
	} else if (!strncmp(want, "refused", 7)) {
		if (!err && ours)
			say(p, ESCAPED, step, "it succeeded");
		else if (!err)
			say(p, ESCAPED, step, "the host was not refused");
		else if (ours && err != EACCES && err != EPERM)
			say(p, NOT_MEASURED, step, "%s", name);
		else if (op && !denied(s, op + 1, NULL, NULL))
			say(p, CONTRADICTION, step,
			    "refused (%s), and no record of it", name);
	} else if (!strstr(want, name)) {
		say(p, err ? NOT_MEASURED : ESCAPED, step, "%s", name);
	}
}

static void probe_step(struct play *p, char **word, int n, const char *step)
{
	struct session *s = !strcmp(word[0], "in") ? &p->in :
			    !strcmp(word[0], "other") ? &p->other : &p->host;
	const char *arg[WORDS] = { NULL }, *as = NULL;
	int err;

	if (n > 4 && !strcmp(word[n - 2], "=>")) {
		as = word[n - 1];
		n -= 2;
	}
	for (int i = 2; i < n; i++)
		arg[i - 2] = expand(p, word[i]);
	if (strcmp(word[1], "works"))
		p->quiet = false;
	err = session_ask(s, arg);
	judge(p, s, step, word[1], err);
	if (as)
		keep(p, as, s->reply.value);
	for (int i = 0; arg[i]; i++)
		free((char *)arg[i]);
}

/* run STATUS COMMAND: by a shell, in a session of its own. */
static void run_step(struct play *p, char *line, const char *step)
{
	int want = strtol(line + 3, &line, 10), status;
	char out[2048] = "";

	line += strspn(line, " ");
	status = supervise(p->w, out, sizeof(out), (const char *const[]){
		"--policy", at(p->w, "log/policy.json"), "-C", at(p->w, "ws"),
		"--user", p->w->user, "--denials", at(p->w, "log/run.denials"),
		"--result", at(p->w, "log/run.result"), "--", "sh", "-c", line,
		NULL });
	p->quiet = false;
	out[strcspn(out, "\n")] = 0;
	if (!WIFEXITED(status) || WEXITSTATUS(status) != want)
		say(p, want ? ESCAPED : OVERREFUSED, step, "status %d: %s",
		    WIFEXITED(status) ? WEXITSTATUS(status) : -1, out);
}

static void result_step(struct play *p, char **word, const char *step)
{
	const char *got = json_member(at(p->w, "log/run.result"), word[1]);

	if (!got || strcmp(got, word[2]))
		say(p, CONTRADICTION, step, "the result has \"%s\"",
		    got ? got : "nothing");
}

/* supervisor SIGNAL: sent to it; all of the session ends. */
static void supervisor_step(struct play *p, char **word, const char *step)
{
	int sig = !strcmp(word[1], "KILL") ? SIGKILL : SIGSEGV;

	if (p->in.pid <= 1 || kill(p->in.pid, sig))
		say(p, NOT_MEASURED, step, "it cannot be signalled");
	else if (!gone(p->in.probe, GONE_MS))
		say(p, ESCAPED, step, "the command outlives it");
	p->quiet = false;
}

/* needs kernel 6.12 | needs file PATH */
static void needs_step(struct play *p, char **word, const char *step)
{
	int have[2] = { 0 }, want[2] = { 0 };
	struct utsname u;

	if (!strcmp(word[1], "file")) {
		if (access(word[2], F_OK))
			say(p, NOT_APPLICABLE, step, "this kernel has it not");
		return;
	}
	uname(&u);
	sscanf(u.release, "%d.%d", &have[0], &have[1]);
	sscanf(word[2], "%d.%d", &want[0], &want[1]);
	if (have[0] < want[0] || (have[0] == want[0] && have[1] < want[1]))
		say(p, NOT_APPLICABLE, step, "this is Linux %s", u.release);
}

static void row_begin(struct play *p, char *line)
{
	char *text = strchr(line, ':');

	row_end(p);
	line += 4;
	if (!text || text - line >= (long)sizeof(p->row))
		stop(p, "a row is NAME: PROMISE");
	snprintf(p->row, sizeof(p->row), "%.*s", (int)(text - line), line);
	snprintf(p->promise, sizeof(p->promise), "%s",
		 text + 1 + strspn(text + 1, " "));
	p->verdict = CONFORMS;
	p->quiet = true;
	if (p->on || !*p->cannot)
		return;
	say(p, NOT_MEASURED, "the start of a session", "%s", p->cannot);
}

static void step(struct play *p, char *line)
{
	char all[512], *word[WORDS] = { NULL }, *save = NULL;
	int n = 0;

	if (!*p->row)
		stop(p, "a step before any row");
	if (!p->on || p->verdict == NOT_APPLICABLE)
		return;
	snprintf(all, sizeof(all), "%s", line);
	if (!strncmp(line, "run ", 4)) {
		run_step(p, line, all);
		return;
	}
	for (char *w = strtok_r(line, " \t", &save); w && n < WORDS - 1;
	     w = strtok_r(NULL, " \t", &save))
		word[n++] = w;
	if (n < 2)
		stop(p, "%s: no such step", all);
	if (!strcmp(word[0], "needs") && n == 3)
		needs_step(p, word, all);
	else if (!strcmp(word[0], "result") && n == 3)
		result_step(p, word, all);
	else if (!strcmp(word[0], "supervisor"))
		supervisor_step(p, word, all);
	else if (n > 2 && (!strcmp(word[0], "in") || !strcmp(word[0], "host") ||
			   !strcmp(word[0], "other")))
		probe_step(p, word, n, all);
	else
		stop(p, "%s: no such step", all);
}

/* "policy", then its text, up to a line that says "end". */
static void take_policy(struct play *p, FILE *f)
{
	char *line = NULL, *more;
	size_t size = 0;

	sessions_end(p);
	free(p->policy);
	p->policy = strdup("");
	while (getline(&line, &size, f) > 0 && strcmp(line, "end\n")) {
		p->line++;
		if (asprintf(&more, "%s%s", p->policy, line) < 0)
			stop(p, "%s", strerror(errno));
		free(p->policy);
		p->policy = more;
	}
	p->line++;
	free(line);
	sessions_start(p);
}

static void play(struct play *p, const char *file)
{
	FILE *f = fopen(file, "re");
	char *line = NULL;
	size_t size = 0;

	p->file = file;
	p->line = 0;
	if (!f)
		stop(p, "%s", strerror(errno));
	while (getline(&line, &size, f) > 0) {
		char *s = line + strspn(line, " \t");

		p->line++;
		s[strcspn(s, "\n")] = 0;
		if (!*s || *s == '#')
			continue;
		if (!strncmp(s, "group ", 6)) {
			row_end(p);
			snprintf(p->group, sizeof(p->group), "%s", s + 6);
		} else if (!strcmp(s, "policy")) {
			take_policy(p, f);
		} else if (!strncmp(s, "row ", 4)) {
			row_begin(p, s);
		} else {
			step(p, s);
		}
	}
	free(line);
	fclose(f);
	sessions_end(p);
	free(p->policy);
	p->policy = NULL;
}

int main(int argc, char **argv)
{
	static struct play p;

	if (argc < 2) {
		fprintf(stderr, "usage: conform FILE...\n");
		return 2;
	}
	for (int i = 1; i < argc; i++)
		play(&p, argv[i]);
	return p.failed;
}
