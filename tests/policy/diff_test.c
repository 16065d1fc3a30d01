// SPDX-License-Identifier: GPL-2.0-only
/*
 * What one policy opens and closes against another: by words, and on random
 * policies against the verdicts themselves.
 */
#define _GNU_SOURCE
#include "compile_test.h"
#include "../../policy-compiler/diff.h"

#include "kselftest_harness.h"

struct told {
	char *text;
	size_t len;
	FILE *f;
};

static int take(void *arg, const struct diff_item *i)
{
	static const char *const changes[] = { "opens", "closes", "keeps" };
	struct told *t = arg;

	fprintf(t->f, "%s %s%s%s%s%s%s\n", changes[i->change], i->what,
		*i->object ? " " : "", i->object,
		i->itself ? " (itself)" : "", *i->rule ? " by " : "", i->rule);
	return 0;
}

static struct compiled *model(const char *text)
{
	const struct compile_options o = { .context = &here, .lenient = true };
	struct compiled *k = NULL;
	struct diags d = { 0 };

	if (compile_model_text(text, strlen(text), "t.json", "/base", &o, &k,
			       &d)) {
		diags_print(&d, stdout, "# ");
		abort();
	}
	diags_free(&d);
	return k;
}

static struct image *lowered(struct compiled *k)
{
	struct image *im = NULL;
	struct diags d = { 0 };

	if (policy_lower(compiled_policy(k), &here, &im, &d))
		abort();
	diags_free(&d);
	return im;
}

/* The lines of the difference; to be freed. */
static char *told(const char *a, const char *b)
{
	struct compiled *k[2] = { model(a), model(b) };
	struct diff_side s[2];
	struct told t = { 0 };
	int i;

	for (i = 0; i < 2; i++)
		s[i] = (struct diff_side){ compiled_policy(k[i]),
					   lowered(k[i]) };
	t.f = open_memstream(&t.text, &t.len);
	if (policy_diff(&s[0], &s[1], take, &t))
		abort();
	fclose(t.f);
	for (i = 0; i < 2; i++) {
		free((void *)s[i].im);
		compiled_free(k[i]);
	}
	return t.text;
}

#define P(more) "{ \"version\": 1, \"workspace_roots\": [\"/w\"]" more " }"
#define BOX(more) P(", \"process_sandbox\": {" more "}")

/* The difference both ways, line by line. */
#define TELLS(a, b, there, back) do {					\
	char *one = told(a, b), *two = told(b, a);			\
									\
	EXPECT_STREQ(there, one);					\
	EXPECT_STREQ(back, two);					\
	free(one);							\
	free(two);							\
} while (0)

TEST(the_same_is_no_difference)
{
	TELLS(P(""), P(""), "", "");
	TELLS(P(", \"limits\": { \"pids\": 4096 }"), P(""), "", "");
}

TEST(a_root_opens_and_closes)
{
	TELLS(P(""), BOX("\"read_roots\": [\"/d\"]"),
	      "opens read,exec /d by /process_sandbox/read_roots/0\n",
	      "closes read,exec /d by default\n");
	TELLS(P(""), BOX("\"write_roots\": [\"/d\"]"),
	      "opens read,write,remove,exec /d by /process_sandbox/write_roots/0\n",
	      "closes read,write,remove,exec /d by default\n");
	TELLS(P(""), BOX("\"read_deny_roots\": [\"/w/k\"]"),
	      "closes read,write,remove,exec,stat /w/k by /process_sandbox/read_deny_roots/0\n",
	      "opens read,write,remove,exec,stat /w/k by /workspace_roots/0\n");
	TELLS(P(""), P(", \"read_only_roots\": [\"/w/v\"]"),
	      "closes write,remove /w/v by /read_only_roots/0\n",
	      "opens write,remove /w/v by /workspace_roots/0\n");
}

