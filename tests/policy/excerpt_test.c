// SPDX-License-Identifier: GPL-2.0-only
/*
 * The line under a diagnostic: where its caret stands, and what it never shows.
 */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>

#include "../../policy-compiler/diag.h"
#include "../../policy-compiler/parse.h"

#include "kselftest_harness.h"

/* *said: as a terminal would show it. The caller frees it. */
static char *shown(const char *text, unsigned int line, unsigned int column,
		   bool unsure)
{
	struct excerpt x = excerpt_make(text, line, column, unsure);
	char *out = NULL;

	if (asprintf(&out, "%s\n%s", x.line, x.caret) < 0)
		out = NULL;
	excerpt_free(&x);
	return out;
}

TEST(the_caret_stands_under_the_token)
{
	static const struct {
		const char *text;
		unsigned int line, column;
		bool unsure;
		const char *out;
	} rows[] = {
		{ "{\"a\": 1}", 1, 2, false, "{\"a\": 1}\n ^~~" },
		{ "{\"a\": 17}", 1, 7, false, "{\"a\": 17}\n      ^~" },
		{ "[\n\n[ [1]]", 3, 3, false, "[ [1]]\n  ^" },
		{ "[true]\r\n", 1, 2, false, "[true]\n ^~~~" },
		/* Columns count characters; terminals do not. */
		{ "[\"\xc3\xa4\", 1]", 1, 7, false,
		  "[\"\xc3\xa4\", 1]\n      ^" },
		{ "[\"\xe6\xbc\xa2\", 1]", 1, 7, false,
		  "[\"\xe6\xbc\xa2\", 1]\n       ^" },
		{ "[\"a\xcc\x88\", 1]", 1, 8, false,
		  "[\"a\xcc\x88\", 1]\n      ^" },
		{ "[\"\xe6\xbc\xa2\"]", 1, 2, false,
		  "[\"\xe6\xbc\xa2\"]\n ^~~~" },
		{ "\t[1]", 1, 3, false, "        [1]\n         ^" },
		{ "[\t[1]", 1, 3, false, "[       [1]\n        ^" },
		/* What would turn or erase the line is spelt out. */
		{ "[\"\xe2\x80\xae\", 1]", 1, 7, false,
		  "[\"\\xe2\\x80\\xae\", 1]\n                 ^" },
		{ "[\"\x7f\", 1]", 1, 7, false,
		  "[\"\\x7f\", 1]\n         ^" },
		/* A place behind the end, and an empty text. */
		{ "[1", 1, 3, true, "[1\n  ^" },
		{ "", 1, 1, true, "\n^" },
		{ "[1]", 9, 9, false, "\n^" },
	};
	char *out;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		out = shown(rows[i].text, rows[i].line, rows[i].column,
			    rows[i].unsure);
		EXPECT_STREQ(rows[i].out, out);
		free(out);
	}
}

TEST(behind_an_error_of_syntax_nothing_is_shown)
{
	static const struct {
		const char *text;
		unsigned int column;
	} rows[] = {
		{ "{\"name\": x s3cr3t", 10 },
		{ "{\"T\": \"a\"s3cr3t\"}", 10 },
		{ "{\"name\": \"a, \"set\": {\"T\": \"s3cr3t\"}}", 15 },
		{ "{\"set\": {\"T\" \"s3cr3t\"}}", 14 },
		{ "{\"set\": {\"T\": \"s3cr\x01 s3cr3t\"}}", 20 },
		{ "{\"set\": {\"T\": \"s3cr3t", 22 },
	};
	char *out;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		out = shown(rows[i].text, 1, rows[i].column, true);
		EXPECT_EQ(NULL, strstr(out, "s3cr")) {
			TH_LOG("%s", out);
		}
		EXPECT_NE(NULL, strchr(out, '^'));
		free(out);
	}
}

