// SPDX-License-Identifier: GPL-2.0-only
/*
 * What policies mean: each field's effect on the image, judged by decide.h,
 * with what it must not do beside what it does; flags; ceilings; bytes.
 */
#define _GNU_SOURCE
#include "compile_test.h"
#include "../../policy-compiler/data.h"

#include "kselftest_harness.h"

#define R LH_READ
#define W LH_WRITE
#define X LH_EXEC
#define D LH_REMOVE

FIXTURE(policy) {
	struct image *im;
	char *said;
};

FIXTURE_SETUP(policy)
{
	self->im = NULL;
	self->said = NULL;
}

FIXTURE_TEARDOWN(policy)
{
	free(self->im);
	free(self->said);
}

#define COMPILE(text, options) do { \
	self->im = compile_here(text, options, &self->said); \
	ASSERT_NE(NULL, self->im) { TH_LOG("%s", self->said); } \
} while (0)
#define YES(path, access) EXPECT_TRUE(allowed(self->im, path, access))
#define NO(path, access) EXPECT_FALSE(allowed(self->im, path, access))

TEST_F(policy, the_least_one_opens_the_workspace_and_the_system)
{
	COMPILE("{\"version\":1}", NULL);
	YES("/w/f", R | W | X | D);
	NO("/x", R);
	NO("/home/u/f", R);
	NO("/", R);
	YES("/usr/bin/true", R | X);
	NO("/usr/bin/true", W);
	YES("/etc/passwd", R);
	NO("/etc/passwd", W);
	YES("/dev/null", R | W);
	NO("/dev/null", X);
	NO("/dev/sda", R);
	YES("/dev/urandom", R);
	NO("/dev/urandom", W);
	YES("/proc", R);
	NO("/proc/1/environ", R);
	NO("/proc/kcore", R);
	YES("/home/u/.cargo/bin/cargo", R | X);
	YES("/home/u/.gitconfig", R);
	NO("/home/u/.gitconfig", X);
	NO("/home/asker/.gitconfig", R);
	EXPECT_EQ(0, self->im->flags & IMAGE_NO_EXEC);
	EXPECT_NE(0, self->im->flags & IMAGE_USER_TEMP);
	EXPECT_STREQ("", self->said);
}

TEST_F(policy, credentials_stay_shut_whatever_grants_them)
{
	COMPILE("{\"version\":1,\"workspace_roots\":[\"/w\"],"
		"\"process_sandbox\":{\"read_roots\":[\"/\"],\"write_roots\":"
		"[\"/home/u\",\"/home/u/.ssh\",\"/root/.aws/config\"]}}",
		NULL);
	YES("/home/u/f", R | W);
	NO("/home/u/.ssh", R);
	NO("/home/u/.ssh", LH_STAT);
	NO("/home/u/.ssh/id", R);
	NO("/home/u/.ssh/new", W);
	NO("/home/u/.cargo/credentials.toml", R);
	YES("/home/u/.cargo/config.toml", R);
	NO("/root/.aws/config", R);
	NO("/home/asker/.kube/config", R);
	YES("/home/other/.kube/config", R);
	NO("/etc/shadow", R);
	YES("/etc/hostname", R);
	NO("/run/docker.sock", LH_STAT);
}

TEST_F(policy, deny_beats_and_the_deepest_decides)
{
	COMPILE("{\"version\":1,\"read_only_roots\":[\"/w/v\"],"
		"\"process_sandbox\":{\"read_deny_roots\":[\"/w/s\"],"
		"\"write_roots\":[\"/w/v/out\",\"/w/s/in\"],"
		"\"read_roots\":[\"/d\"]}}", NULL);
	YES("/w/f", W);
	YES("/w/v/f", R | X);
	NO("/w/v/f", W);
	NO("/w/v/f", D);
	YES("/w/v/out/f", W);
	NO("/w/s", R);
	NO("/w/s/in/f", R);
	NO("/w/s/in/f", W);
	YES("/d/f", R | X);
	NO("/d/f", W);
}

