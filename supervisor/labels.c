// SPDX-License-Identifier: GPL-2.0-only
/*
 * Keys are such that every tool takes them; values are text of one line.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <string.h>

#include "cleanup.h"
#include "labels.h"

static bool is_alnum(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       (c >= '0' && c <= '9');
}

static bool key_ok(const char *key, size_t len)
{
	size_t i;

	if (!len || len > LABEL_KEY_MAX || !is_alnum(key[0]) ||
	    !is_alnum(key[len - 1]))
		return false;
	for (i = 0; i < len; i++)
		if (!is_alnum(key[i]) && !memchr("._/-", key[i], 4))
			return false;
	return true;
}

/* What the writer would have to repair is no text. */
static bool is_text(const char *s)
{
	_cleanup_writer_ struct writer *w = writer_new();
	_cleanup_free_ char *line = NULL;
	const char *p;

	for (p = s; *p; p++)
		if ((unsigned char)*p < ' ' || *p == 0x7f)
			return false;
	writer_open_map(w, NULL);
	writer_bytes(w, "v", s, strlen(s));
	writer_close_map(w);
	line = writer_line(w, NULL);
	return !strstr(line, "\",\"v_b64\":");
}

int labels_add(struct labels *l, const char *arg, struct err *e)
{
	size_t len = strcspn(arg, "="), i;
	const char *value = arg + len + 1;

	if (!arg[len])
		return err_set(e, -EINVAL, "--label: not KEY=VALUE: %s", arg);
	if (!key_ok(arg, len))
		return err_set(e, -EINVAL, "--label: %.*s: a key is 1 to %d "
			       "letters, digits and '.', '_', '/', '-', and "
			       "begins and ends with a letter or digit",
			       (int)(len > 80 ? 80 : len), arg, LABEL_KEY_MAX);
	if (strlen(value) > LABEL_VALUE_MAX || !is_text(value))
		return err_set(e, -EINVAL, "--label: %.*s: the value is no "
			       "text of one line of at most %d bytes, in "
			       "UTF-8", (int)len, arg, LABEL_VALUE_MAX);
	for (i = 0; i < l->count; i++)
		if (!strncmp(l->label[i], arg, len + 1))
			return err_set(e, -EINVAL, "--label: %.*s: given twice",
				       (int)len, arg);
	if (l->count == LABELS_MAX)
		return err_set(e, -E2BIG, "--label: given more than %d times",
			       LABELS_MAX);
	l->label[l->count++] = arg;
	return 0;
}

void labels_write(struct writer *w, const struct labels *l)
{
	unsigned int i;

	writer_open_map(w, "labels");
	for (i = 0; l && i < l->count; i++) {
		size_t len = strcspn(l->label[i], "=");
		_cleanup_free_ char *key = strndup(l->label[i], len);

		if (key)
			writer_str(w, key, l->label[i] + len + 1);
	}
	writer_close_map(w);
}
