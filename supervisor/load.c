// SPDX-License-Identifier: GPL-2.0-only
/*
 * From --policy to an image. The user's file is opened and read in the user's
 * place; the ceiling is root's, and every policy and image is held under it.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../policy-compiler/data.h"
#include "../policy-compiler/policy.h"
#include "../policy-compiler/tool.h"
#include "cleanup.h"
#include "load.h"
#include "named.h"

#define CEILING_BYTES_MAX (1u << 20)
#define ENV_FILE_BYTES_MAX (1u << 20)

extern char **environ;

struct source {
	const char *display;	/* for diagnostics and the image */
	const char *base;	/* NULL: the directory of .display */
	const char *text;
	size_t len;
	char *owned;		/* .text, where it was read */
	char *owned_display;
};

static void source_free(struct source *s)
{
	free(s->owned);
	free(s->owned_display);
}

static int read_ceiling(struct compile_options *c, char **text, struct err *e)
{
	_cleanup_close_ int fd = open(LOAD_CEILING, O_RDONLY | O_CLOEXEC |
				      O_NONBLOCK | O_NOCTTY);
	struct stat st;
	ssize_t n;

	if (fd < 0)
		return errno == ENOENT || errno == ENOTDIR ? 0 :
		       err_sys(e, -errno, LOAD_CEILING);
	if (fstat(fd, &st))
		return err_sys(e, -errno, LOAD_CEILING);
	if (!S_ISREG(st.st_mode) || st.st_uid || (st.st_mode & 022))
		return err_set(e, -EPERM, LOAD_CEILING " must be a file that "
			       "root alone can write");
	*text = malloc(CEILING_BYTES_MAX + 1);
	if (!*text)
		return err_sys(e, -ENOMEM, LOAD_CEILING);
	n = read(fd, *text, CEILING_BYTES_MAX + 1);
	if (n < 0 || n > (ssize_t)CEILING_BYTES_MAX)
		return err_sys(e, n < 0 ? -errno : -EFBIG, LOAD_CEILING);
	c->ceiling = *text;
	c->ceiling_len = n;
	c->ceiling_file = LOAD_CEILING;
	return 0;
}

/* The site's policy of that name, else the shipped one. */
static int find_named(const struct identity *id, const char *name,
		      struct source *s, struct err *e)
{
	_cleanup_free_ char *file = NULL;
	struct err why = {};
	int ret;

	if (asprintf(&file, LOAD_POLICY_DIR "/%s.json", name) < 0) {
		file = NULL;
		return err_sys(e, -ENOMEM, "--policy");
	}
	ret = named_read(id, "--policy", file, IMAGE_BYTES_MAX, &s->owned,
			 &s->len, &why);
	if (!ret) {
		s->text = s->owned;
		s->owned_display = take_str(&file);
		s->display = s->owned_display;
		return 0;
	}
	if (ret != -ENOENT && ret != -ENOTDIR) {
		*e = why;	/* there is one: never pass it over */
		return ret;
	}
	s->text = policy_shipped(name, &s->len);
	s->display = name;
	return s->text ? 0 : tool_nothing_called("--policy", name, e);
}

/* What a result recorded: every path in it is absolute. */
static int find_recorded(const struct options *o, const struct identity *id,
			 struct load *l, struct source *s, struct err *e)
{
	int ret = recorded_read(id, o->policy_from, &l->recorded, &l->diags, e);

	if (ret)
		return ret;
	if (asprintf(&s->owned_display, "%s#/policy/resolved",
		     o->policy_from) < 0) {
		s->owned_display = NULL;
		return err_sys(e, -ENOMEM, "--policy-from");
	}
	s->display = s->owned_display;
	s->base = "/";
	s->text = l->recorded.text;
	s->len = l->recorded.len;
	/* Later runs may go by it too. */
	l->file = realpath(o->policy_from, NULL);
	return 0;
}

static int find_source(const struct options *o, const struct identity *id,
		       const char *workspace, struct load *l,
		       struct source *s, struct err *e)
{
	const char *arg = o->policy ? o->policy : LOAD_DEFAULT;
	int ret;

