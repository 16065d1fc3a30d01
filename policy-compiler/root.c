// SPDX-License-Identifier: GPL-2.0-only
/*
 * From the words of a policy to an absolute, lexically normal path. No file is
 * looked at: the same words in the same context give the same path.
 */
#define _GNU_SOURCE
#include <string.h>

#include "err.h"
#include "policy.h"

#define PATH_BYTES 4095u	/* what the kernel takes, without the NUL */

void root_normalise(char *path)
{
	char *in = path, *out = path;
	size_t n;

	while (*in) {
		in += strspn(in, "/");
		n = strcspn(in, "/");
		if (!n)
			break;
		if (n == 2 && in[0] == '.' && in[1] == '.') {
			while (out > path && *--out != '/')
				;
		} else if (n != 1 || *in != '.') {
			*out++ = '/';
			memmove(out, in, n);
			out += n;
		}
		in += n;
	}
	if (out == path)
		*out++ = '/';
	*out = 0;
}

bool root_covers(const char *root, const char *path)
{
	size_t n = strlen(root);

	if (n == 1)
		return true;
	return !strncmp(root, path, n) && (!path[n] || path[n] == '/');
}

const char *root_wrong(const char *path)
{
	size_t len = strlen(path), i, n;
	const char *s = path + 1;
	uint32_t rune;

	if (*path != '/')
		return "not absolute";
	if (len > PATH_BYTES)
		return "longer than 4095 bytes";
	for (i = 0; i < len; i += n) {
		n = err_utf8(path + i, len - i, &rune);
		if (!n)
			return "not valid UTF-8";
		if (rune < 0x20 || (rune >= 0x7f && rune < 0xa0))
			return "a control character in a path";
	}
	if (len == 1)
		return NULL;
	for (;;) {
		n = strcspn(s, "/");
		if (!n || (n == 1 && *s == '.') ||
		    (n == 2 && s[0] == '.' && s[1] == '.'))
			return "not in normal form";
		if (n > LH_NAME_MAX)
			return "a name longer than 255 bytes in a path";
		s += n;
		if (!*s++)
			return NULL;
	}
}

/* One ${NAME} at @s; *len: its bytes. */
static const char *variable(const struct context *c, const char *s,
			    size_t *len)
{
	static const char home[] = "${HOME}", user[] = "${USER}",
		workspace[] = "${WORKSPACE}";

	if (!strncmp(s, home, *len = strlen(home)))
		return c->home;
	if (!strncmp(s, user, *len = strlen(user)))
		return c->user;
	if (!strncmp(s, workspace, *len = strlen(workspace)))
		return c->workspace;
	return NULL;
}

/* Bytes that expansion of @s needs, or writes to @out; 0 and *why: wrong. */
static size_t expand(const struct context *c, const char *s, char *out,
		     const char **why)
{
	size_t size = 0, len, n;
	const char *v;

	while (*s) {
		v = s;
		len = n = 1;
		if (s[0] == '$' && s[1] && strchr("$*?", s[1])) {
			v = s + 1;
			len = 2;
		} else if (s[0] == '$' && s[1] == '{') {
			v = variable(c, s, &len);
			if (!v) {
				*why = "only ${HOME}, ${USER} and "
				       "${WORKSPACE} are expanded; "
				       "write $$ for a dollar sign";
				return 0;
			}
			n = strlen(v);
		} else if (s[0] == '$') {
			*why = "a dollar sign stands alone: write ${HOME} or "
			       "${WORKSPACE}, or $$ for the sign itself";
			return 0;
		} else if (s[0] == '*' || s[0] == '?') {
			*why = "patterns are not expanded: name a file, or a "
			       "directory, which means all below it; $* and "
			       "$? are the characters themselves";
			return 0;
		}
		if (out)
			memcpy(out + size, v, n);
		size += n;
		s += len;
	}
	return size;
}

/* The home that a leading ~ or ~user means; *rest: what follows. */
static const char *tilde(struct arena *mem, const struct context *c,
			 const char *text, const char **rest, const char **why)
{
	size_t n = strcspn(text, "/");
	const char *home;
	char *name;

	*rest = text + n;
	if (n == 1)
		return c->home;
	name = arena_copy(mem, text + 1, n - 1);
	home = name ? context_home_of(mem, name) : NULL;
	if (!home)
		*why = "no user has this name, or none with a home";
	return home;
}

char *root_expand(struct arena *mem, const struct context *c, const char *base,
		  const char *text, const char **why)
{
	const char *first = "", *rest = text;
	size_t lead, size;
	char *path;

	*why = NULL;
	if (!*text) {
		*why = "an empty path";
		return NULL;
	}
	if (*text == '~') {
		first = tilde(mem, c, text, &rest, why);
		if (!first)
			return NULL;
	} else if (*text != '/' && strncmp(text, "${HOME}", 7) &&
		   strncmp(text, "${WORKSPACE}", 12)) {
		first = base;
	}
	size = expand(c, rest, NULL, why);
	if (*why)
		return NULL;
	lead = strlen(first);
	path = arena_alloc(mem, lead + size + 2);
	if (!path) {
		*why = "out of memory";
		return NULL;
	}
	memcpy(path, first, lead);
	path[lead] = '/';
	expand(c, rest, path + lead + 1, why);
	root_normalise(path);
	*why = root_wrong(path);
	return *why ? NULL : path;
}
