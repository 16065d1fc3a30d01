// SPDX-License-Identifier: GPL-2.0-only
/*
 * Directories in which a name has more than one spelling. What is there is
 * known by its inode; what a rule names and is not there yet must not come
 * about, nor be read when it has, under any spelling of it.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sys/stat.h>

#include "kselftest_harness.h"
#include "session.h"

/* Names that are the same to the file system. */
struct spellings {
	const char *name;		/* as the rule has it, below ws */
	const char *other[8];
};

FIXTURE(casefold) {
	struct world *w;
	struct session s, twin;
};

FIXTURE_VARIANT(casefold) {
	const char *before;
	struct spellings all[4];
	const char *free[6];		/* names that are not */
	const char *git;		/* what .git is too, if not GIT~1;
					 * "": nothing to look at */
};

/* Unicode: long s, Kelvin sign, sharp s, ligature, a space without width. */
FIXTURE_VARIANT_ADD(casefold, ext4) {
	.before = "I=/tmp/lh-fs.ext4c; [ -e $I ] || { truncate -s 64M $I && "
		"mkfs.ext4 -q -O casefold -E encoding=utf8 $I; } && "
		"mount -o loop $I $DIR && mkdir $DIR/ws $DIR/plain && "
		"chattr +F $DIR/ws && chown $OWNER $DIR $DIR/ws $DIR/plain",
	.all = {
		{ "absent", { "ABSENT", "aBsEnT", "ab\u017fent",
			      "ab\u200bsent", "absent" } },
		{ "Tokens/key", { "tokens/KEY", "to\u212aens/key",
				  "TOKEN\u017f/\u212aey", "Tokens/key" } },
		{ "stra\u00dfe", { "strasse", "STRA\u1e9eE", "stra\u00dfe" } },
		{ "of\ufb01ce", { "OFFICE", "o\ufb03ce", "office" } },
	},
	.free = { "absent2", "absen", "abse\u0301nt", "tokens2", "ab sent" },
};

/* Dots at the end do not count, and long names have a short one. */
FIXTURE_VARIANT_ADD(casefold, vfat) {
	.before = "I=/tmp/lh-fs.vfat; [ -e $I ] || { truncate -s 32M $I && "
		"mkfs.vfat $I >$I.log; } && "
		"mount -o loop,uid=$OWNER,gid=$OWNER $I $DIR && "
		"mkdir $DIR/plain",
	.all = {
		{ "absent", { "ABSENT", "aBsEnT", "absent.", "Absent...",
			      "absent" } },
		{ "Tokens/key", { "tokens/KEY", "TOKENS./key.",
				  "Tokens/key" } },
		{ "a-rather-long-name.txt", { "A-RATH~1.TXT",
			"A-Rather-Long-Name.TXT", "a-rather-long-name.txt" } },
	},
	.free = { "absent2", "absen", ".absent", "tokens2", "ab sent" },
};

/* An image of its own for each way to mount it. */
#define FAT(name, options)						\
	"I=/tmp/lh-fs." name "; [ -e $I ] || { truncate -s 32M $I && "	\
	"mkfs.vfat $I >$I.log; } && "					\
	"mount " options "loop,uid=$OWNER,gid=$OWNER $I $DIR && "	\
	"mkdir $DIR/plain"

/* A long name's short one is its beginning, if nothing else has that. */
FIXTURE_VARIANT_ADD(casefold, vfat_nonumtail) {
	.before = FAT("nonumtail", "-t vfat -o nonumtail=1,"),
	.all = {
		{ "absent", { "ABSENT", "Absent...", "absent" } },
		{ "a-rather-long-name.text", { "A-RATHER.TEX", "a-rather.tex",
			"A-Rather-Long-Name.TEXT", "a-rather-long-name.text" } },
		{ "My Own [Secret]", { "MYOWN_SE", "myown_se",
				       "my own [secret]" } },
		{ ".a b.c.d/key", { "abc.d/key", "ABC.D/KEY", ".A B.C.D/key",
				    ".a b.c.d/key" } },
	},
	.free = { "absent2", "absen", "a-rathe.tex", "a-rather.te", "abc" },
	.git = "GIT",
};

/* Eight and three bytes: what is longer is cut. */
FIXTURE_VARIANT_ADD(casefold, msdos) {
	.before = FAT("msdos", "-t msdos -o dotsOK=yes,"),
	.all = {
		{ "absent", { "ABSENT", "absent.", "Absent...", "absent" } },
		{ "a-rather-long-name.text", { "A-RATHER.TEX", "a-rather.tex",
			"a-rather-else.text.too", "a-rathers.texts",
			"a-rather-long-name.text" } },
		{ "tokens-of-all/key", { "TOKENS-O/KEY", "tokens-of-it/key",
					 "tokens-of-all/key" } },
	},
	.free = { "absent2", "absen", "tokens2", "a-rathe.tex",
		  "a-rather.te" },
	.git = "",
};

/* A letter may be given by its number, when a name is made. */
FIXTURE_VARIANT_ADD(casefold, vfat_uni_xlate) {
	.before = FAT("xlate", "-t vfat -o utf8=0,uni_xlate,"),
	.all = { { "absent", { "ABSENT", "Absent...", "absent" } } },
	.free = { "absent2", "absen" },
};