	if (o->policy_from)
		return find_recorded(o, id, l, s, e);
	if (policy_is_name(arg)) {
		ret = find_named(id, arg, s, e);
		if (!ret && !s->owned)
			s->base = workspace;
		return ret;
	}
	ret = named_read(id, "--policy", arg, IMAGE_BYTES_MAX, &s->owned,
			 &s->len, e);
	if (ret)
		return ret;
	s->text = s->owned;
	s->display = arg;
	if (strncmp(arg, "/dev/fd/", 8) && strncmp(arg, "/proc/", 6))
		l->file = realpath(arg, NULL);
	else
		s->base = workspace;
	return 0;
}

static bool is_image(const struct source *s)
{
	uint64_t magic = IMAGE_MAGIC;

	return s->len >= sizeof(magic) && !memcmp(s->text, &magic, 8);
}

static int add_roots(const struct options *o, struct compile_root *roots)
{
	static const enum policy_list lists[] = {
		[OPTION_WRITE_ROOT] = LIST_WRITE,
		[OPTION_READ_ROOT] = LIST_READ,
		[OPTION_READ_ONLY_ROOT] = LIST_READ_ONLY,
		[OPTION_DENY_ROOT] = LIST_DENY,
		[OPTION_SOCKET_ROOT] = LIST_SOCKET,
	};
	unsigned int i;

	for (i = 0; i < o->root_count; i++)
		roots[i] = (struct compile_root){
			.list = lists[o->root[i].kind],
			.path = o->root[i].path, .flag = o->root[i].flag,
		};
	return o->root_count;
}

static int take_image(const struct source *s, const struct compile_options *c,
		      struct load *l, struct err *e)
{
	struct compiled *k;
	struct err why = {};
	int ret = image_check(s->text, s->len, &why);

	if (ret)
		return err_set(e, ret, "--policy %s: %s", s->display, why.msg);
	ret = compile_model_image((const struct image *)s->text, s->display, c,
				  &k, &l->diags);
	if (!ret)
		ret = compiled_lower(k, c, &l->im, &l->diags);
	compiled_free(k);
	return ret;
}

struct env_reader {
	const struct identity *id;
	const char *workspace;
};

/*
 * An env file holds secrets: it is read with the rights of who named it, and
 * not through a link by which a session leads its successor to a file that it
 * could not read itself.
 */
static int read_env_file(void *arg, const char *path, char **text, size_t *len,
			 struct err *e)
{
	const struct env_reader *r = arg;
	_cleanup_free_ char *real = realpath(path, NULL);
	int ret;

	if (real && root_covers(r->workspace, path) &&
	    !root_covers(r->workspace, real))
		return err_set(e, -ELOOP, "%s: a link in the working directory "
			       "leads to %s; name that itself", path, real);
	ret = named_read(r->id, "env file", real ? real : path,
			 ENV_FILE_BYTES_MAX, text, len, e);
	/* Compiling goes on in the user's place: see load_image(). */
	if (identity_as(RESOLVE_AS_USER, (void *)r->id))
		return err_set(e, -EPERM, "%s: credentials", path);
	return ret;
}

/*
 * Like every file that the command line names, from the directory that we were
 * started in; the compiler, which takes it for a root's text, finds no more in
 * it to expand.
 */
static char *file_word(const char *path)
{
	_cleanup_free_ char *here = *path == '/' ? strdup("") :
				    getcwd(NULL, 0);
	char *out = here ? malloc(2 * (strlen(here) + strlen(path)) + 2) : NULL;
	char *o = out;
	const char *p;

	for (p = here; out && *p; p++) {
		if (*p == '$')
			*o++ = '$';
		*o++ = *p;
	}
	if (out && *path != '/')
		*o++ = '/';
	for (p = path; out && *p; p++) {
		if (*p == '$')
			*o++ = '$';
		*o++ = *p;
	}
	if (out)
		*o = 0;
	return out;
}

static int file_words(const struct option_words *w, char **out)
{
	unsigned int i;

	for (i = 0; i < w->count; i++) {
		out[i] = file_word(w->word[i]);
		if (!out[i])
			return -ENOMEM;
	}
	return 0;
}

/* What the compiler made of --allow-credential, for whoever reads it later. */
static int keep_lifted(const struct options *o, const struct context *c,
		       struct load *l)
{
	const struct option_words *w = &o->credentials;
	struct arena mem = { 0 };
	const char *why, *path;
	unsigned int i;