TEST(what_stays_inside_of_a_change_is_told)
{
	TELLS(BOX("\"read_roots\": [\"/d/e\"]"),
	      BOX("\"read_roots\": [\"/d\"]"),
	      "opens read,exec /d by /process_sandbox/read_roots/0\n"
	      "keeps read,exec /d/e by /process_sandbox/read_roots/0\n",
	      "closes read,exec /d by default\n"
	      "keeps read,exec /d/e by /process_sandbox/read_roots/0\n");
}

TEST(a_root_inside_a_granted_one_is_no_difference)
{
	TELLS(P(""), BOX("\"read_roots\": [\"/w/sub\", \"/usr/x\"]"), "", "");
}

#define BARE(more) "{ \"version\": 1, \"workspace_roots\": [\"/w\"]," \
	"\"process_sandbox\": { \"presets\": []" more
#define NET(rules) BARE("}, \"side_effect_level\": \"network\"," \
	" \"egress\": {" rules "} }")

TEST(egress)
{
	TELLS(NET("\"allow\": [\"10.0.0.0/8:443\"]"),
	      NET("\"allow\": [\"10.0.0.0/8\"], \"deny\": [\"10.9.0.0/16\"]"),
	      "opens egress.allow 10.0.0.0/8\ncloses egress.deny 10.9.0.0/16\n",
	      "closes egress.allow 10.0.0.0/8\nopens egress.deny 10.9.0.0/16\n");
	TELLS(NET("\"allow\": [\"10.0.0.0/8\"]"), BARE("} }"),
	      "closes side_effect_level process_exec, was network\n"
	      "closes egress.allow 10.0.0.0/8\n",
	      "opens side_effect_level network, was process_exec\n"
	      "opens egress.allow 10.0.0.0/8\n");
}

TEST(loopback_ports_and_sockets)
{
	TELLS(BARE("} }"),
	      BARE(", \"allow_tcp_loopback\": true, \"loopback_ports\":"
		   " [5432, \"8000-8010\", 8011], \"ptrace\": true,"
		   " \"unix_socket_roots\": [\"/run/x\"] } }"),
	      "opens loopback tcp\nopens process ptrace\n"
	      "opens loopback_ports 5432\nopens loopback_ports 8000-8011\n"
	      "opens unix_socket_roots /run/x\n",
	      "closes loopback tcp\ncloses process ptrace\n"
	      "closes loopback_ports 5432\ncloses loopback_ports 8000-8011\n"
	      "closes unix_socket_roots /run/x\n");
}

TEST(the_rest)
{
	TELLS(BARE("} }"),
	      BARE("}, \"sandbox_profile\": \"worktree\", \"protect\":"
		   " { \"add\": [\"k\"], \"exclude\": [\".git/config\"] },"
		   " \"environment\": { \"pass\": [\"A\"] },"
		   " \"limits\": { \"memory\": \"2G\", \"pids\": 9000 } }"),
	      "opens sandbox_profile worktree, was os_hardened\n"
	      "closes protect.add k\nopens protect.exclude .git/config\n"
	      "opens environment.pass A\n"
	      "closes limits.memory 2G, was none\n"
	      "opens limits.pids 9000, was 4096\n",
	      "closes sandbox_profile os_hardened, was worktree\n"
	      "opens protect.add k\ncloses protect.exclude .git/config\n"
	      "closes environment.pass A\n"
	      "opens limits.memory none, was 2G\n"
	      "closes limits.pids 4096, was 9000\n");
	TELLS(BARE("}, \"environment\": { \"set\": { \"A\": \"secret\" } } }"),
	      BARE("}, \"environment\": { \"set\": { \"A\": \"other\" } } }"),
	      "opens environment.set (value) A\n",
	      "opens environment.set (value) A\n");
}

/* --- random policies: told is what differs, and all that differs is told */

struct claim {
	char path[32];
	enum diff_change change;
	bool itself;
	char what[64];
};

struct claims {
	struct claim list[256];
	size_t n;
};