FIXTURE_SETUP(casefold)
{
	struct world *w = world_make_on(TEST_USER, variant->before, NULL);
	char more[1024] = "", roots[256];
	struct policy p = { .deny = more, .roots = roots };

	self->w = w;
	ASSERT_NE(NULL, w);
	for (size_t i = 0; i < ARRAY_SIZE(variant->all); i++)
		if (variant->all[i].name)
			snprintf(more + strlen(more),
				 sizeof(more) - strlen(more), ",\"%s/ws/%s\"",
				 w->dir, variant->all[i].name);
	snprintf(more + strlen(more), sizeof(more) - strlen(more),
		 ",\"%s/ws/wide/\u00fcber\",\"%s/plain/absent\","
		 "\"%s/plain/\u00fcber\"", w->dir, w->dir, w->dir);
	snprintf(roots, sizeof(roots), "[\"%s/ws\",\"%s/plain\"]", w->dir,
		 w->dir);
	ASSERT_EQ(0, policy_write(w, &p));
	ASSERT_EQ(0, session_start(&self->s, w, "s", NULL));
	ASSERT_EQ(0, twin_start(&self->twin, w));
}

FIXTURE_TEARDOWN(casefold)
{
	session_end(&self->twin);
	EXPECT_EQ(0, session_end(&self->s));
	world_remove(self->w);
}

/* No dentry has a spelling any more; the next look-up decides which it is. */
static int forget(void)
{
	return system("echo 2 >/proc/sys/vm/drop_caches");
}

#define EACH(s, o)							\
	for (const struct spellings *s = variant->all;			\
	     s < variant->all + ARRAY_SIZE(variant->all) && s->name; s++)\
		for (const char *const *o = s->other; *o; o++)

TEST_F(casefold, an_absent_name_is_not_made_in_any_spelling)
{
	for (size_t i = 0; i < ARRAY_SIZE(variant->all); i++) {
		const char *name = variant->all[i].name, *slash;

		slash = name ? strchr(name, '/') : NULL;
		if (slash) {
			char dir[64];

			snprintf(dir, sizeof(dir), "%.*s", (int)(slash - name),
				 name);
			EXPECT_EQ(0, ask(&self->s, "mkdir", dir));
		}
	}
	EACH(s, o) {
		if (strchr(*o, '~'))	/* a name of what is there alone */
			continue;
		EXPECT_EQ(EACCES, ask(&self->s, "write", *o, "x")) {
			TH_LOG("%s", *o);
		}
		EXPECT_EQ(EACCES, ask(&self->s, "mkdir", *o));
		EXPECT_EQ(EACCES, ask(&self->s, "rename", "file", *o));
		EXPECT_FALSE(exists(at(self->w, "ws/%s", s->name)));
	}
	EXPECT_EQ(0, ask(&self->twin, "write", "ABSENT", "x"));
	EXPECT_TRUE(exists(at(self->w, "ws/absent")));
}

TEST_F(casefold, what_the_host_makes_is_not_read_in_any_spelling)
{
	EACH(s, o) {
		ASSERT_EQ(0, world_file(self->w, at(self->w, "ws/%s", s->name),
					"TEXT"));
		ASSERT_EQ(0, forget());
		EXPECT_EQ(EACCES, ask(&self->s, "open", *o, "r")) {
			TH_LOG("%s", *o);
		}
		EXPECT_EQ(EACCES, ask(&self->s, "stat", *o));
		EXPECT_EQ(EACCES, ask(&self->s, "rename", *o, "stolen"));
		EXPECT_EQ(EACCES, ask(&self->s, "unlink", *o));
		EXPECT_EQ(0, ask(&self->twin, "open", *o, "r")) {
			TH_LOG("outside: %s", *o);
		}
		ASSERT_EQ(0, forget());
		EXPECT_EQ(EACCES, ask(&self->s, "open", s->name, "r"));
	}
}

TEST_F(casefold, a_name_is_not_made_of_numbers)
{
	if (!strstr(variant->before, "uni_xlate"))
		return;
	EXPECT_EQ(EACCES, ask(&self->s, "write", ":0061bsent", "x"));
	EXPECT_FALSE(exists(at(self->w, "ws/absent")));
	EXPECT_EQ(0, ask(&self->s, "mkdir", "new"));
	EXPECT_EQ(0, ask(&self->s, "mkdir", "new/.git"));
	EXPECT_EQ(EACCES, ask(&self->s, "mkdir", "new/.git/:0068ooks"));
	EXPECT_FALSE(exists(at(self->w, "ws/new/.git/hooks")));
	EXPECT_EQ(0, ask(&self->s, "write", "new/:0061bsent", "x"));
	ASSERT_EQ(0, forget());
	EXPECT_TRUE(exists(at(self->w, "ws/new/absent")));
}