TEST(no_value_of_a_variable_is_shown)
{
	static const char *const rows[] = {
		"{\"environment\": {\"set\": {\"T\": \"s3cr3t\"}}}",
		"{\"set\" : { \"mode\" : \"s3cr3t\", \"U\": 1 } }",
		"{\"set\": {\"T\": \"\\\"s3cr3t\", \"U\": \"a\\\\\"}}",
		"{\"set\": {\"T\": [\"s3cr3t\", {\"name\": \"s3cr3t\"}]}}",
		"{\"set\": \"T=s3cr3t\"}",
		"{\"environment\": {\"TOKEN\": \"s3cr3t\"}}",
		"{\"sett\": {\"TOKEN\": \"s3cr3t\"}}",
		"{\"pass\": [\"T=s3cr3t\"]}",
		"{\"pass\": \"T=s3cr3t\"}",
	};
	struct excerpt x;
	unsigned int column;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++)
		for (column = 1; column <= strlen(rows[i]) + 1; column++) {
			x = excerpt_make(rows[i], 1, column, column % 2);
			EXPECT_EQ(NULL, strstr(x.line, "s3cr")) {
				TH_LOG("%u: %s", column, x.line);
			}
			EXPECT_NE(NULL, strchr(x.caret, '^'));
			excerpt_free(&x);
		}
}

TEST(words_of_the_language_are_shown)
{
	char *out = shown("{\"sandbox_profil\": \"os_hardened\"}", 1, 2, false);

	EXPECT_NE(NULL, strstr(out, "os_hardened"));
	free(out);
	out = shown("{\"set\": {}, \"mode\": \"clean\"}", 1, 21, false);
	EXPECT_NE(NULL, strstr(out, "\"clean\""));
	free(out);
}

TEST(a_long_line_is_cut_around_the_place)
{
	const size_t n = 100000;
	char *text = malloc(8 * n), *p = text;
	struct excerpt x;
	unsigned int column;
	size_t i, at[] = { 0, 1, 5, n / 2, n - 2, n - 1 };

	ASSERT_NE(NULL, text);
	*p++ = '[';
	for (i = 0; i < n; i++)
		p += sprintf(p, "%05zu,", i);
	strcpy(p - 1, "]");
	for (i = 0; i < ARRAY_SIZE(at); i++) {
		char want[8], got[8] = "";
		const char *caret;

		column = 2 + 6 * at[i];
		x = excerpt_make(text, 1, column, false);
		EXPECT_EQ(column + 5, x.end);
		EXPECT_LE(strlen(x.line), 72 + 2 * strlen("…"));
		caret = strstr(x.caret, "^~~~~");
		ASSERT_NE(NULL, caret);
		/* An ellipsis is three bytes in one column. */
		memcpy(got, x.line + (caret - x.caret) +
		       (strncmp(x.line, "…", 3) ? 0 : 2), 5);
		sprintf(want, "%05zu", at[i]);
		EXPECT_STREQ(want, got);
		excerpt_free(&x);
	}
	free(text);
}

TEST(diagnostics_come_by_file_and_place)
{
	static const struct place places[] = {
		{ .file = "b", .line = 7, .column = 1 },
		{ .file = "--flag" },
		{ .file = "b", .line = 2, .column = 9, .pointer = "/x" },
		{ .file = "b", .line = 2, .column = 1 },
		{ .file = "a", .line = 1, .column = 1 },
		{ .file = "b" },
	};
	struct diags d = { 0 };
	char *out;
	size_t i, len;
	FILE *f = open_memstream(&out, &len);

	for (i = 0; i < ARRAY_SIZE(places); i++)
		if (i % 2)
			diag_warn(&d, &places[i], "%zu", i);
		else
			diag_error(&d, &places[i], "%zu", i);
	diags_print(&d, f, "> ");
	fclose(f);
	EXPECT_STREQ("> b: warning: 5\n> b:2:1: warning: 3\n"
		     "> b:2:9: error: /x: 2\n> b:7:1: error: 0\n"
		     "> --flag: warning: 1\n> a:1:1: error: 4\n", out);
	EXPECT_STREQ("b:2:9: error: /x: 2", diags_error(&d));
	free(out);
	diags_free(&d);
}

TEST(an_error_is_kept_before_a_hundred_warnings)
{
	const struct place at = { .file = "f" };
	struct diags d = { 0 };
	unsigned int i;

	for (i = 0; i < DIAGS_MAX; i++)
		diag_warn(&d, &at, "w%u", i);
	diag_warn(&d, &at, "one more");
	diag_instead(&d, "of what was not kept");
	diag_error(&d, &at, "the error");
	EXPECT_EQ(DIAGS_MAX, d.count);
	EXPECT_EQ(1, d.errors);
	EXPECT_EQ(DIAGS_MAX + 1, d.warnings);
	EXPECT_STREQ("f: error: the error", diags_error(&d));
	for (i = 0; i < d.count; i++)
		EXPECT_EQ(NULL, d.list[i].instead);
	diags_free(&d);
}

TEST_HARNESS_MAIN
