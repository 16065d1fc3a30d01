// SPDX-License-Identifier: GPL-2.0-only
/*
 * Warnings: each with a twin beside it that is not warned of.
 */
#define _GNU_SOURCE
#include <sys/stat.h>
#include <unistd.h>

#include "../../policy-compiler/data.h"
#include "compile_test.h"

#include "kselftest_harness.h"

/* What `check` says of { "version": 1, @text }. To be freed. */
static char *checked(const char *text, bool check)
{
	const struct compile_options o = { .context = &here, .check = check };
	char *whole, *said = NULL;

	if (asprintf(&whole, "{\"version\":1,%s}", text) < 0)
		abort();
	free(compile_here(whole, &o, &said));
	free(whole);
	return said;
}

#define SANDBOX(...) "\"process_sandbox\":{" __VA_ARGS__ "}"
#define NET(...) "\"side_effect_level\":\"network\",\"egress\":{" \
	__VA_ARGS__ "}"

struct row {
	const char *text;
	const char *warning;	/* NULL: none "has no effect" */
};

static void expect_rows(struct __test_metadata *_metadata,
			const struct row *rows, size_t n)
{
	char *said;
	size_t i;

	for (i = 0; i < n; i++) {
		said = checked(rows[i].text, true);
		if (rows[i].warning) {
			EXPECT_NE(NULL, strstr(said, rows[i].warning)) {
				TH_LOG("%s: %s", rows[i].text, said);
			}
		} else {
			EXPECT_EQ(NULL, strstr(said, "has no effect")) {
				TH_LOG("%s: %s", rows[i].text, said);
			}
		}
		free(said);
	}
}

#define ROWS(...) do { \
	static const struct row rows[] = { __VA_ARGS__ }; \
	expect_rows(_metadata, rows, ARRAY_SIZE(rows)); \
} while (0)

TEST(a_grant_that_a_deny_swallows)
{
	ROWS(
	{ SANDBOX("\"read_roots\":[\"/a/b\"],\"read_deny_roots\":[\"/a\"]"),
	  "warning: /process_sandbox/read_roots/0: has no effect: "
	  "/process_sandbox/read_deny_roots/0 denies /a" },
	{ SANDBOX("\"write_roots\":[\"/a\"],\"read_deny_roots\":[\"/a\"]"),
	  "/process_sandbox/write_roots/0: has no effect" },
	{ SANDBOX("\"read_roots\":[\"/a\"],\"read_deny_roots\":[\"/a/b\"]"),
	  NULL },
	{ SANDBOX("\"read_roots\":[\"/ab\"],\"read_deny_roots\":[\"/a\"]"),
	  NULL },
	{ SANDBOX("\"read_roots\":[\"?~/.ssh/known_hosts\"]"),
	  "has no effect: builtin:credentials/.ssh denies /home/u/.ssh" },
	{ SANDBOX("\"read_roots\":[\"/etc/ssh\"]"),
	  "has no effect: builtin:credentials//etc/ssh denies" },
	{ SANDBOX("\"read_roots\":[\"/root/.aws\"]"), "has no effect" },
	{ SANDBOX("\"read_roots\":[\"/home/u/.sshx\", \"/etc\"]"), NULL },
	{ "\"workspace_roots\":[\"~/.gnupg/x\"]",
	  "has no effect: builtin:credentials/.gnupg denies" });
}

TEST(a_grant_inside_a_grant)
{
	ROWS(
	{ "\"workspace_roots\":[\"${WORKSPACE}\",\"${WORKSPACE}/x\"]",
	  "/workspace_roots/1: has no effect: it lies in /w, which "
	  "/workspace_roots/0 grants" },
	{ "\"workspace_roots\":[\"/w/x\",\"/w\"]",
	  "/workspace_roots/0: has no effect" },
	{ "\"workspace_roots\":[\"/w\",\"/w/\"]",
	  "/workspace_roots/1: has no effect: /workspace_roots/0 says the "
	  "same" },
	{ "\"workspace_roots\":[\"/w\",\"/v\"]", NULL },
	{ SANDBOX("\"read_roots\":[\"/w/x\"]"),
	  "/read_roots/0: has no effect: it lies in /w" },
	{ SANDBOX("\"read_roots\":[\"/w\"]"),
	  "/read_roots/0: has no effect: /workspace_roots/0 says the same" },
	{ SANDBOX("\"read_roots\":[\"/a\"],\"write_roots\":[\"/a/b\"]"),
	  NULL },
	{ "\"read_only_roots\":[\"/w/a\"],"
	  SANDBOX("\"write_roots\":[\"/w/a/b\"]"), NULL },
	{ "\"read_only_roots\":[\"/w/a\"]", NULL },
	{ "\"read_only_roots\":[\"/w/a\",\"/w/a/b\"]",
	  "/read_only_roots/1: has no effect" },
	{ SANDBOX("\"read_deny_roots\":[\"/w/a\",\"/w/a/b\"]"), NULL });
}