TEST_F(policy, levels_are_ceilings)
{
	static const struct {
		const char *level;
		bool reads, writes, execs;
	} rows[] = {
		{ "none", false, false, false },
		{ "read_only", true, false, false },
		{ "workspace_write", true, true, false },
		{ "process_exec", true, true, true },
		{ "network", true, true, true },
	};
	char text[128];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		sprintf(text, "{\"version\":1,\"side_effect_level\":\"%s\"}",
			rows[i].level);
		COMPILE(text, NULL);
		EXPECT_EQ(rows[i].reads, allowed(self->im, "/w/f", R));
		EXPECT_EQ(rows[i].writes, allowed(self->im, "/w/f", W));
		EXPECT_EQ(rows[i].writes, allowed(self->im, "/w/f", D));
		EXPECT_EQ(!rows[i].execs,
			  self->im->flags & IMAGE_NO_EXEC);
		EXPECT_EQ(rows[i].writes,
			  !!(self->im->flags & IMAGE_USER_TEMP));
		EXPECT_EQ(rows[i].writes, self->im->protects.count > 0);
		YES("/usr/bin/true", R | X);
		YES("/dev/null", W);
		free(self->im);
		free(self->said);
	}
	self->im = NULL;
	self->said = NULL;
}

TEST_F(policy, capabilities_open_what_they_say)
{
	COMPILE("{\"version\":1,\"capabilities\":{\"workspace\":"
		"[\"exists\",\"delete\"]}}", NULL);
	YES("/w/f", R | D);
	NO("/w/f", W);
	EXPECT_NE(0, self->im->flags & IMAGE_NO_EXEC);
	free(self->im);
	free(self->said);
	COMPILE("{\"version\":1,\"capabilities\":{\"process\":[\"exec\"],"
		"\"workspace\":[\"write_text\"]}}", NULL);
	NO("/w/f", R);
	YES("/w/f", W | D);
	EXPECT_EQ(0, self->im->flags & IMAGE_NO_EXEC);
	free(self->im);
	free(self->said);
	COMPILE("{\"version\":1,\"capabilities\":{\"process\":[\"exec\"]}}",
		NULL);
	NO("/w/f", R);
	NO("/w/f", D);
}

TEST_F(policy, presets_can_be_left_out)
{
	COMPILE("{\"version\":1,\"process_sandbox\":{\"presets\":[]}}", NULL);
	NO("/usr/bin/true", R);
	NO("/dev/null", R);
	YES("/w/f", R);
	EXPECT_EQ(0, self->im->flags & IMAGE_USER_TEMP);
}

TEST_F(policy, name_service_files_open_under_network_alone)
{
	const struct image_root *r;
	size_t i, n = 0;

	COMPILE("{\"version\":1,\"side_effect_level\":\"network\"}", NULL);
	r = image_roots(self->im);
	for (i = 0; i < self->im->roots.count; i++)
		n += !strcmp(image_string(self->im, r[i].path),
			     "/etc/resolv.conf");
	EXPECT_EQ(1, n);
	EXPECT_NE(NULL, strstr(self->said, "level network grants no"));
}

