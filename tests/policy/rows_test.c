// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tables of expectations: what a row may look like, and what each bad one is
 * told.
 */
#define _GNU_SOURCE
#include <errno.h>

#include "../../policy-compiler/rows.h"
#include "compile_test.h"
#include "kselftest_harness.h"

FIXTURE(rows) {
	struct rows rows;
	struct diags d;
	char *said;
};

FIXTURE_SETUP(rows)
{
	memset(self, 0, sizeof(*self));
}

FIXTURE_TEARDOWN(rows)
{
	rows_free(&self->rows);
	diags_free(&self->d);
	free(self->said);
}

static int take(FIXTURE_DATA(rows) *s, const char *text)
{
	size_t len, i;
	FILE *f;
	int r;

	rows_free(&s->rows);
	diags_free(&s->d);
	free(s->said);
	s->d = (struct diags){ 0 };
	r = rows_read(text, strlen(text), "t", &here, &s->rows, &s->d);
	f = open_memstream(&s->said, &len);
	for (i = 0; i < s->d.count; i++)
		fprintf(f, "%s\n", s->d.list[i].text);
	fclose(f);
	return r;
}

TEST_F(rows, a_row_is_words_and_strings)
{
	const struct row *row;

	ASSERT_EQ(0, take(self,
		"# of what is meant\n"
		"\n"
		"read a/../b allow\n"
		"\twrite  \"a b\\u0041\\\"\"   refuse  default  # why\r\n"
		"rename ~/x \"allow\" allow \"flag:--rw /a b\"\n"
		"link ${WORKSPACE}/f refuse\n"
		"exec allow allow allow\n"
		"connect 192.0.2.1:80 refuse")) TH_LOG("%s", self->said);
	ASSERT_EQ(6, self->rows.count);
	row = self->rows.row;
	EXPECT_EQ(3, row[0].line);
	EXPECT_STREQ("/w/b", row[0].q.object);
	EXPECT_TRUE(row[0].allow);
	EXPECT_EQ(NULL, row[0].rule);
	EXPECT_STREQ("/w/a bA\"", row[1].q.object);
	EXPECT_FALSE(row[1].allow);
	EXPECT_STREQ("default", row[1].rule);
	EXPECT_STREQ("/home/u/x", row[2].q.object);
	EXPECT_STREQ("/w/allow", row[2].q.other);
	EXPECT_STREQ("flag:--rw /a b", row[2].rule);
	EXPECT_STREQ("/w/f", row[3].q.object);
	EXPECT_EQ(NULL, row[3].q.other);
	EXPECT_STREQ("/w/allow", row[4].q.object);
	EXPECT_STREQ("allow", row[4].rule);
	EXPECT_STREQ("192.0.2.1:80", row[5].q.object);
}

TEST_F(rows, each_bad_row_is_told_at_its_place)
{
	ASSERT_EQ(-EINVAL, take(self,
		"fly /x allow\n"
		"read /x maybe\n"
		"read /ok allow\n"
		"read \"/x allow\n"
		"read \"\\q\" allow\n"
		"read \"\\u0000\" allow\n"
		"read \"/a\"b allow\n"
		"read ${X}/y allow\n"
		"read ~no-such-user-here/y allow\n"
		"read\n"
		"read /x\n"
		"read /x allow /r more\n"
		"\xc3\xa9\xc3\xa9 /x allow /r m m m\n"
		"read /x allow /r \xc3\xa9 six 7\n"
		"remove /x /y allow\n"));
	EXPECT_STREQ(
		"t:1:1: error: no operation is called fly\n"
		"t:2:9: error: allow or refuse is wanted here\n"
		"t:4:6: error: the string does not end\n"
		"t:5:6: error: not a JSON string\n"
		"t:6:6: error: not a JSON string\n"
		"t:7:6: error: after a string comes a blank\n"
		"t:8:6: error: only ${HOME}, ${USER} and ${WORKSPACE} are expanded; write $$ for a dollar sign\n"
		"t:9:6: error: no user has this name, or none with a home\n"
		"t:10:1: error: a row is OPERATION OBJECT allow|refuse [RULE]\n"
		"t:11:6: error: allow or refuse is wanted here\n"
		"t:12:18: error: a row ends with its rule\n"
		"t:13:20: error: too many words; names with blanks are written as JSON strings\n"
		"t:14:24: error: too many words; names with blanks are written as JSON strings\n"
		"t:15:11: error: allow or refuse is wanted here\n", self->said);
	EXPECT_EQ(1, self->rows.count);
}

TEST_F(rows, a_table_without_a_row_tests_nothing)
{
	EXPECT_EQ(-EINVAL, take(self, ""));
	EXPECT_EQ(-EINVAL, take(self, "# read /x allow\n\n"));
	EXPECT_STREQ("t: error: no row in it\n", self->said);
}

TEST_F(rows, bytes_of_all_kinds_harm_nothing)
{
	uint64_t seed;
	char text[64];
	size_t i;

	for (seed = 0; seed < 4000; seed++) {
		static const char bytes[] = "read write/ \"\\u{}$~.#\n\r\t"
			"allow refuse\x01\xff\xc3";
		uint64_t s = seed;
		struct diags d = { 0 };
		struct rows rows = { 0 };

		for (i = 0; i < sizeof(text); i++)
			text[i] = bytes[dice(&s, sizeof(bytes))];
		if (rows_read(text, sizeof(text), "t", &here, &rows, &d))
			EXPECT_NE(0, d.errors);
		rows_free(&rows);
		diags_free(&d);
	}
}

TEST_HARNESS_MAIN