TEST_F(casefold, other_names_are_free)
{
	for (const char *const *n = variant->free; *n; n++) {
		EXPECT_EQ(0, ask(&self->s, "write", *n, "x")) {
			TH_LOG("%s", *n);
		}
		EXPECT_EQ(0, ask(&self->s, "open", *n, "+"));
		EXPECT_EQ(0, ask(&self->s, "unlink", *n));
	}
	EXPECT_TRUE(quiet(&self->s));
}

/*
 * What is not ASCII after folding is not compared: beside a rule with such a
 * name all such names are refused. Where names are not folded none is.
 */
TEST_F(casefold, a_rule_that_is_not_ascii_holds_for_all_that_is_not)
{
	/* Mounted without UTF-8 it has not all of these letters. */
	if (strstr(variant->before, "utf8=0"))
		return;
	EXPECT_EQ(0, ask(&self->s, "mkdir", "wide"));
	EXPECT_EQ(EACCES, ask(&self->s, "write", "wide/\u00dcBER", "x"));
	EXPECT_EQ(EACCES, ask(&self->s, "write", "wide/\u00fcber", "x"));
	EXPECT_EQ(EACCES, ask(&self->s, "write", "wide/\u00e4lter", "x"));
	EXPECT_EQ(0, ask(&self->s, "write", "wide/uber", "x"));
	EXPECT_EQ(0, ask(&self->s, "mkdir", "wide/down"));
	EXPECT_EQ(0, ask(&self->s, "write", "wide/down/\u00e4lter", "x"));
}

TEST_F(casefold, where_names_are_not_folded_each_is_its_own)
{
	if (exists(at(self->w, "WS")))	/* all of the file system folds */
		return;
	EXPECT_EQ(EACCES, ask(&self->s, "write",
			      at(self->w, "plain/absent"), "x"));
	EXPECT_EQ(0, ask(&self->s, "write", at(self->w, "plain/ABSENT"), "x"));
	EXPECT_EQ(EACCES, ask(&self->s, "write",
			      at(self->w, "plain/\u00fcber"), "x"));
	EXPECT_EQ(0, ask(&self->s, "write", at(self->w, "plain/\u00dcBER"),
			 "x"));
	EXPECT_EQ(0, ask(&self->s, "write", at(self->w, "plain/\u00e4lter"),
			 "x"));
}

TEST_F(casefold, protected_names_hold_in_any_spelling)
{
	EXPECT_EQ(EACCES, ask(&self->s, "write", ".GIT/CONFIG", "x"));
	EXPECT_EQ(EACCES, ask(&self->s, "write", ".git/Hooks/pre-push", "x"));
	EXPECT_EQ(EACCES, ask(&self->s, "write", ".Git/info/ATTRIBUTES", "x"));
	/* in a repository that comes later */
	EXPECT_EQ(0, ask(&self->s, "mkdir", "new"));
	EXPECT_EQ(0, ask(&self->s, "mkdir", "new/.GIT"));
	EXPECT_EQ(EACCES, ask(&self->s, "mkdir", "new/.GIT/HOOKS"));
	EXPECT_EQ(EACCES, ask(&self->s, "mkdir", "new/.git/Hooks"));
	EXPECT_EQ(0, ask(&self->s, "mkdir", "new/hooks"));
	EXPECT_EQ(EACCES, ask(&self->s, "rename", "new/hooks",
			      "new/.Git/hOOKS"));
	EXPECT_EQ(0, ask(&self->s, "mkdir", "new/git2"));
	EXPECT_EQ(0, ask(&self->s, "mkdir", "new/git2/Hooks"));
	EXPECT_EQ(0, ask(&self->s, "mkdir", "other"));
	EXPECT_EQ(EACCES, ask(&self->s, "rename", "new/git2", "other/.GIT"));
	if (variant->git && *variant->git) {
		ASSERT_EQ(0, forget());
		EXPECT_EQ(0, ask(&self->twin, "stat",
				 at(self->w, "ws/new/%s", variant->git)));
		ASSERT_EQ(0, forget());
		EXPECT_EQ(EACCES, ask(&self->s, "mkdir",
				      at(self->w, "ws/new/%s/hooks",
					 variant->git)));
		EXPECT_EQ(EACCES, ask(&self->s, "write",
				      at(self->w, "ws/%s/config",
					 variant->git), "x"));
	} else if (!variant->git) {
		EXPECT_EQ(0, ask(&self->s, "mkdir", "new/git"));
		EXPECT_EQ(0, ask(&self->s, "mkdir", "new/git/Hooks"));
	}
	/* its short name, where there is one */
	if (!ask(&self->twin, "stat", "new/GIT~1")) {
		ASSERT_EQ(0, forget());
		EXPECT_EQ(EACCES, ask(&self->s, "mkdir", "new/GIT~1/hooks"));
		EXPECT_EQ(EACCES, ask(&self->s, "write", "GIT~1/config",
				      "x"));
	}
	EXPECT_EQ(0, ask(&self->s, "write", "new/.git/Config", "x"));
	EXPECT_EQ(0, ask(&self->s, "write", ".GIT/INDEX", "x"));
	EXPECT_EQ(0, ask(&self->s, "open", ".git/CONFIG", "r"));
}

TEST_HARNESS_MAIN