TEST_F(policy, the_image_says_who_and_where)
{
	const struct image_env *v;

	COMPILE("{\"version\":1,\"name\":\"n\",\"environment\":{\"pass\":"
		"[\"A\"],\"set\":{\"B\":\"x y\",\"C\":\"\"}},\"limits\":"
		"{\"wall_time\":\"1m\",\"memory\":\"2M\",\"pids\":9,"
		"\"grace\":\"0s\",\"open_files\":8,"
		"\"file_size\":\"1K\",\"swap\":0,\"cpu\":\"50%\","
		"\"io\":\"1M\"}}", NULL);
	EXPECT_STREQ("n", image_string(self->im, self->im->name));
	EXPECT_STREQ("t.json", image_string(self->im, self->im->source));
	EXPECT_STREQ("/w", image_string(self->im, self->im->workspace));
	EXPECT_STREQ("/home/u", image_string(self->im, self->im->home));
	EXPECT_EQ(60000000000ULL, self->im->limits.wall_time);
	EXPECT_EQ(2 << 20, self->im->limits.memory);
	EXPECT_EQ(9, self->im->limits.pids);
	EXPECT_EQ(0, self->im->limits.grace);
	EXPECT_EQ(8, self->im->limits.open_files);
	EXPECT_EQ(1024, self->im->limits.file_size);
	EXPECT_EQ(0, self->im->limits.swap);
	EXPECT_EQ(50, self->im->limits.cpu);
	EXPECT_EQ(1 << 20, self->im->limits.io);
	ASSERT_EQ(3, self->im->env.count);
	v = image_envs(self->im);
	EXPECT_STREQ("A", image_string(self->im, v[0].name));
	EXPECT_EQ(0, v[0].set);
	EXPECT_EQ(1, v[1].set);
	EXPECT_STREQ("x y", image_string(self->im, v[1].value));
	EXPECT_EQ(1, v[2].set);
	EXPECT_STREQ("", image_string(self->im, v[2].value));
}

TEST_F(policy, flags_add_and_replace)
{
	static const struct compile_root roots[] = {
		{ LIST_WRITE, "../out", "--rw" },
		{ LIST_READ_ONLY, "/ro", "--ro" },
		{ LIST_DENY, "~/private", "--deny" },
		{ LIST_WRITE, "?/maybe", "--rw" },
	};
	static const char *const env[] = { "A=2", "B", "C=a=b" };
	const struct compile_options o = {
		.context = &here, .roots = roots, .root_count = 4,
		.env = env, .env_count = 3, .wall_time = 5, .pids = 7,
		.memory = 1 << 21,
	};
	const struct image_env *v;
	unsigned int i;
	bool found = false;

	COMPILE("{\"version\":1,\"environment\":{\"set\":{\"A\":\"1\"}}}", &o);
	YES("/out/f", W);
	NO("/base/out/f", W);
	YES("/ro/f", R);
	NO("/ro/f", W);
	NO("/home/u/private", R);
	for (i = 0; i < self->im->rules.count; i++)
		found |= !strcmp(image_rule(self->im, i), "flag:--rw /out");
	EXPECT_TRUE(found);
	EXPECT_EQ(5, self->im->limits.wall_time);
	EXPECT_EQ(7, self->im->limits.pids);
	EXPECT_EQ(1 << 21, self->im->limits.memory);
	ASSERT_EQ(3, self->im->env.count);
	v = image_envs(self->im);
	EXPECT_EQ(0, v[0].set);
	EXPECT_STREQ("2", image_string(self->im, v[1].value));
	EXPECT_STREQ("a=b", image_string(self->im, v[2].value));
}

TEST_F(policy, wrong_flags_are_errors_that_name_them)
{
	static const struct compile_root roots[] = {
		{ LIST_WRITE, "/", "--rw" }, { LIST_DENY, "/", "--deny" },
		{ LIST_READ_ONLY, "/${X}", "--ro" },
		{ LIST_READ_ONLY, "/w", "--ro" },
	};
	static const char *const env[] = { "=x", "a-b=c" };
	const struct compile_options o = {
		.context = &here, .roots = roots, .root_count = 4,
		.env = env, .env_count = 2,
	};

	self->im = compile_here("{\"version\":1}", &o, &self->said);
	EXPECT_EQ(NULL, self->im);
	EXPECT_NE(NULL, strstr(self->said, "--rw: error: /: / cannot be writable"));
	EXPECT_NE(NULL, strstr(self->said, "--deny: error: /: denies /"));
	EXPECT_NE(NULL, strstr(self->said, "--ro: error: /${X}: only ${HOME}"));
	EXPECT_NE(NULL, strstr(self->said, "--ro: error: /w: /w is writable too"));
	EXPECT_NE(NULL, strstr(self->said, "--env: error: \"\" is no name"));
	EXPECT_NE(NULL, strstr(self->said, "--env: error: \"a-b\" is no name"));
}