	l->lifted = calloc(w->count + 1, sizeof(*l->lifted));
	for (i = 0; l->lifted && i < w->count; i++) {
		path = root_expand(&mem, c, c->workspace, w->word[i], &why);
		l->lifted[i] = strdup(path ? path : w->word[i]);
		if (!l->lifted[i])
			break;
		l->lifted_count++;
	}
	arena_free(&mem);
	return l->lifted_count == w->count ? 0 : -ENOMEM;
}

static int compile_source(struct source *s, struct compile_options *c,
			  struct load *l, struct err *e)
{
	struct diags again = {};
	int ret = is_image(s) ? take_image(s, c, l, e) :
		  compile_text(s->text, s->len, s->display, s->base, c, &l->im,
			       &l->diags);

	/* Its warnings were said while the policy was held under it. */
	if (!ret && compile_ceiling_profile(c, &l->weakest, &again))
		ret = err_set(e, -EINVAL, "%s: cannot be read again",
			      c->ceiling_file);
	diags_free(&again);
	return ret;
}

int load_image(const struct options *o, const struct identity *id,
	       const char *workspace, struct load *l, struct err *e)
{
	struct compile_root roots[OPTIONS_MANY];
	char *env_files[OPTIONS_MANY] = {};
	_cleanup_free_ char *ceiling = NULL;
	struct context context = {};
	struct context_who who = {
		.workspace = workspace, .home = id->home,
		.uid = id->user.uid, .invoker = id->opener.uid, .env = environ,
	};
	struct compile_options c = {
		.context = &context, .roots = roots,
		.root_count = add_roots(o, roots),
		.env = o->env.word, .env_count = o->env.count,
		.wall_time = o->timeout, .memory = o->memory,
		.pids = o->pids, .cpu = o->cpu, .idle_time = o->idle,
		.grants = o->loopback ? GRANT_LOOPBACK_TCP |
					GRANT_LOOPBACK_UDP : 0,
		.network = o->network || o->egress.count,
		.egress_allow = o->egress.word,
		.egress_allow_count = o->egress.count,
		.loopback_ports = o->loopback_ports.word,
		.loopback_port_count = o->loopback_ports.count,
		.publish_ports = o->publish_ports.word,
		.publish_port_count = o->publish_ports.count,
		.env_files = (const char *const *)env_files,
		.env_file_count = o->env_files.count,
		.lift = o->credentials.word, .lift_count = o->credentials.count,
		.read_file = read_env_file,
		.read_arg = &(struct env_reader){ id, workspace },
	};
	struct source s = {};
	unsigned int i;
	int ret;

	*l = (struct load){};
	ret = read_ceiling(&c, &ceiling, e);
	l->ceiling = c.ceiling;
	if (!ret)
		ret = context_init(&context, &who, e);
	if (!ret && (file_words(&o->env_files, env_files) ||
		     keep_lifted(o, &context, l)))
		ret = err_sys(e, -ENOMEM, "options");
	if (!ret)
		ret = find_source(o, id, workspace, l, &s, e);
	/* The compiler follows links: nobody learns by it where root could. */
	if (!ret && identity_as(RESOLVE_AS_USER, (void *)id))
		ret = err_set(e, -EPERM, "credentials");
	if (!ret)
		ret = compile_source(&s, &c, l, e);
	identity_as(RESOLVE_AS_SELF, (void *)id);
	for (i = 0; i < o->env_files.count; i++)
		free(env_files[i]);
	source_free(&s);
	context_free(&context);
	return ret;
}

int load_ceiling(const struct identity *id, bool *there,
		 enum image_profile *weakest, struct diags *d, struct err *e)
{
	struct context context = {};
	struct context_who who = {
		.workspace = "/", .home = id->home, .uid = id->user.uid,
		.invoker = id->opener.uid, .env = environ,
	};
	struct compile_options c = { .context = &context };
	_cleanup_free_ char *text = NULL;
	int ret = read_ceiling(&c, &text, e);

	*there = c.ceiling;
	if (ret || !c.ceiling)
		return ret;
	ret = context_init(&context, &who, e);
	if (!ret)
		ret = compile_ceiling_profile(&c, weakest, d);
	context_free(&context);
	return ret;
}

void load_free(struct load *l)
{
	unsigned int i;

	for (i = 0; i < l->lifted_count; i++)
		free(l->lifted[i]);
	free(l->lifted);
	recorded_free(&l->recorded);
	free(l->im);
	free(l->file);
	diags_free(&l->diags);
	*l = (struct load){};
}
