// SPDX-License-Identifier: GPL-2.0-only
/*
 * lh-policy: the compiler as a program. Exit status: 0 done, 1 an error in a
 * policy or a file, 2 wrong usage, 3 `explain` says no, `test` found what was
 * not expected, or `diff` a difference, 4 `check` only warns.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd.h"

#ifndef LH_VERSION
#define LH_VERSION "0.1"
#endif

static const char help_text[] =
"lh-policy: check and compile capability policies, and say what they mean\n"
"\n"
"  lh-policy check FILE...              all errors and warnings of each file\n"
"  lh-policy compile FILE -o IMAGE      the image; same input, same bytes\n"
"  lh-policy show [--resolved|--source] FILE|IMAGE\n"
"                                       the policy with all its defaults\n"
"  lh-policy intersect OUTER INNER      what is left of INNER inside of OUTER\n"
"  lh-policy diff A B                   what B opens and closes against A\n"
"  lh-policy explain FILE|IMAGE OP OBJECT [OBJECT]\n"
"                                       who allows or refuses it, why, and what\n"
"                                       would change that\n"
"  lh-policy test FILE|IMAGE TABLE      rows: OP OBJECT allow|refuse [RULE]\n"
"  lh-policy schema                     JSON Schema of the language\n"
"\n"
"  OP is read, list, stat, write, create, mkdir, symlink, link, rename, remove,\n"
"  truncate, chmod, utimes, setxattr, getxattr, readlink, exec, connect, bind,\n"
"  signal or ptrace.\n"
"  FILE may be \"-\", or the name of a policy: in /etc/lh/policies, or one of\n"
"  the shipped agent, build, reader, test, worktree.\n"
"\n"
"  -C, --workspace DIR  what ${WORKSPACE} means (the current directory)\n"
"      --home DIR       what ~ means (the user's home)\n"
"      --user NAME      what ${USER} means (whoever asks)\n"
"      --ceiling FILE   hold policies under this one, as lh-supervise does\n"
"                       under /etc/lh/ceiling.json\n"
"  -o, --output FILE    where compile, show and intersect write\n"
"      --resolved       show: with symbolic links followed\n"
"      --source         show: as it was written\n"
"      --json           the answer, or what is wrong, as JSON\n"
"  -h, --help           this\n"
"      --version        the version\n"
"\n"
"See lh-policy(1) and lh-policy(5).\n";

static const struct {
	const char *name;
	int (*run)(const struct request *q, char **args, int n);
} commands[] = {
	{ "check", cmd_check },
	{ "compile", cmd_compile },
	{ "show", cmd_show },
	{ "explain", cmd_explain },
	{ "test", cmd_test },
	{ "intersect", cmd_intersect },
	{ "diff", cmd_diff },
	{ "schema", cmd_schema },
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
		status = request_ceiling(q);
		if (status == DONE)
			status = commands[i].run(q, args + 1, n - 1);
		free(q->ceiling_text);
		context_free(&q->context);
		return status;
	}
	return usage("no command is called %s%s", args[0],
		     meant("", args[0], commands, sizeof(*commands),
			   sizeof(commands) / sizeof(*commands)));
}

/*
 * What getopt_long() did not take: @word, or a letter @c of it; @need: it is an
 * option, but its value is missing.
 */
static int wrong_option(const char *word, int c, bool need,
			const struct option *options, size_t n)
{
	char name[64];

	if (need)
		return usage("%s needs a value", word);
	if (strncmp(word, "--", 2))
		return usage("unrecognized option -%c", c);
	snprintf(name, sizeof(name), "%.*s",
		 (int)strcspn(word + 2, "="), word + 2);
	if (c)
		return usage("--%s takes no value", name);
	return usage("unrecognized option --%s%s", name,
		     meant("--", name, options, sizeof(*options), n));
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
	enum { O_HOME = 256, O_USER, O_JSON, O_RESOLVED,
	       O_SOURCE, O_CEILING, O_VERSION };
	static const struct option options[] = {
		{ "workspace", required_argument, NULL, 'C' },
		{ "home", required_argument, NULL, O_HOME },
		{ "user", required_argument, NULL, O_USER },
		{ "output", required_argument, NULL, 'o' },
		{ "ceiling", required_argument, NULL, O_CEILING },
		{ "json", no_argument, NULL, O_JSON },
		{ "resolved", no_argument, NULL, O_RESOLVED },
		{ "source", no_argument, NULL, O_SOURCE },
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, O_VERSION },
		{ NULL, 0, NULL, 0 },
	};
	struct request q = { 0 };
	int opt;

	context_caller(&q.who, environ);
	while ((opt = getopt_long(argc, argv, ":C:o:h", options, NULL)) != -1) {
		switch (opt) {
		case 'C': q.who.workspace = optarg; break;
		case O_HOME: q.who.home = optarg; break;
		case O_USER: q.who.user = optarg; break;
		case 'o': q.output = optarg; break;
		case O_CEILING: q.ceiling = optarg; break;
		case O_JSON: q.json = true; break;
		case O_RESOLVED: q.resolved = true; break;
		case O_SOURCE: q.source = true; break;
		case 'h':
			fputs(help_text, stdout);
			return finish(DONE);
		case O_VERSION:
			printf("lh-policy %s, image ABI %u\n", LH_VERSION,
			       LH_ABI);
			return finish(DONE);
		default:
			return wrong_option(argv[optind - 1], optopt,
					    opt == ':', options,
					    sizeof(options) /
					    sizeof(*options) - 1);
		}
	}
	return finish(dispatch(&q, argv + optind, argc - optind));
}