TEST_F(policy, a_flag_gives_back_a_withheld_value)
{
	static const char *const env[] = { "A=secret" };
	const struct compile_options o = {
		.context = &here, .env = env, .env_count = 1,
	};
	static const char text[] =
		"{\"version\":1,\"environment\":{\"set\":{\"A\":null}}}";

	self->im = compile_here(text, NULL, &self->said);
	EXPECT_EQ(NULL, self->im);
	EXPECT_NE(NULL, strstr(self->said, "/environment/set/A: the value"));
	free(self->said);
	COMPILE(text, &o);
	EXPECT_STREQ("secret", image_string(self->im,
					    image_envs(self->im)->value));
	EXPECT_EQ(NULL, memmem((char *)self->im + self->im->policy.offset,
			       self->im->policy.count, "secret", 6));
}

static struct compile_options under(const char *ceiling)
{
	return (struct compile_options){
		.context = &here, .ceiling = ceiling,
		.ceiling_len = strlen(ceiling),
		.ceiling_file = "/etc/lh/ceiling.json",
	};
}

TEST_F(policy, a_ceiling_narrows_everything)
{
	const struct compile_options o = under(
		"{\"version\":1,\"sandbox_profile\":\"os_hardened\","
		"\"side_effect_level\":\"workspace_write\","
		"\"capabilities\":{\"workspace\":[\"list\",\"write_text\"],"
		"\"process\":[\"exec\"]},"
		"\"workspace_roots\":[\"/\"],"
		"\"read_only_roots\":[\"/w/keep\"],"
		"\"process_sandbox\":{\"presets\":[\"system_runtime\"],"
		"\"read_deny_roots\":[\"/w/no\",\"/usr/share\"]},"
		"\"environment\":{\"mode\":\"granted\",\"pass\":[\"B\"]},"
		"\"limits\":{\"memory\":\"1G\",\"pids\":10,"
		"\"wall_time\":\"1h\"}}");

	COMPILE("{\"version\":1,\"sandbox_profile\":\"worktree\","
		"\"side_effect_level\":\"network\","
		"\"process_sandbox\":{\"write_roots\":[\"/w/keep/mine\"]},"
		"\"environment\":{\"mode\":\"inherited\",\"pass\":[\"A\","
		"\"B\"],\"set\":{\"C\":\"1\"}},"
		"\"limits\":{\"pids\":20,\"wall_time\":\"1m\"}}", &o);
	EXPECT_EQ(PROFILE_OS_HARDENED, (int)self->im->profile);
	EXPECT_EQ(LEVEL_WORKSPACE_WRITE, (int)self->im->level);
	EXPECT_EQ(ENV_GRANTED, (int)self->im->env_mode);
	EXPECT_EQ(2, self->im->env.count);
	EXPECT_NE(0, self->im->flags & IMAGE_NO_EXEC);
	EXPECT_EQ(0, self->im->flags & IMAGE_USER_TEMP);
	EXPECT_EQ(10, self->im->limits.pids);
	EXPECT_EQ(1 << 30, self->im->limits.memory);
	EXPECT_EQ(60000000000ULL, self->im->limits.wall_time);
	YES("/w/f", R | W);
	YES("/w/keep/f", R);
	NO("/w/keep/f", W);
	NO("/w/keep/mine/f", W);
	YES("/w/keep/mine/f", R);
	NO("/w/no/f", R);
	NO("/usr/share/f", R);
	YES("/usr/lib/f", R);
	NO("/home/u/.cargo/bin/cargo", R);
	NO("/x", R);
}

