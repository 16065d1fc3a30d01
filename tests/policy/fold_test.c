// SPDX-License-Identifier: GPL-2.0-only
/*
 * Names that a folding directory takes for one have one hash; of others only
 * those that are not ASCII after folding may share one.
 */
#include <stdio.h>
#include <string.h>

#include "kselftest_harness.h"

#include "../../bpf/fold.h"
#include "../../policy-compiler/entry.h"

static uint64_t fold(const char *name)
{
	return entry_fold_hash(name, strlen(name), FOLDS);
}

TEST(names_that_fold_alike_are_one)
{
	static const char *const pairs[][2] = {
		{ "secret", "SECRET" },
		{ "secret", "\u017fecret" },
		{ "kube", "\u212aube" },
		{ "a;b`c", "A\u037eB\u1fefC" },
		{ "strasse", "STRA\u1e9eE" },
		{ "strasse", "stra\u00dfe" },
		{ "ffi", "\ufb03" },
		{ "ffi", "f\ufb01" },
		{ "ffl", "\ufb04" },
		{ "stst", "\ufb05\ufb06" },
		{ "id", "\u0131d" },
		{ "secret", "se\u200dcret" },
		{ "secret", "secret\ufeff" },
		{ "secret", "\U000e0001secret" },
		{ "secret", "secret..." },
		{ ".git", ".GIT" },
		{ "a.b", "A.B." },
	};

	for (size_t i = 0; i < ARRAY_SIZE(pairs); i++) {
		EXPECT_EQ(fold(pairs[i][0]), fold(pairs[i][1])) {
			TH_LOG("%s, %s", pairs[i][0], pairs[i][1]);
		}
		EXPECT_NE(LH_HASH_WIDE, fold(pairs[i][0]));
	}
	/* all lower case: as it is where names are not folded */
	EXPECT_EQ(entry_name_hash("secret", 6), fold("Secret"));
}

TEST(names_that_do_not_fold_alike_are_not)
{
	static const char *const pairs[][2] = {
		{ "secret", "secret2" }, { "secret", "secre" },
		{ "secret", ".secret" }, { "secret", "se cret" },
		{ "git", ".git" }, { "[", "{" }, { "@", "`" },
		{ "a_b", "a-b" }, { "e", "\u00e9" }, { "e", "e\u0301" },
		{ "1", "\u00b9" }, { "fi", "f" }, { "o", "\u00f8" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(pairs); i++) {
		EXPECT_NE(fold(pairs[i][0]), fold(pairs[i][1])) {
			TH_LOG("%s, %s", pairs[i][0], pairs[i][1]);
		}
	}
}

TEST(what_is_not_ascii_is_not_told_apart)
{
	static const char *const wide[] = {
		"\u00fcber", "\u00dcBER", "e\u0301", "\u4e2d", "\U0001f600",
		"\xff", "\xc3", "a\xe2\x84", "\xf0\x9f", "\u200d",
	};

	for (size_t i = 0; i < ARRAY_SIZE(wide); i++) {
		EXPECT_EQ(LH_HASH_WIDE, fold(wide[i])) {
			TH_LOG("%zu", i);
		}
	}
}

TEST(a_short_name_may_stand_for_any_where_there_are_such)
{
	EXPECT_EQ(LH_HASH_SHORT, entry_fold_hash("GIT~1", 5, FOLDS_SHORT));
	EXPECT_EQ(LH_HASH_SHORT, entry_fold_hash(":0067it", 7, FOLDS_SHORT));
	EXPECT_EQ(entry_name_hash(":0067it", 7), fold(":0067it"));
	EXPECT_EQ(entry_name_hash("git~1", 5), fold("GIT~1"));
	EXPECT_EQ(fold(".git"), entry_fold_hash(".GIT", 4, FOLDS_SHORT));
}

static uint64_t plain(const char *name)
{
	return entry_short_hash(name, strlen(name), FOLDS_PLAIN);
}

static uint64_t cut(const char *name)
{
	return entry_fold_hash(name, strlen(name), FOLDS_CUT);
}

/* As vfat makes them with nonumtail, where nothing else has that name. */
TEST(a_short_name_without_a_tilde_is_a_beginning)
{
	static const char *const pairs[][2] = {
		{ "secretfile.text", "secretfi.tex" },
		{ "My Long Name", "MYLONGNA" },
		{ ".git", "git" }, { ".git...", "git" },
		{ "a.b.c", "ab.c" }, { ". .x", "x" }, { ".a.b", "a.b" },
		{ "a[b];c,d+e=f", "a_b__c_d" }, { "credentials", "credenti" },
		{ "x.y z", "x.yz" }, { "\u00fc.b", "_.b" },
		{ "\U0001f600x", "__x" }, { "config.json", "config.jso" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(pairs); i++) {
		EXPECT_EQ(fold(pairs[i][1]), plain(pairs[i][0])) {
			TH_LOG("%s, %s", pairs[i][0], pairs[i][1]);
		}
	}
	/* those that are their own, and where there are none */
	EXPECT_EQ(0, plain("Secret"));
	EXPECT_EQ(0, plain("12345678.abc"));
	EXPECT_EQ(0, plain(" . ."));
	EXPECT_EQ(0, entry_short_hash("secretfile", 10, FOLDS_SHORT));
	EXPECT_EQ(0, entry_short_hash("secretfile", 10, FOLDS));
}

TEST(msdos_cuts_what_is_longer)
{
	static const char *const pairs[][2] = {
		{ "secretfile.text", "SECRETFIx.texy" }, { "a.b", "A.B.c" },
		{ "a", "a." }, { "a", "a..b" }, { "12345678", "123456789" },
		{ ".hidden.a", ".HIDDEN.a" }, { "12345678", "12345678\u00fc" },
		{ ".12345678", ".123456789" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(pairs); i++) {
		EXPECT_EQ(cut(pairs[i][0]), cut(pairs[i][1])) {
			TH_LOG("%s, %s", pairs[i][0], pairs[i][1]);
		}
	}
	EXPECT_EQ(fold("12345678.abc"), cut("12345678xy.abcd"));
	EXPECT_NE(cut("12345678"), cut("1234567"));
	EXPECT_NE(cut("a.bcd"), cut("a.bce"));
	EXPECT_EQ(cut(".a"), cut("a"));
	EXPECT_EQ(fold("git"), cut(".git"));
	EXPECT_EQ(LH_HASH_WIDE, cut("\u017f"));
	EXPECT_EQ(LH_HASH_SHORT, cut("GIT~1"));
	EXPECT_EQ(cut("secretfi.tex"),
		  entry_short_hash("secretfile.text", 15, FOLDS_CUT));
	EXPECT_EQ(0, entry_short_hash("secret", 6, FOLDS_CUT));
}

TEST(any_name_of_any_length_is_folded)
{
	unsigned char name[256];
	unsigned int seed = 1;

	for (int n = 0; n < 20000; n++) {
		struct lh_fold f = { .len = 1 + n % 255, .cut = n & 1 };
		uint32_t steps = 0;

		for (uint32_t i = 0; i < sizeof(name); i++) {
			seed = seed * 1103515245 + 12345;
			name[i] = seed >> 16;
		}
		while (!lh_fold_step(name, &f))
			steps++;
		ASSERT_LE(steps, f.len);
		ASSERT_LE(f.out, f.len);
		ASSERT_LE(f.end, f.out);
		ASSERT_EQ(f.at, f.len);
	}
}

TEST_HARNESS_MAIN