TEST(a_grant_that_the_level_takes_back)
{
	ROWS(
	{ "\"side_effect_level\":\"none\",\"workspace_roots\":[\"/w\"]",
	  "/workspace_roots/0: has no effect: the level none and" },
	{ "\"capabilities\":{\"workspace\":[\"write_text\"]},"
	  SANDBOX("\"read_roots\":[\"/a\"]"),
	  "/read_roots/0: has no effect: the level process_exec and" },
	{ "\"capabilities\":{\"workspace\":[\"write_text\"]},"
	  "\"workspace_roots\":[\"/w\"]", NULL },
	{ "\"side_effect_level\":\"none\"", NULL },
	{ "\"side_effect_level\":\"read_only\","
	  SANDBOX("\"read_roots\":[\"/a\"]"), NULL });
}

TEST(a_run_is_not_nagged)
{
	static const char *const quiet[] = {
		SANDBOX("\"read_roots\":[\"/w/x\"]"),
		SANDBOX("\"read_roots\":[\"/no/such/place\"]"),
	};
	char *said;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(quiet); i++) {
		said = checked(quiet[i], false);
		EXPECT_STREQ("", said);
		free(said);
	}
	said = checked(SANDBOX("\"read_roots\":[\"~/.ssh\"]"), false);
	EXPECT_NE(NULL, strstr(said, "has no effect"));
	free(said);
}

TEST(a_port_without_a_loopback_of_its_own)
{
	ROWS(
	{ SANDBOX("\"publish_ports\":[3000]"),
	  "/process_sandbox/publish_ports/0: has no effect" },
	{ SANDBOX("\"bind_any\":\"loopback\""),
	  "/process_sandbox/bind_any: has no effect" },
	{ SANDBOX("\"publish_ports\":[3000],\"bind_any\":\"loopback\","
		  "\"allow_tcp_loopback\":true"), NULL },
	{ SANDBOX("\"loopback_ports\":[5432]"), NULL });
}

TEST(a_rule_of_egress_that_another_decides)
{
	ROWS(
	{ NET("\"allow\":[\"10.9.1.0/24\"],\"deny\":[\"10.9.0.0/16\"]"),
	  "/egress/allow/0: has no effect: /egress/deny/0 denies all of it" },
	{ NET("\"allow\":[\"10.0.0.0/8\"],\"deny\":[\"10.9.0.0/16\"]"), NULL },
	{ NET("\"allow\":[\"10.9.1.1:443\"],\"deny\":[\"10.9.1.1:80\"]"),
	  NULL },
	{ NET("\"allow\":[\"10.9.1.1:443\"],\"deny\":[\"10.9.1.1:1-500\"]"),
	  "has no effect" },
	{ NET("\"allow\":[\"10.9.1.1\"],\"deny\":[\"tcp/10.9.1.1\"]"), NULL },
	{ NET("\"allow\":[\"tcp/10.9.1.1\"],\"deny\":[\"10.9.1.1\"]"),
	  "has no effect" },
	{ NET("\"allow\":[\"10.128.0.0/9\"],\"deny\":[\"10.0.0.0/9\"]"),
	  NULL },
	{ NET("\"allow\":[\"10.64.0.0/10\"],\"deny\":[\"10.0.0.0/9\"]"),
	  "has no effect" },
	{ NET("\"allow\":[\"::1\"],\"deny\":[\"0.0.0.0/0\"]"), NULL },
	{ NET("\"allow\":[\"10.0.0.0/8\",\"10.1.0.0/16\"]"),
	  "/egress/allow/1: has no effect: /egress/allow/0 allows" },
	{ NET("\"allow\":[\"10.1.0.0/16\",\"10.1.0.0/16\"]"),
	  "/egress/allow/1: has no effect" },
	{ NET("\"default\":\"allow\",\"allow\":[\"10.1.0.0/16\"]"), NULL },
	{ NET("\"allow\":[\"0.0.0.0/0\",\"10.1.0.0/16\"]"), NULL },
	{ NET("\"default\":\"allow\",\"allow\":[\"192.0.2.0/24\"]"),
	  "/egress/allow/0: has no effect: the default" },
	/* What may be a broadcast is granted by its own rule alone. */
	{ NET("\"allow\":[\"192.0.2.0/24\",\"192.0.2.255\"]"), NULL },
	{ NET("\"default\":\"allow\",\"allow\":[\"192.0.2.255\"]"), NULL },
	{ NET("\"allow\":[\"192.0.2.0/24\",\"192.0.2.254\"]"),
	  "/egress/allow/1: has no effect" },
	{ NET("\"allow\":[\"192.0.2.255\",\"192.0.2.255\"]"),
	  "/egress/allow/1: has no effect" });
}

FIXTURE(place) {
	char dir[32];
	char *said;
	struct context c;
};

