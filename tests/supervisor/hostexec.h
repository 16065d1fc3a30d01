/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A root, what a session would do there, and what is told of it.
 */
#ifndef LH_TEST_HOSTEXEC_H
#define LH_TEST_HOSTEXEC_H

#include <dirent.h>
#include <fcntl.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../supervisor/hostexec.h"
#include "../tick.h"
#include "kselftest_harness.h"

FIXTURE(hostexec) {
	char top[64], root[128];
	struct identity id;
	struct hostexec *h;
	char *json, said[4096];
};

FIXTURE_SETUP(hostexec)
{
	strcpy(self->top, "/tmp/lh-hostexec.XXXXXX");
	ASSERT_NE(NULL, mkdtemp(self->top));
	ASSERT_EQ(0, chmod(self->top, 0755));
	snprintf(self->root, sizeof(self->root), "%s/ws", self->top);
	ASSERT_EQ(0, mkdir(self->root, 0755));
	self->h = NULL;
	self->json = NULL;
	self->said[0] = 0;
	self->id = (struct identity){ .user.uid = geteuid() };
}

FIXTURE_TEARDOWN(hostexec)
{
	char command[128];

	hostexec_free(self->h);
	free(self->json);
	snprintf(command, sizeof(command), "rm -rf '%s'", self->top);
	EXPECT_EQ(0, system(command));
}

static const char *in(const char *root, const char *path)
{
	static char full[4][4096];
	static unsigned int turn;
	char *p = full[turn++ % 4], *s;

	snprintf(p, sizeof(full[0]), "%s/%s", root, path);
	for (s = p + strlen(root) + 1; (s = strchr(s, '/')); s++) {
		*s = 0;
		mkdir(p, 0755);
		*s = '/';
	}
	return p;
}

static void put(const char *root, const char *path, const char *text)
{
	FILE *f = fopen(in(root, path), "w");

	if (!f || fputs(text, f) < 0 || fclose(f))
		abort();
}

static void begin_at(FIXTURE_DATA(hostexec) *self, char *root, char *skip)
{
	char *roots[] = { root, skip };

	self->h = hostexec_begin(&self->id, roots, skip ? 2 : 1, skip);
}

static void begin(FIXTURE_DATA(hostexec) *self)
{
	begin_at(self, self->root, NULL);
}

static void end(FIXTURE_DATA(hostexec) *self)
{
	_cleanup_writer_ struct writer *w = writer_new();

	hostexec_end(self->h, &self->id, true);
	writer_open_map(w, NULL);
	hostexec_write(self->h, w);
	writer_close_map(w);
	free(self->json);
	self->json = writer_line(w, NULL);
	if (!hostexec_summary(self->h, self->root, self->said,
			      sizeof(self->said)))
		self->said[0] = 0;
}

/* The result has this change, as JSON and in the words of the line. */
static bool tells(FIXTURE_DATA(hostexec) *self, const char *path,
		  const char *change, const char *kind)
{
	char want[1024], words[1024];

	snprintf(want, sizeof(want),
		 "{\"path\":\"%s/%s\",\"change\":\"%s\",\"kind\":\"%s\",",
		 self->root, path, change, kind);
	snprintf(words, sizeof(words), "%s (%s)", path, change);
	return strstr(self->json, want) && strstr(self->said, words);
}

static bool silent(FIXTURE_DATA(hostexec) *self)
{
	return !self->said[0] &&
	       !strcmp(self->json, "{\"host_exec_changes\":[],"
		       "\"host_exec_more\":0,\"host_exec_not_compared\":[]}\n");
}

#endif
