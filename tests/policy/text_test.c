// SPDX-License-Identifier: GPL-2.0-only
/*
 * The small parts of the compiler: text for the terminal, paths, numbers with
 * units, suggestions, and the lists that ship with the program.
 */
#include <stdlib.h>
#include <string.h>

#include "../../policy-compiler/data.h"
#include "../../policy-compiler/policy.h"
#include "../../policy-compiler/suggest.h"

#include "kselftest_harness.h"

TEST(escapes_what_a_terminal_would_obey)
{
	static const struct { const char *in, *out; } rows[] = {
		{ "plain", "plain" },
		{ "\x1b[2J", "\\x1b[2J" },
		{ "a\nb\tc\x7f", "a\\x0ab\\x09c\\x7f" },
		{ "\xc2\x85", "\\xc2\\x85" },		/* C1 next line */
		{ "\xe2\x80\xae", "\\xe2\\x80\\xae" },	/* right to left */
		{ "\xff\xc3", "\\xff\\xc3" },		/* no UTF-8 */
		{ "\xc0\x80\xed\xa0\x80",		/* overlong, half */
		  "\\xc0\\x80\\xed\\xa0\\x80" },
		{ "\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80",
		  "\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80" },
	};
	char out[64];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		err_escape(out, sizeof(out), rows[i].in, strlen(rows[i].in));
		EXPECT_STREQ(rows[i].out, out);
	}
}

TEST(escaping_never_cuts_a_sequence)
{
	char out[16];
	size_t size, n;

	for (size = 1; size < sizeof(out); size++) {
		memset(out, 'x', sizeof(out));
		n = err_escape(out, size, "\x01\xe2\x82\xac\x01", 5);
		ASSERT_LT(n, size);
		EXPECT_EQ(n, strlen(out));
		EXPECT_EQ('x', out[size]);
		EXPECT_TRUE(n == 0 || n == 4 || n == 7 || n == 11);
	}
}

TEST(the_first_error_stands)
{
	struct err e = { 0 };

	EXPECT_EQ(-2, err_set(&e, -2, "a\nb %d", 1));
	EXPECT_EQ(-5, err_set(&e, -5, "later"));
	EXPECT_EQ(-2, e.num);
	EXPECT_STREQ("a\\x0ab 1", e.msg);
	EXPECT_EQ(-5, err_sys(NULL, -5, "nobody listens"));
}

TEST(paths_are_normalised_as_text)
{
	static const struct { const char *in, *out; } rows[] = {
		{ "/", "/" }, { "//", "/" }, { "/..", "/" }, { "/.", "/" },
		{ "/a/", "/a" }, { "/a//b/./c", "/a/b/c" },
		{ "/a/../b", "/b" }, { "/a/b/../..", "/" },
		{ "/a/../../b/..", "/" }, { "/...", "/..." },
		{ "/..a/.b", "/..a/.b" }, { "/a/b/..", "/a" },
	};
	char path[32];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		strcpy(path, rows[i].in);
		root_normalise(path);
		EXPECT_STREQ(rows[i].out, path);
		EXPECT_EQ(NULL, root_wrong(path));
	}
}

TEST(only_normal_paths_are_right)
{
	static const char *const wrong[] = {
		"", "a", "./a", "/a/", "//", "/a//b", "/.", "/..", "/a/./b",
		"/a/..", "/a\nb", "/a\x7f", "/\xff", "/\xc2\x85",
	};
	char longest[LH_NAME_MAX + 3] = "/";
	size_t i;

	for (i = 0; i < ARRAY_SIZE(wrong); i++)
		EXPECT_NE(NULL, root_wrong(wrong[i])) {
			TH_LOG("%s", wrong[i]);
		}
	memset(longest + 1, 'n', LH_NAME_MAX);
	EXPECT_EQ(NULL, root_wrong(longest));
	longest[LH_NAME_MAX + 1] = 'n';
	EXPECT_NE(NULL, root_wrong(longest));
}

TEST(a_root_covers_itself_and_what_is_below)
{
	EXPECT_TRUE(root_covers("/", "/"));
	EXPECT_TRUE(root_covers("/", "/a"));
	EXPECT_TRUE(root_covers("/a", "/a"));
	EXPECT_TRUE(root_covers("/a", "/a/b"));
	EXPECT_FALSE(root_covers("/a", "/ab"));
	EXPECT_FALSE(root_covers("/a/b", "/a"));
}

TEST(words_expand_from_the_context)
{
	static const struct { const char *in, *out; } rows[] = {
		{ "~", "/h" }, { "~/x", "/h/x" }, { "${HOME}x", "/hx" },
		{ "${WORKSPACE}/..", "/" }, { "x", "/base/x" },
		{ "../x", "/x" }, { "/u/${USER}/$$/$$x", "/u/me/$/$x" },
		{ "/a$*b$?c", "/a*b?c" }, { "/$x", NULL }, { "/a$", NULL },
		{ "/*", NULL }, { "/a?b", NULL },
		{ "x~", "/base/x~" }, { "./~x", "/base/~x" },
		{ "${USER}", "/base/me" },
		{ "/${NONE}", NULL }, { "/${HOME", NULL }, { "", NULL },
		{ "~no-such-user-here", NULL },
	};
	struct context c = { .home = "/h", .workspace = "/w", .user = "me" };
	struct arena mem = { 0 };
	const char *why;
	char *path;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		path = root_expand(&mem, &c, "/base", rows[i].in, &why);
		if (rows[i].out) {
			EXPECT_EQ(NULL, why);
			EXPECT_STREQ(rows[i].out, path);
		} else {
			EXPECT_EQ(NULL, path);
			EXPECT_NE(NULL, why);
		}
	}
	arena_free(&mem);
}

