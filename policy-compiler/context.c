// SPDX-License-Identifier: GPL-2.0-only
/*
 * The context: the user database and the current directory, asked once.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "context.h"
#include "policy.h"

static const char *env_find(char *const *env, const char *name)
{
	size_t len = strlen(name);

	for (; env && *env; env++)
		if (!strncmp(*env, name, len) && (*env)[len] == '=')
			return *env + len + 1;
	return NULL;
}

const char *context_env(const struct context *c, const char *name)
{
	return env_find(c->env, name);
}

/* sudo says who asked; anyone could say it, so only root is believed. */
void context_caller(struct context_who *who, char *const *env)
{
	const char *sudo = env_find(env, "SUDO_UID");
	uint64_t uid;

	*who = (struct context_who){ .uid = getuid(), .env = env };
	if (!who->uid && sudo && limit_count(sudo, &uid) && uid < UINT32_MAX)
		who->uid = uid;
	who->invoker = who->uid;
}

const char *context_home_of(struct arena *mem, const char *name)
{
	struct passwd *pw = getpwnam(name);

	if (!pw || !pw->pw_dir || *pw->pw_dir != '/')
		return NULL;
	return arena_copy(mem, pw->pw_dir, strlen(pw->pw_dir));
}

/* A directory that a policy's words stand for: absolute, normal, UTF-8. */
static int place_set(struct context *c, const char *what, const char *path,
		     const char **out, struct err *e)
{
	const char *why = NULL, *base = "/";
	char cwd[4096], *p;

	if (*path != '/') {
		if (!getcwd(cwd, sizeof(cwd)))
			return err_sys(e, -errno, "current directory");
		base = cwd;
	}
	p = arena_print(&c->mem, "%s%s%s", *path == '/' ? "" : base,
			*path == '/' ? "" : "/", path);
	if (!p)
		return err_sys(e, -ENOMEM, "%s", what);
	root_normalise(p);
	why = root_wrong(p);
	if (why)
		return err_set(e, -EINVAL, "%s %s: %s", what, p, why);
	*out = p;
	return 0;
}

static void home_add(struct context *c, const char *home)
{
	size_t i;

	for (i = 0; i < c->home_count; i++)
		if (!strcmp(c->homes[i], home))
			return;
	c->homes[c->home_count++] = home;
}

/* The home of @uid joins the list; a uid without one adds nothing. */
static int home_of_uid(struct context *c, uid_t uid, const char *fallback,
		       struct err *e)
{
	struct passwd *pw = getpwuid(uid);
	const char *home = pw && pw->pw_dir && *pw->pw_dir == '/' ?
		pw->pw_dir : fallback;
	int r;

	if (!home)
		return 0;
	r = place_set(c, "home directory", home, &home, e);
	if (!r)
		home_add(c, home);
	return r;
}

static int user_set(struct context *c, const struct context_who *who,
		    struct err *e)
{
	struct passwd *pw = who->user ? getpwnam(who->user) :
		getpwuid(who->uid);
	const char *user = who->user, *home = who->home;
	char number[16];

	if (!user) {
		snprintf(number, sizeof(number), "%u", who->uid);
		user = pw ? pw->pw_name : number;
	}
	if (!home) {
		if (pw && pw->pw_dir && *pw->pw_dir == '/')
			home = pw->pw_dir;
		else if (who->user && !pw)
			return err_set(e, -ENOENT, "no user is called %s; "
				       "give --home DIR", user);
		else
			home = "/nonexistent";
	}
	c->user = arena_copy(&c->mem, user, strlen(user));
	if (!c->user)
		return err_sys(e, -ENOMEM, "user %s", user);
	return place_set(c, "home directory", home, &c->home, e);
}

int context_init(struct context *c, const struct context_who *who,
		 struct err *e)
{
	int r;

	*c = (struct context){ .env = who->env };
	r = user_set(c, who, e);
	if (!r) {
		home_add(c, c->home);
		r = home_of_uid(c, 0, "/root", e);
	}
	if (!r)
		r = home_of_uid(c, who->invoker, NULL, e);
	if (!r)
		r = place_set(c, "working directory",
			      who->workspace ? who->workspace : ".",
			      &c->workspace, e);
	if (r)
		context_free(c);
	return r;
}

void context_free(struct context *c)
{
	arena_free(&c->mem);
	*c = (struct context){ 0 };
}
