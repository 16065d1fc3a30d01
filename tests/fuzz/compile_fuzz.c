// SPDX-License-Identifier: GPL-2.0-only
/*
 * The parser and the compiler on any text. A byte 0xff, which no policy may
 * have, parts the input: the policy; a ceiling; flags, one a line; an env file.
 * What compiles is an image, the same one again, and what it prints of itself
 * compiles to the same policy, and to the same image if that has no shorthand.
 */
#define _GNU_SOURCE
#include <string.h>

#include "../../policy-compiler/compile.h"

#include "fuzz.h"

#define FLAGS_MAX 16

struct part {
	const char *text;
	size_t len;
};

enum { POLICY, CEILING, FLAGS, ENV_FILE, PARTS };

/* The flags' lines, and where compile_options points to. */
struct flags {
	char *lines;
	struct compile_root roots[FLAGS_MAX];
	const char *env[FLAGS_MAX], *net[FLAGS_MAX], *loopback[FLAGS_MAX],
		*publish[FLAGS_MAX], *files[FLAGS_MAX], *lift[FLAGS_MAX];
};

static const struct context here = {
	.workspace = "/w", .user = "u", .home = "/home/u",
	.homes = { "/home/u", "/root", "/home/asker" }, .home_count = 3,
	.env = (char *const[]){ "PATH=/usr/bin:/w/bin", "KUBECONFIG=/k:/w/k",
				NULL },
};

static void split(const uint8_t *data, size_t size, struct part parts[PARTS])
{
	const char *at = (const char *)data, *end = at + size, *cut;
	size_t i;

	for (i = 0; i < PARTS; i++) {
		cut = i + 1 < PARTS ? memchr(at, 0xff, end - at) : NULL;
		parts[i] = (struct part){ at, (cut ? cut : end) - at };
		at = cut ? cut + 1 : end;
	}
}

/* No file of the machine: the input's own part. */
static int read_file(void *arg, const char *path, char **text, size_t *len,
		     struct err *e)
{
	const struct part *file = arg;

	if (!file->len)
		return err_set(e, -2, "%s: none", path);
	*text = malloc(file->len);
	memcpy(*text, file->text, file->len);
	*len = file->len;
	return 0;
}

#define ADD(list, count, value) do { \
	if ((count) < FLAGS_MAX) \
		(list)[(count)++] = (value); \
} while (0)

static void take_flag(char *line, struct flags *f, struct compile_options *o)
{
	char kind = *line;
	struct compile_root root = { .path = line + 1, .flag = "--flag" };

	switch (kind) {
	case 'w': case 'r': case 'o': case 'd': case 's':
		root.list = kind == 'w' ? LIST_WRITE : kind == 'r' ?
			LIST_READ : kind == 'o' ? LIST_READ_ONLY :
			kind == 'd' ? LIST_DENY : LIST_SOCKET;
		ADD(f->roots, o->root_count, root);
		break;
	case 'e': ADD(f->env, o->env_count, line + 1); break;
	case 'n': ADD(f->net, o->egress_allow_count, line + 1); break;
	case 'l': ADD(f->loopback, o->loopback_port_count, line + 1); break;
	case 'p': ADD(f->publish, o->publish_port_count, line + 1); break;
	case 'f': ADD(f->files, o->env_file_count, line + 1); break;
	case 'c': ADD(f->lift, o->lift_count, line + 1); break;
	case 'N': o->network = true; break;
	case 'g': o->grants = line[1] & 15; break;
	case 'm': o->memory = 1u << 30; break;
	}
}

/* Flags are words of a command line: no NUL in them. */
static void take_flags(const struct part *part, struct flags *f,
		       struct compile_options *o)
{
	char *lines = malloc(part->len + 1), *line;

	f->lines = lines;
	memcpy(lines, part->text, part->len);
	lines[part->len] = 0;
	o->roots = f->roots;
	o->env = f->env;
	o->egress_allow = f->net;
	o->loopback_ports = f->loopback;
	o->publish_ports = f->publish;
	o->env_files = f->files;
	o->lift = f->lift;
	while ((line = strsep(&lines, "\n")))
		take_flag(line, f, o);
}