TEST(times_and_sizes)
{
	static const char *const no[] = {
		"", "s", "1", "-1s", "+1s", " 1s", "1 s", "1.5s", "01s", "1S",
		"1sec", "99999999999999999999s", "213504d", "0x1s", "1s ",
	};
	uint64_t n = 7;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(no); i++)
		EXPECT_FALSE(limit_time(no[i], &n));
	EXPECT_EQ(7, n);
	EXPECT_TRUE(limit_time("90s", &n));
	EXPECT_EQ(90000000000ULL, n);
	EXPECT_TRUE(limit_time("0s", &n));
	EXPECT_EQ(0, n);
	EXPECT_TRUE(limit_size("2G", &n));
	EXPECT_EQ(2ULL << 30, n);
	EXPECT_FALSE(limit_size("16777216T", &n));
	EXPECT_FALSE(limit_size("18446744073709551615", &n));
	EXPECT_TRUE(limit_size("18446744073709551614", &n));
	EXPECT_FALSE(limit_count("18446744073709551616", &n));
}

TEST(numbers_print_as_they_read)
{
	static const struct { const char *in, *out; } rows[] = {
		{ "90s", "90s" }, { "120s", "2m" }, { "0m", "0s" },
		{ "1500ms", "1500ms" }, { "48h", "2d" }, { "1ns", "1ns" },
	};
	char text[32];
	uint64_t n, again;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		ASSERT_TRUE(limit_time(rows[i].in, &n));
		limit_time_text(n, text);
		EXPECT_STREQ(rows[i].out, text);
		ASSERT_TRUE(limit_time(text, &again));
		EXPECT_EQ(n, again);
	}
	limit_size_text(1537 << 10, text);
	EXPECT_STREQ("1537K", text);
	limit_size_text(0, text);
	EXPECT_STREQ("0", text);
	limit_size_text(1ULL << 40, text);
	EXPECT_STREQ("1T", text);
}

TEST(suggests_the_near_and_nothing_far)
{
	static const char *const words[] = {
		"workspace_roots", "read_only_roots", "limits", "mode",
	};
	const size_t n = ARRAY_SIZE(words);

	EXPECT_STREQ("limits", suggest("limist", words, sizeof(*words), n));
	EXPECT_STREQ("mode", suggest("mod", words, sizeof(*words), n));
	EXPECT_STREQ("read_only_roots",
		     suggest("readonly_roots", words, sizeof(*words), n));
	EXPECT_EQ(NULL, suggest("colour", words, sizeof(*words), n));
	EXPECT_EQ(NULL, suggest("", words, sizeof(*words), n));
	EXPECT_EQ(NULL, suggest("m", words, sizeof(*words), n));
}

/* Every line of @list has a reason, and its path stands there once. */
static void list_is_sound(struct __test_metadata *_metadata,
			  enum data_list list, size_t least)
{
	const char *at = NULL, *inner;
	struct data_entry e, o;
	size_t n = 0, same;

	while (data_next(list, &at, &e)) {
		n++;
		EXPECT_GT(e.path.len, 0);
		EXPECT_GT(e.attributes.len, 0);
		EXPECT_GE(e.reason.len, 2);
		same = 0;
		for (inner = NULL; data_next(list, &inner, &o);)
			same += o.path.len == e.path.len &&
				o.attributes.len == e.attributes.len &&
				!memcmp(o.path.s, e.path.s, e.path.len) &&
				!memcmp(o.attributes.s, e.attributes.s,
					e.attributes.len);
		EXPECT_EQ(1, same) {
			TH_LOG("%.*s", e.path.len, e.path.s);
		}
	}
	EXPECT_GE(n, least);
}

TEST(the_lists_are_sound)
{
	list_is_sound(_metadata, DATA_CREDENTIALS, 80);
	list_is_sound(_metadata, DATA_PROTECTED, 15);
	list_is_sound(_metadata, DATA_PRESETS, 60);
	list_is_sound(_metadata, DATA_PROFILES, 5);
}

TEST(every_preset_entry_belongs_to_one_preset_and_reads)
{
	const char *at = NULL;
	struct data_entry e;
	size_t i, n;

	while (data_next(DATA_PRESETS, &at, &e)) {
		n = 0;
		for (i = 0; presets[i].word; i++)
			n += data_has(&e, presets[i].word);
		EXPECT_EQ(1, n);
		/* Or leaves what the session makes there to it, no more. */
		EXPECT_NE(data_has(&e, "read"), data_has(&e, "own"));
		/* No preset writes, but to devices. */
		EXPECT_TRUE(!data_has(&e, "write") ||
			    (data_has(&e, "self") &&
			     !memcmp(e.path.s, "/dev/", 5)));
	}
}

TEST(every_protected_entry_has_a_form)
{
	static const char *const forms[] = {
		"repository", "gitlink", "wild", "home", "path",
	};
	const char *at = NULL;
	struct data_entry e;
	size_t i, n;

	while (data_next(DATA_PROTECTED, &at, &e)) {
		for (n = i = 0; i < ARRAY_SIZE(forms); i++)
			n += data_has(&e, forms[i]);
		EXPECT_EQ(1, n);
	}
}

TEST(profiles_stand_in_the_order_of_strictness)
{
	const char *at = NULL;
	struct data_entry e;
	size_t i = 0;

	while (data_next(DATA_PROFILES, &at, &e)) {
		ASSERT_NE(NULL, profile_names[i]);
		EXPECT_TRUE(data_is(e.path, profile_names[i]));
		EXPECT_TRUE(data_has(&e, "accept") != data_has(&e, "refuse"));
		i++;
	}
	EXPECT_EQ(NULL, profile_names[i]);
}

TEST_HARNESS_MAIN