FIXTURE_SETUP(place)
{
	char path[128];

	strcpy(self->dir, "/tmp/warn.XXXXXX");
	ASSERT_NE(NULL, mkdtemp(self->dir));
	snprintf(path, sizeof(path), "%s/p", self->dir);
	ASSERT_EQ(0, mkdir(path, 0700));
	snprintf(path, sizeof(path), "%s/p.json", self->dir);
	fclose(fopen(path, "w"));
	snprintf(path, sizeof(path), "%s/p/p.json", self->dir);
	fclose(fopen(path, "w"));
	self->c = here;
	self->c.workspace = self->dir;
}

FIXTURE_TEARDOWN(place)
{
	static const char *const names[] = { "p/p.json", "p", "p.json", "" };
	char path[128];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(names); i++) {
		snprintf(path, sizeof(path), "%s/%s", self->dir, names[i]);
		remove(path);
	}
	free(self->said);
}

/* Compile @text as if it stood in the file @name of the place. */
static const char *place_check(FIXTURE_DATA(place) *self, const char *name,
			       const char *text)
{
	const struct compile_options o = {
		.context = &self->c, .check = true,
	};
	char file[128], whole[512];
	struct image *im = NULL;
	struct diags d = { 0 };
	size_t len;
	FILE *f;

	free(self->said);
	f = open_memstream(&self->said, &len);
	snprintf(file, sizeof(file), "%s/%s", self->dir, name);
	snprintf(whole, sizeof(whole), "{\"version\":1%s%s}",
		 *text ? "," : "", text);
	compile_text(whole, strlen(whole), file, NULL, &o, &im, &d);
	diags_print(&d, f, "");
	fclose(f);
	diags_free(&d);
	free(im);
	return self->said;
}

TEST_F(place, a_policy_inside_its_own_writable_root)
{
	EXPECT_NE(NULL, strstr(place_check(self, "p.json", ""),
			       "/workspace_roots/0: holds the policy itself"));
	EXPECT_STREQ("", place_check(self, "p.json",
				     "\"workspace_roots\":[\"p\"]"));
	EXPECT_NE(NULL, strstr(place_check(self, "p/p.json",
					   "\"workspace_roots\":[\".\"]"),
			       "holds the policy itself"));
	EXPECT_STREQ("", place_check(self, "p/p.json",
				     "\"read_only_roots\":[\"../p\"]"));
	EXPECT_STREQ("", place_check(self, "p.json",
				     "\"side_effect_level\":\"read_only\""));
}

TEST_F(place, a_grant_of_what_is_not_there)
{
	static const char absent[] = "does not exist";

	EXPECT_NE(NULL, strstr(place_check(self, "p.json",
		SANDBOX("\"read_roots\":[\"none\"]")), absent));
	EXPECT_NE(NULL, strstr(place_check(self, "p.json",
		"\"workspace_roots\":[\"p\"],"
		"\"read_only_roots\":[\"none\"]"), absent));
	EXPECT_EQ(NULL, strstr(place_check(self, "p.json",
		SANDBOX("\"read_roots\":[\"?none\"]")), absent));
	EXPECT_EQ(NULL, strstr(place_check(self, "p.json",
		SANDBOX("\"read_deny_roots\":[\"none\"]")), absent));
	EXPECT_EQ(NULL, strstr(place_check(self, "p.json",
		"\"read_only_roots\":[\"none\"]"), absent));
	EXPECT_EQ(NULL, strstr(place_check(self, "p.json",
		SANDBOX("\"read_roots\":[\"/usr\"]")), absent));
}

TEST_F(place, shipped_policies_are_not_warned_of)
{
	const struct compile_options o = {
		.context = &self->c, .check = true,
	};
	char *env[] = {
		(char *)"HOME=/home/u",
		(char *)"PATH=/home/u/.local/bin:/usr/local/bin:/usr/bin:/bin",
		NULL,
	};
	const char *name, *text;
	struct diags d = { 0 };
	struct image *im;
	size_t i, len;

	self->c.env = env;
	for (i = 0; (name = policy_shipped_name(i)); i++) {
		text = policy_shipped(name, &len);
		EXPECT_EQ(0, compile_text(text, len, name, self->dir, &o, &im,
					  &d));
		EXPECT_EQ(0, d.warnings) {
			TH_LOG("%s: %s", name, d.list[0].text);
		}
		diags_free(&d);
		free(im);
	}
	EXPECT_GE(i, 5);
}

/* 10,000 roots must not take minutes, whatever lies in what. */
TEST(many_roots_are_compared_fast)
{
	const size_t n = 10000;
	char *text = malloc(64 * n + 64), *p = text, *said;
	size_t i;

	ASSERT_NE(NULL, text);
	p += sprintf(p, "\"workspace_roots\":[\"/w\"");
	for (i = 0; i < n; i++)
		p += sprintf(p, ",\"/x/%zu/a/b/c/d/e/f/g\"", i);
	strcpy(p, "]");
	alarm(20);
	said = checked(text, true);
	alarm(0);
	EXPECT_NE(NULL, strstr(said, "does not exist"));
	free(said);
	free(text);
}

TEST_HARNESS_MAIN
