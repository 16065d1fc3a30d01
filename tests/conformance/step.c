// SPDX-License-Identifier: GPL-2.0-only
/*
 * The steps of a row: what is asked of whom, and what is made of the answer.
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

#include "play.h"

#define SECURITY "/sys/kernel/security/"

/* conform itself was told something that makes no sense. */
__attribute__((noreturn, format(printf, 2, 3)))
void stop(const struct play *p, const char *format, ...)
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
void say(struct play *p, enum verdict v, const char *step, const char *format,
	 ...)
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
	bool is_refused = !strncmp(want, "refused", 7);
	const char *op = strchr(want, ':');

	if (!strcmp(want, "gone")) {
		if (err >= 0 || !gone(s->probe, GONE_MS))
			say(p, ESCAPED, step, "it is still there");
	} else if (err < 0 || (!ours && works && err)) {
		say(p, NOT_MEASURED, step, "%s", name);
	} else if (works) {
		if (err)
			say(p, OVERREFUSED, step, "%s", name);
	} else if (ours && !err) {
		say(p, ESCAPED, step, "it succeeded");
	} else if (!err) {
		say(p, ESCAPED, step, "the host was not refused");
	} else if (is_refused ? err != EACCES && err != EPERM :
			       !strstr(want, name)) {
		say(p, p->kind == BARE ? ESCAPED : NOT_MEASURED, step, "%s", name);
	} else if (op && !denied(ours ? s : &p->in, op + 1, NULL, NULL)) {
		say(p, CONTRADICTION, step, "refused (%s), and no record of it",
		    name);
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
	/* Who gave no answer gives no later one: what came is of before. */
	err = p->silent == s ? -1 : session_ask(s, arg);
	if (err < 0)
		p->silent = s;
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

/* supervisor|keeper KILL|STOP; all of the session ends with the former. */
static void signal_step(struct play *p, char **word, const char *step)
{
	int sig = !strcmp(word[1], "KILL") ? SIGKILL : SIGSTOP;
	bool keeper = !strcmp(word[0], "keeper");
	pid_t pid = keeper ? session_keeper(&p->in) : p->in.pid;
	siginfo_t info;

	p->quiet = false;
	if (pid <= 1 || kill(pid, sig))
		say(p, NOT_MEASURED, step, "it cannot be signalled");
	else if (keeper)
		p->kept = true;
	else if (sig == SIGKILL && waitid(P_PID, pid, &info, WEXITED | WNOWAIT))
		say(p, NOT_MEASURED, step, "it does not end");
	else if (sig == SIGKILL && !p->kept && !gone(p->in.probe, GONE_MS))
		say(p, ESCAPED, step, "the command outlives it");
}

/* Is a word in a list of the kernel's about its security? */
static bool has_word(const char *file, const char *word)
{
	FILE *f = fopen(file, "re");
	char list[512] = "", *save = NULL, *s = NULL;

	if (f && fgets(list, sizeof(list), f))
		s = strtok_r(list, " ,\n", &save);
	while (s && strcmp(s, word))
		s = strtok_r(NULL, " ,\n", &save);
	if (f)
		fclose(f);
	return s;
}

/* What the kernel lacks is why no session starts under the policy, too. */
static void lacks(struct play *p, const char *step, const char *why)
{
	if (!p->on)
		p->verdict = CONFORMS;
	say(p, NOT_APPLICABLE, step, "%s", why);
}

/* Yama may be absent, which is as 0. */
static int yama_scope(void)
{
	FILE *f = fopen("/proc/sys/kernel/yama/ptrace_scope", "re");
	int scope = 0;

	if (f && fscanf(f, "%d", &scope) != 1)
		scope = 0;
	if (f)
		fclose(f);
	return scope;
}

/* needs kernel 6.12, file PATH, lsm|lacks-lsm|lockdown NAME, yama MOST */
static void needs_step(struct play *p, char **word, const char *step)
{
	int have[2] = { 0 }, want[2] = { 0 };
	struct utsname u;
	char all[64];

	if (!strcmp(word[1], "yama")) {
		if (yama_scope() > atoi(word[2]))
			lacks(p, step, "kernel.yama.ptrace_scope is higher");
		return;
	}
	if (!strcmp(word[1], "lockdown")) {
		snprintf(all, sizeof(all), "[%s]", word[2]);
		if (!has_word(SECURITY "lockdown", all))
			lacks(p, step, "it is not locked down so");
		return;
	}
	if (strstr(word[1], "lsm")) {
		if (has_word(SECURITY "lsm", word[2]) != !strcmp(word[1], "lsm"))
			lacks(p, step, "its lsm= list says otherwise");
		return;
	}
	if (!strcmp(word[1], "file")) {
		if (access(word[2], F_OK))
			lacks(p, step, "this kernel has it not");
		return;
	}
	uname(&u);
	sscanf(u.release, "%d.%d", &have[0], &have[1]);
	sscanf(word[2], "%d.%d", &want[0], &want[1]);
	if (have[0] < want[0] || (have[0] == want[0] && have[1] < want[1]))
		lacks(p, step, u.release);
}

void step(struct play *p, char *line)
{
	char all[512], *word[WORDS] = { NULL }, *save = NULL;
	int n = 0;

	if (!*p->row && !p->skip)
		stop(p, "a step before any row");
	/* What was not prepared says nothing of what comes after. */
	if (p->skip || p->verdict == NOT_APPLICABLE ||
	    (p->on && p->verdict == NOT_MEASURED) ||
	    (!p->on && strncmp(line, "needs ", 6)))
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
	if (!strcmp(word[0], "needs") && n == 3) {
		needs_step(p, word, all);
	} else if (!strcmp(word[0], "result") && n == 3) {
		result_step(p, word, all);
	} else if (!strcmp(word[0], "absent")) {
		if (exists(at(p->w, "ws/%s", word[1])))
			say(p, ESCAPED, all, "it is there");
	} else if (!strcmp(word[0], "supervisor") || !strcmp(word[0], "keeper")) {
		signal_step(p, word, all);
	} else if (n > 2 && (!strcmp(word[0], "in") || !strcmp(word[0], "host") ||
			     !strcmp(word[0], "other"))) {
		probe_step(p, word, n, all);
	} else {
		stop(p, "%s: no such step", all);
	}
}