TEST_F(policy, a_ceiling_brings_nothing_in)
{
	const struct compile_options o = under(
		"{\"version\":1,\"workspace_roots\":[\"/w\",\"/srv\"],"
		"\"read_only_roots\":[\"/w/doc\",\"/data\"],"
		"\"environment\":{\"mode\":\"inherited\",\"pass\":[\"A\"],"
		"\"set\":{\"B\":\"1\"}}}");

	COMPILE("{\"version\":1,\"workspace_roots\":[\"/w\"]}", &o);
	YES("/w/f", W);
	NO("/w/doc/f", W);
	NO("/srv/f", R);
	NO("/data/f", R);
	EXPECT_EQ(0, self->im->env.count);
	EXPECT_EQ(ENV_ISOLATED, (int)self->im->env_mode);
}

TEST_F(policy, a_broken_ceiling_refuses)
{
	const struct compile_options o = under("{\"version\":1,\"nmae\":1}");

	self->im = compile_here("{\"version\":1}", &o, &self->said);
	EXPECT_EQ(NULL, self->im);
	EXPECT_NE(NULL, strstr(self->said, "/etc/lh/ceiling.json:1:14: error: /nmae"));
}

TEST_F(policy, path_directories_in_the_workspace_are_protected)
{
	char *const env[] = { "PATH=/usr/bin:/w/bin:tools::/w/x/../bin2",
			      NULL };
	struct context c = here;
	const struct compile_options o = { .context = &c };

	c.env = env;
	COMPILE("{\"version\":1}", &o);
	YES("/w/f", W);
	NO("/w/bin/f", W);
	YES("/w/bin/f", R | X);
	NO("/w/tools/f", W);
	NO("/w/bin2/f", W);
	/* The empty entry is the workspace itself, and cannot be shut. */
	EXPECT_NE(NULL, strstr(self->said, "PATH: warning: has /w,"));
}

TEST_F(policy, odd_characters_are_refused_where_they_stand)
{
	self->im = compile_here("{\"version\":1,\"description\":\"a\\u0085\","
				"\"workspace_roots\":[\"/\\u009b\"]}", NULL,
				&self->said);
	EXPECT_EQ(NULL, self->im);
	EXPECT_NE(NULL, strstr(self->said, "t.json:1:28: error: /description: "
			       "a control character\n"));
	EXPECT_NE(NULL, strstr(self->said, "t.json:1:57: error: "
			       "/workspace_roots/0: a control character in a "
			       "path\n"));
	free(self->said);
	COMPILE("{\"version\":1,\"description\":\"a\\n\\u202e\\u0001\"}",
		NULL);
}

TEST_F(policy, a_file_of_any_name_can_be_compiled)
{
	const struct compile_options o = { .context = &here };
	static const char text[] = "{\"version\":1}";
	struct diags d = { 0 };

	ASSERT_EQ(0, compile_text(text, strlen(text), "a\x1b\xff\n", "/base",
				  &o, &self->im, &d));
	EXPECT_STREQ("a\\x1b\\xff\\x0a",
		     image_string(self->im, self->im->source));
}

TEST_F(policy, shipped_ones_compile_everywhere_without_a_word)
{
	const char *name, *text;
	size_t i, len;

	for (i = 0; (name = policy_shipped_name(i)); i++) {
		text = policy_shipped(name, &len);
		ASSERT_EQ(len, strlen(text));
		COMPILE(text, NULL);
		EXPECT_STREQ("", self->said);
		EXPECT_STREQ(name, image_string(self->im, self->im->name));
		free(self->im);
		free(self->said);
	}
	self->im = NULL;
	self->said = NULL;
	EXPECT_GE(i, 5);
	EXPECT_EQ(NULL, policy_shipped("none", &len));
}

TEST_HARNESS_MAIN
