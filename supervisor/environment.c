// SPDX-License-Identifier: GPL-2.0-only
/*
 * The command's environment. A variable whose name looks like a secret passes
 * only when it is named, whatever the mode.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../policy-compiler/variables.h"
#include "cleanup.h"
#include "environment.h"

extern char **environ;

/* Of our own start, not of the command's world. */
static const char *const ours[] = {
	"SUDO_*", "LH_*", NULL
};

/* What points a tool's cache into the session's cache directory. */
static const struct {
	const char *name, *below;
} caches[] = {
	{ "XDG_CACHE_HOME", "xdg" },
	{ "GOCACHE", "go-build" },
	{ "GOMODCACHE", "go-mod" },
	{ "PIP_CACHE_DIR", "pip" },
	{ "UV_CACHE_DIR", "uv" },
	{ "npm_config_cache", "npm" },
	{ "npm_config_store_dir", "pnpm" },
	{ "YARN_CACHE_FOLDER", "yarn" },
	{ "PYTHONUSERBASE", "python" },
};

static bool among(const char *name, const char *const patterns[])
{
	size_t i;

	for (i = 0; patterns[i]; i++)
		if (!fnmatch(patterns[i], name, 0))
			return true;
	return false;
}

static char **slot(const struct environment *env, const char *name, size_t len)
{
	size_t i;

	for (i = 0; i < env->count; i++)
		if (!strncmp(env->vars[i], name, len) &&
		    env->vars[i][len] == '=')
			return &env->vars[i];
	return NULL;
}

const char *environment_get(const struct environment *env, const char *name)
{
	char **s = slot(env, name, strlen(name));

	return s ? *s + strlen(name) + 1 : NULL;
}

/* Takes @var ("NAME=VALUE", malloc'd or NULL) over. */
static int put(struct environment *env, char *var)
{
	char **s;

	if (!var)
		return -ENOMEM;
	s = slot(env, var, strcspn(var, "="));
	if (s) {
		free(*s);
		*s = var;
		return 0;
	}
	if (env->count + 2 > env->room) {
		size_t room = env->room ? env->room * 2 : 64;
		char **vars = realloc(env->vars, room * sizeof(*vars));

		if (!vars) {
			free(var);
			return -ENOMEM;
		}
		env->vars = vars;
		env->room = room;
	}
	env->vars[env->count++] = var;
	env->vars[env->count] = NULL;
	return 0;
}

static int set(struct environment *env, const char *name, const char *value)
{
	char *var;

	if (asprintf(&var, "%s=%s", name, value) < 0)
		return -ENOMEM;
	return put(env, var);
}

static int set_default(struct environment *env, const char *name,
		       const char *value)
{
	return slot(env, name, strlen(name)) ? 0 : set(env, name, value);
}

static int pass(struct environment *env, const char *name)
{
	const char *value = getenv(name);

	return value ? set(env, name, value) : 0;
}

static int by_mode(struct environment *env, unsigned int mode)
{
	char **v;
	int ret;

	if (mode == ENV_GRANTED)
		return 0;
	for (v = environ; *v; v++) {
		size_t len = strcspn(*v, "=");
		_cleanup_free_ char *name = strndup(*v, len);

		if (!name)
			return -ENOMEM;
		if (!len || !(*v)[len] || variable_is_secret(name) ||
		    among(name, ours))
			continue;
		if (mode == ENV_ISOLATED && !variable_is_essential(name))
			continue;
		ret = put(env, strdup(*v));
		if (ret)
			return ret;
	}
	return 0;
}

static int user_facts(struct environment *env, const struct identity *id)
{
	const struct {
		const char *name, *value;
	} facts[] = {
		{ "HOME", id->home }, { "USER", id->name },
		{ "LOGNAME", id->name }, { "SHELL", id->shell },
	};
	size_t i;
	int ret = 0;

	/* Where the user is another, the caller's facts are false. */
	for (i = 0; !ret && i < sizeof(facts) / sizeof(*facts); i++)
		ret = id->changed ? set(env, facts[i].name, facts[i].value)
				  : set_default(env, facts[i].name,
						facts[i].value);
	return ret ? ret : set_default(env, "PATH",
				       "/usr/local/bin:/usr/bin:/bin");
}

static int by_policy(struct environment *env, const struct image *im)
{
	const struct image_env *e = image_envs(im);
	size_t i;
	int ret = 0;

	for (i = 0; !ret && i < im->env.count; i++)
		ret = e[i].set ? set(env, image_string(im, e[i].name),
				     image_string(im, e[i].value))
			       : pass(env, image_string(im, e[i].name));
	return ret;
}

int environment_start(struct environment *env, const struct image *im,
		      const struct identity *id)
{
	int ret;

	*env = (struct environment){};
	ret = by_mode(env, im->env_mode);
	if (!ret && im->env_mode != ENV_GRANTED)
		ret = user_facts(env, id);
	if (!ret)
		ret = by_policy(env, im);
	if (!ret && !env->vars) {
		env->vars = calloc(2, sizeof(*env->vars));
		env->room = 2;
		ret = env->vars ? 0 : -ENOMEM;
	}
	return ret;
}

static int below(struct environment *env, const char *name, const char *dir,
		 const char *leaf)
{
	_cleanup_free_ char *path = NULL;

	if (asprintf(&path, "%s/%s", dir, leaf) < 0)
		return -ENOMEM;
	return set_default(env, name, path);
}

/*
 * A JVM makes its temporary files in /tmp, whatever TMPDIR says. What the
 * caller gave it stays, also an empty value; one that names a place decides.
 */
static int tell_java(struct environment *env, const char *temp)
{
	static const char name[] = "JAVA_TOOL_OPTIONS";
	const char *has = environment_get(env, name);
	_cleanup_free_ char *value = NULL;

	if (has && (!*has || strstr(has, "java.io.tmpdir")))
		return 0;
	if (asprintf(&value, "%s%s-Djava.io.tmpdir=%s", has ? has : "",
		     has ? " " : "", temp) < 0)
		return -ENOMEM;
	return set(env, name, value);
}

int environment_finish(struct environment *env, const char *temp,
		       const char *cache, bool hide_git_config)
{
	size_t i;
	int ret = 0;

	if (temp) {
		ret = set_default(env, "TMPDIR", temp);
		if (!ret)
			ret = set_default(env, "TMP", temp);
		if (!ret)
			ret = set_default(env, "TEMP", temp);
		if (!ret)
			ret = set_default(env, "TMUX_TMPDIR", temp);
		if (!ret)
			ret = tell_java(env, temp);
	}
	/* No template: a new repository gets no hooks. Empty: none at all. */
	if (!ret)
		ret = temp ? below(env, "GIT_TEMPLATE_DIR", temp,
				   "git-template")
			   : set_default(env, "GIT_TEMPLATE_DIR", "");
	if (!ret && hide_git_config)
		ret = set_default(env, "GIT_CONFIG_GLOBAL", "/dev/null");
	for (i = 0; !ret && cache && i < sizeof(caches) / sizeof(*caches); i++)
		ret = below(env, caches[i].name, cache, caches[i].below);
	return ret;
}

void environment_free(struct environment *env)
{
	size_t i;

	for (i = 0; i < env->count; i++)
		free(env->vars[i]);
	free(env->vars);
	*env = (struct environment){};
}