static struct image *compile(const char *text, size_t len,
			     const struct compile_options *o)
{
	struct image *im = NULL;
	struct diags d = { 0 };
	struct err e = { 0 };
	char *said = NULL;
	size_t said_len;
	FILE *f = open_memstream(&said, &said_len);
	int r = compile_text(text, len, "/p/fuzz.json", "/p", o, &im, &d);

	diags_print(&d, f, "");
	fclose(f);
	MUST(!r == !d.errors, "%d, %u errors: %s", r, d.errors, said);
	MUST(!r == !!im, "%d", r);
	MUST(!im || !image_check(im, im->size, &e), "%s", e.msg);
	free(said);
	diags_free(&d);
	return im;
}

static void must_be_same(const struct image *a, const struct image *b)
{
	MUST(a->size == b->size && !memcmp(a, b, a->size), "%u and %u bytes",
	     a->size, b->size);
}

/* It prints null for the value of @v, which came from no file. */
static bool is_withheld(const struct image *im, const struct image_env *v)
{
	char text[300];
	int n = snprintf(text, sizeof(text), "\"%s\": null",
			 image_string(im, v->name));

	return v->set && memmem((const char *)im + im->policy.offset,
				im->policy.count, text, n);
}

/* What @im prints of itself, compiled, with flags for withheld values. */
static struct image *compile_printed(const struct image *im,
				     struct compile_options o)
{
	const struct image_env *v = image_envs(im);
	const char *text = (const char *)im + im->policy.offset;
	char **env = calloc(im->env.count + 1, sizeof(*env));
	struct image *other;
	size_t n = 0, i;

	for (i = 0; i < im->env.count; i++)
		if (is_withheld(im, &v[i]) &&
		    asprintf(&env[n], "%s=%s", image_string(im, v[i].name),
			     image_string(im, v[i].value)) >= 0)
			n++;
	o.env = (const char *const *)env;
	o.env_count = n;
	other = compile(text, im->policy.count, &o);
	MUST(other, "%.*s", (int)im->policy.count, text);
	while (n)
		free(env[--n]);
	free(env);
	return other;
}

/* Rules of these are called otherwise in the long form. */
static bool is_shorthand(const struct part *text)
{
	static const char *const words[] = { "\"policy\"", "\"mounts\"", "\\u" };
	size_t i;

	for (i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (memmem(text->text, text->len, words[i], strlen(words[i])))
			return true;
	return false;
}

/* The same policy, and where its rules have the same names, the same image. */
static void check_printed(const struct image *im,
			  const struct compile_options *o, bool same)
{
	const struct compile_options plain = {
		.context = &here, .read_file = o->read_file,
		.read_arg = o->read_arg,
	};
	struct image *shown = compile_printed(im, plain),
		*again = compile_printed(shown, plain);
	const char *a = (const char *)im + im->policy.offset,
		*b = (const char *)shown + shown->policy.offset;

	MUST(im->policy.count == shown->policy.count &&
	     !memcmp(a, b, im->policy.count), "%.*s\nbecame %.*s",
	     (int)im->policy.count, a, (int)shown->policy.count, b);
	must_be_same(shown, again);
	if (same)
		must_be_same(im, shown);
	free(shown);
	free(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct compile_options o = { .context = &here };
	struct flags flags = { 0 };
	struct part parts[PARTS];
	struct image *im, *again;

	split(data, size, parts);
	o.read_file = read_file;
	o.read_arg = &parts[ENV_FILE];
	if (parts[CEILING].len) {
		o.ceiling = parts[CEILING].text;
		o.ceiling_len = parts[CEILING].len;
		o.ceiling_file = "/etc/lh/ceiling.json";
	}
	take_flags(&parts[FLAGS], &flags, &o);
	im = compile(parts[POLICY].text, parts[POLICY].len, &o);
	if (im) {
		again = compile(parts[POLICY].text, parts[POLICY].len, &o);
		MUST(again, "compiled once only");
		must_be_same(im, again);
		free(again);
		check_printed(im, &o, !o.ceiling && !parts[FLAGS].len &&
			      !is_shorthand(&parts[POLICY]));
	}
	free(im);
	free(flags.lines);
	return 0;
}