static int note(void *arg, const struct diff_item *i)
{
	struct claims *c = arg;
	struct claim *to = &c->list[c->n++];

	if (*i->object != '/' || c->n == 256) {
		c->n--;
		return 0;
	}
	snprintf(to->path, sizeof(to->path), "%s", i->object);
	snprintf(to->what, sizeof(to->what), "%s", i->what);
	to->change = i->change;
	to->itself = i->itself;
	return 0;
}

static void random_policy(char *text, size_t size, uint64_t *seed)
{
	static const char *const lists[] = {
		"read_roots", "write_roots", "read_deny_roots",
	};
	char list[3][128] = { "", "", "" }, *to;
	unsigned int n = dice(seed, 5), i, k, depth;

	while (n--) {
		to = list[dice(seed, 3)];
		strcat(to, *to ? ", \"" : "\"");
		for (i = 0, depth = 1 + dice(seed, 3); i < depth; i++)
			strcat(to, dice(seed, 2) ? "/a" : "/b");
		strcat(to, "\"");
	}
	k = snprintf(text, size, "{ \"version\": 1, \"workspace_roots\": [],"
		     " \"process_sandbox\": { \"presets\": []");
	for (i = 0; i < 3; i++)
		k += snprintf(text + k, size - k, ", \"%s\": [%s]", lists[i],
			      list[i]);
	snprintf(text + k, size - k, " } }");
}

/* The claim of the nearest point at or above @path on @word. */
static enum diff_change claimed(const struct claims *c, const char *path,
				const char *word)
{
	enum diff_change change = DIFF_KEEPS;
	size_t best = 0, len, i;

	for (i = 0; i < c->n; i++) {
		len = strlen(c->list[i].path);
		if (root_covers(c->list[i].path, path) && len > best &&
		    !c->list[i].itself && strstr(c->list[i].what, word)) {
			best = len;
			change = c->list[i].change;
		}
	}
	return change;
}

TEST(random_policies_differ_as_told)
{
	static const struct {
		const char *word;
		uint32_t access;
	} asks[] = { { "read", LH_READ }, { "write", LH_WRITE },
		     { "remove", LH_REMOVE }, { "stat", LH_STAT } };
	unsigned int round, i, n, depth, differ = 0;
	uint64_t seed = 4711;
	char a[1024], b[1024], path[32];

	for (round = 0; round < 600; round++) {
		struct compiled *k[2];
		struct diff_side s[2];
		struct claims c = { .n = 0 };

		random_policy(a, sizeof(a), &seed);
		random_policy(b, sizeof(b), &seed);
		k[0] = model(a);
		k[1] = model(b);
		for (i = 0; i < 2; i++)
			s[i] = (struct diff_side){ compiled_policy(k[i]),
						   lowered(k[i]) };
		ASSERT_EQ(0, policy_diff(&s[0], &s[1], note, &c));
		for (n = 0; n < 16 * ARRAY_SIZE(asks); n++) {
			const bool *was, *is;
			bool v[2];

			path[0] = 0;
			for (depth = 0; depth < 4; depth++)
				strcat(path, n >> depth & 1 ? "/a" : "/b");
			for (i = 0; i < 2; i++)
				v[i] = allowed(s[i].im, path,
					       asks[n / 16].access);
			was = &v[0];
			is = &v[1];
			differ += *was != *is;
			ASSERT_EQ(*was == *is ? DIFF_KEEPS : *is ? DIFF_OPENS :
				  DIFF_CLOSES,
				  claimed(&c, path, asks[n / 16].word)) {
				TH_LOG("%s\n%s\n%s %s", a, b,
				       asks[n / 16].word, path);
			}
		}
		for (i = 0; i < 2; i++) {
			free((void *)s[i].im);
			compiled_free(k[i]);
		}
	}
	EXPECT_LT(1000, differ);
}

TEST_HARNESS_MAIN
