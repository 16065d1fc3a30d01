// SPDX-License-Identifier: GPL-2.0-only
/*
 * lh-policy: the compiler as a program. Only this file prints. Exit status: 0
 * done, 1 an error in a policy or a file, 2 wrong usage, 3 `explain` says no.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "compile.h"
#include "data.h"
#include "tool.h"

#ifndef LH_VERSION
#define LH_VERSION "0.1"
#endif

enum exit_status { DONE, FAILED, USAGE, REFUSED };

static const char help_text[] =
"lh-policy: check and compile capability policies, and say what they mean\n"
"\n"
"  lh-policy check FILE...              all errors of each file\n"
"  lh-policy compile FILE -o IMAGE      the image; same input, same bytes\n"
"  lh-policy show FILE|IMAGE            the policy with all its defaults\n"
"  lh-policy explain FILE|IMAGE OP PATH who allows or refuses it, and why\n"
"\n"
"  OP is read, list, stat, write, create, remove, rename or exec.\n"
"  FILE may be \"-\", or the name of a policy: in /etc/lh/policies, or one of\n"
"  the shipped agent, build, reader, test, worktree.\n"
"\n"
"  -C, --workspace DIR  what ${WORKSPACE} means (the current directory)\n"
"      --home DIR       what ~ means (the user's home)\n"
"      --user NAME      what ${USER} means (whoever asks)\n"
"  -o, --output FILE    where compile writes\n"
"      --json           explain: one JSON object\n"
"  -h, --help           this\n"
"      --version        the version\n"
"\n"
"See lh-policy(1) and lh-policy(5).\n";

struct request {
	struct context_who who;
	struct context context;
	const char *output;
	bool json;
};

static int complain(const struct err *e)
{
	fprintf(stderr, "lh-policy: %s\n", e->msg);
	return FAILED;
}

__attribute__((format(printf, 1, 2)))
static int usage(const char *fmt, ...)
{
	char raw[256], text[sizeof(raw) * 4 + 1];
	va_list args;

	va_start(args, fmt);
	vsnprintf(raw, sizeof(raw), fmt, args);
	va_end(args);
	err_escape(text, sizeof(text), raw, strlen(raw));
	fprintf(stderr, "lh-policy: %s; see lh-policy --help\n", text);
	return USAGE;
}

/* A file's image or policy. The name of a policy is sought in two places. */
static int load(const struct request *q, const char *arg, struct image **im)
{
	struct compile_options o = { .context = &q->context };
	struct diags d = { 0 };
	struct err e = { 0 };
	int r = tool_load(arg, &o, im, &d, &e);

	diags_print(&d, stderr, "");
	if (r && !d.errors)
		complain(&e);
	diags_free(&d);
	return r ? FAILED : DONE;
}

static int do_check(const struct request *q, char **args, int n)
{
	int status = DONE, i;
	struct image *im;

	if (!n)
		return usage("check needs a FILE");
	for (i = 0; i < n; i++) {
		im = NULL;
		if (load(q, args[i], &im) != DONE)
			status = FAILED;
		free(im);
	}
	return status;
}

static int do_compile(const struct request *q, char **args, int n)
{
	struct err e = { 0 };
	struct image *im;
	int r;

	if (n != 1)
		return usage("compile needs one FILE");
	if (!q->output)
		return usage("compile needs -o IMAGE");
	if (load(q, args[0], &im) != DONE)
		return FAILED;
	r = tool_write(q->output, im, im->size, &e);
	free(im);
	return r ? complain(&e) : DONE;
}

static int do_show(const struct request *q, char **args, int n)
{
	struct image *im;

	if (n != 1)
		return usage("show needs one FILE or IMAGE");
	if (load(q, args[0], &im) != DONE)
		return FAILED;
	fwrite((const char *)im + im->policy.offset, 1, im->policy.count,
	       stdout);
	free(im);
	return DONE;
}

static int do_explain(const struct request *q, char **args, int n)
{
	struct err e = { 0 };
	struct image *im;
	char *path = NULL;
	uint32_t access;
	int r;

	if (n != 3)
		return usage("explain needs a FILE, an OP and a PATH");
	access = tool_operation(args[1]);
	if (!access)
		return usage("explain: no operation is called %s", args[1]);
	if (!*args[2])
		return usage("explain: an empty PATH");
	if (load(q, args[0], &im) != DONE)
		return FAILED;
	if (asprintf(&path, "%s%s%s", *args[2] == '/' ? "" :
		     q->context.workspace, *args[2] == '/' ? "" : "/",
		     args[2]) < 0)
		r = err_sys(&e, -ENOMEM, "explain");
	else
		r = tool_explain(im, args[1], access, path, q->json, &e);
	free(path);
	free(im);
	return r < 0 ? complain(&e) : r ? REFUSED : DONE;
}

static const struct {
	const char *name;
	int (*run)(const struct request *q, char **args, int n);
} commands[] = {
	{ "check", do_check },
	{ "compile", do_compile },
	{ "show", do_show },
	{ "explain", do_explain },
};

static int dispatch(struct request *q, char **args, int n)
{
	struct err e = { 0 };
	size_t i;
	int status;

	if (!n)
		return usage("no command");
	for (i = 0; i < sizeof(commands) / sizeof(*commands); i++) {
		if (strcmp(commands[i].name, args[0]))
			continue;
		if (context_init(&q->context, &q->who, &e))
			return complain(&e);
		status = commands[i].run(q, args + 1, n - 1);
		context_free(&q->context);
		return status;
	}
	return usage("no command is called %s", args[0]);
}

/* What was promised to stdout is there, or the status says so. */
static int finish(int status)
{
	bool bad = ferror(stdout);

	if (fclose(stdout) || bad) {
		fprintf(stderr, "lh-policy: standard output: %s\n",
			strerror(errno ? errno : EIO));
		return FAILED;
	}
	return status;
}

int main(int argc, char **argv)
{
	enum { O_HOME = 256, O_USER, O_JSON, O_VERSION };
	static const struct option options[] = {
		{ "workspace", required_argument, NULL, 'C' },
		{ "home", required_argument, NULL, O_HOME },
		{ "user", required_argument, NULL, O_USER },
		{ "output", required_argument, NULL, 'o' },
		{ "json", no_argument, NULL, O_JSON },
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, O_VERSION },
		{ NULL, 0, NULL, 0 },
	};
	struct request q = { 0 };
	int opt;

	context_caller(&q.who, environ);
	while ((opt = getopt_long(argc, argv, "C:o:h", options, NULL)) != -1) {
		switch (opt) {
		case 'C': q.who.workspace = optarg; break;
		case O_HOME: q.who.home = optarg; break;
		case O_USER: q.who.user = optarg; break;
		case 'o': q.output = optarg; break;
		case O_JSON: q.json = true; break;
		case 'h':
			fputs(help_text, stdout);
			return finish(DONE);
		case O_VERSION:
			printf("lh-policy %s, image ABI %u\n", LH_VERSION,
			       LH_ABI);
			return finish(DONE);
		default:
			return USAGE;
		}
	}
	return finish(dispatch(&q, argv + optind, argc - optind));
}
