// SPDX-License-Identifier: GPL-2.0-only
/*
 * The credential list against every shipped policy and against ones that grant
 * a home or all: whoever made an entry and whenever, nothing reaches it.
 */
#define _GNU_SOURCE
#include "../../policy-compiler/compile.h"
#include "../../policy-compiler/data.h"
#include "world.h"

/* The list as the reference of the language has it. */
static const char *const expected[] = {
	"~/.ssh", "~/.aws", "~/.gnupg", "~/.netrc", "~/.docker/config.json",
	"~/.config/gh/hosts.yml", "~/.config/gcloud", "~/.kube/config",
	"~/.npmrc", "~/.pypirc", "~/.cargo/credentials",
	"~/.cargo/credentials.toml", "~/.composer/auth.json",
	"~/.config/composer/auth.json", "~/.config/git/credentials",
	"~/.config/git/credentials.lock", "~/.git-credentials.lock",
	"~/.config/glab-cli", "~/.config/hub", "~/.config/github-copilot",
	"~/.config/rclone/rclone.conf", "~/.config/doctl", "~/.config/hcloud",
	"~/.config/containers/auth.json", "~/.config/.wrangler",
	"~/.config/stripe", "~/.config/sops/age",
	"~/.config/configstore/firebase-tools.json",
	"~/.cache/huggingface/token", "~/.cache/huggingface/stored_tokens",
	"~/.azure", "~/.git-credentials", "~/.vault-token",
	"~/.terraform.d/credentials.tfrc.json", "~/.config/op",
	"~/.password-store", "~/.local/share/keyrings", "~/.pki",
	"~/.mozilla/firefox", "~/.config/google-chrome", "~/.config/chromium",
	"~/.config/microsoft-edge", "~/.config/BraveSoftware",
	"~/.bash_history", "~/.zsh_history", "~/.python_history",
	"~/.psql_history", "~/.pgpass", "~/.my.cnf", "~/.m2/settings.xml",
	"~/.gradle/gradle.properties", "~/.gem/credentials",
	"~/.config/pypoetry/auth.toml", "~/.kube", "~/.docker/contexts",
	"~/.claude/.credentials.json", "~/.codex/auth.json",
	"~/.gemini/oauth_creds.json", "~/.local/share/opencode/auth.json",
	"$KUBECONFIG", "$DOCKER_CONFIG/config.json", "$DOCKER_CONFIG/contexts",
	"$GNUPGHOME", "$CARGO_HOME/credentials", "$CARGO_HOME/credentials.toml",
	"$NETRC", "$AWS_SHARED_CREDENTIALS_FILE",
	"$GOOGLE_APPLICATION_CREDENTIALS",
	"/etc/shadow", "/etc/shadow-", "/etc/gshadow", "/etc/gshadow-",
	"/etc/nshadow", "/etc/shadow+", "/etc/gshadow+", "/etc/shadow.edit",
	"/etc/gshadow.edit", "/etc/sudoers.tmp", "/etc/security/nopasswd",
	"/etc/sudoers", "/etc/sudoers.d", "/etc/security/opasswd",
	"/etc/ssl/private", "/etc/krb5.keytab", "/etc/wireguard",
	"/etc/NetworkManager/system-connections", "/etc/letsencrypt",
	"/etc/kubernetes", "/etc/rancher", "/etc/ssh", "/run/credentials",
	"/run/secrets", "/var/run/docker.sock", "/run/docker.sock",
	"/run/containerd/containerd.sock", "/run/podman", "/run/lh",
	"/var/log/lh",
};

TEST(every_entry_of_the_reference_is_in_the_list_with_a_reason)
{
	const char *at = NULL;
	struct data_entry e;
	size_t i, n = 0;

	for (i = 0; i < ARRAY_SIZE(expected); i++) {
		bool found = false;

		for (at = NULL; data_next(DATA_CREDENTIALS, &at, &e);)
			found |= data_is(e.path, expected[i]);
		EXPECT_TRUE(found) TH_LOG("%s is missing", expected[i]);
	}
	for (at = NULL; data_next(DATA_CREDENTIALS, &at, &e); n++) {
		EXPECT_NE(NULL, strchr("~/$", *e.path.s));
		EXPECT_LT(0, e.reason.len);
		EXPECT_TRUE(data_is(e.attributes, "-") ||
			    data_is(e.attributes, "list"));
	}
	EXPECT_LE(ARRAY_SIZE(expected), n);
}

/* What an operation asks of the name it is about: see bpf/fs.bpf.c. */
static const struct {
	const char *op;
	uint32_t access;
} ops[] = {
	/* Nothing is needed for it but that no deny stands there. */
	{ "stat", LH_STAT },
#define OPS_FEW 1
	{ "read, list", LH_READ }, { "write, create, link to", LH_WRITE },
	{ "run", LH_EXEC }, { "remove", LH_REMOVE },
	{ "rename", LH_REMOVE | LH_MOVE },
	{ "rename onto", LH_WRITE | LH_REMOVE },
	{ "rename a directory onto", LH_WRITE | LH_BECOME },
	{ "link from", LH_READ | LH_WRITE | LH_EXEC },
};

/* The homes: of who runs, of root, of who asks; and where variables move. */
static const char *const homes[] = { "home", "roothome", "askerhome" };

static const struct {
	const char *name, *value;	/* below the scratch directory */
} moved[] = {
	{ "KUBECONFIG", "home/moved/kube" },
	{ "DOCKER_CONFIG", "home/moved/docker" },
	{ "GNUPGHOME", "home/moved/gnupg" },
	{ "CARGO_HOME", "home/moved/cargo" }, { "NETRC", "home/moved/netrc" },
	{ "AWS_SHARED_CREDENTIALS_FILE", "home/moved/aws" },
	{ "GOOGLE_APPLICATION_CREDENTIALS", "home/moved/google.json" },
};

#define PLACES_MAX 512

FIXTURE(credentials) {
	struct world w;
	struct context c;
	char *env[16];
	char *place[PLACES_MAX];	/* where entries stand, absolute */
	size_t places;
	size_t scratch;		/* of these, below the scratch directory */
	bool granted;		/* the home is */
};

FIXTURE_VARIANT(credentials) {
	const char *policy;	/* shipped, or text */
	bool reads, writes;	/* the home, by what it grants */
};

FIXTURE_VARIANT_ADD(credentials, worktree) { .policy = "worktree" };
FIXTURE_VARIANT_ADD(credentials, agent) { .policy = "agent" };
FIXTURE_VARIANT_ADD(credentials, reader) { .policy = "reader" };
FIXTURE_VARIANT_ADD(credentials, build) { .policy = "build" };
FIXTURE_VARIANT_ADD(credentials, test) { .policy = "test" };
FIXTURE_VARIANT_ADD(credentials, writes_home) {
	.policy = "{\"version\":1,\"process_sandbox\":{\"write_roots\":[\"~\"]}}",
	.reads = true, .writes = true,
};
FIXTURE_VARIANT_ADD(credentials, reads_home) {
	.policy = "{\"version\":1,\"process_sandbox\":{\"read_roots\":[\"~\"]}}",
	.reads = true,
};
FIXTURE_VARIANT_ADD(credentials, reads_all) {
	.policy = "{\"version\":1,\"process_sandbox\":{\"read_roots\":[\"/\"]}}",
	.reads = true,
};
FIXTURE_VARIANT_ADD(credentials, reads_all_writes_home) {
	.policy = "{\"version\":1,\"process_sandbox\":{\"read_roots\":[\"/\"],\"write_roots\":[\"~\"]}}",
	.reads = true, .writes = true,
};

static void add_place(FIXTURE_DATA(credentials) *self, const char *path)
{
	if (self->places == PLACES_MAX)
		abort();
	self->place[self->places++] = strdup(path);
}

static void places_of(FIXTURE_DATA(credentials) *self,
		      const struct data_entry *e)
{
	const char *path = arena_copy(&self->w.mem, e->path.s, e->path.len);
	size_t i, n;

	if (*path == '~')
		for (i = 0; i < ARRAY_SIZE(homes); i++)
			add_place(self, at(&self->w, arena_print(&self->w.mem,
				"%s%s", homes[i], path + 1)));
	for (i = 0; *path == '$' && i < ARRAY_SIZE(moved); i++) {
		n = strlen(moved[i].name);
		if (!strncmp(path + 1, moved[i].name, n) &&
		    (!path[1 + n] || path[1 + n] == '/'))
			add_place(self, at(&self->w, arena_print(&self->w.mem,
				"%s%s", moved[i].value, path + 1 + n)));
	}
}

FIXTURE_SETUP(credentials)
{
	struct world *w = &self->w;
	const char *cursor = NULL;
	struct data_entry e;
	size_t i;

	memset(self, 0, sizeof(*self));
	ASSERT_EQ(0, world_begin(w));
	self->granted = variant->reads;
	for (i = 0; i < ARRAY_SIZE(homes); i++)
		dir(w, homes[i]);
	for (i = 0; i < ARRAY_SIZE(moved); i++)
		ASSERT_LT(0, asprintf(&self->env[i], "%s=%s/%s", moved[i].name,
				      w->dir, moved[i].value));
	self->c = (struct context){
		.workspace = at(w, "ws"), .user = "u", .home = at(w, "home"),
		.homes = { at(w, "home"), at(w, "roothome"),
			   at(w, "askerhome") },
		.home_count = 3, .env = self->env,
	};
	while (data_next(DATA_CREDENTIALS, &cursor, &e))
		places_of(self, &e);
	self->scratch = self->places;
	for (cursor = NULL; data_next(DATA_CREDENTIALS, &cursor, &e);)
		if (*e.path.s == '/')
			add_place(self, arena_copy(&w->mem, e.path.s,
						   e.path.len));
	/* All homes, all variables, all of the machine's. */
	ASSERT_EQ(59 * 3 + 9, self->scratch);
	ASSERT_LE(self->scratch + 21, self->places);
}

FIXTURE_TEARDOWN(credentials)
{
	size_t i;

	for (i = 0; i < self->places; i++)
		free(self->place[i]);
	for (i = 0; i < ARRAY_SIZE(moved); i++)
		free(self->env[i]);
	EXPECT_EQ(0, world_end(&self->w));
}

static int start(struct __test_metadata *_metadata,
		 FIXTURE_DATA(credentials) *self, const char *policy)
{
	const struct compile_options o = { .context = &self->c };
	struct world *w = &self->w;
	size_t len = strlen(policy);
	struct diags d = { 0 };
	const char *text = policy;
	int r;

	if (*policy != '{')
		text = policy_shipped(policy, &len);
	ASSERT_NE(NULL, text);
	free(w->im);
	w->im = NULL;
	table_free(&w->t);
	r = compile_text(text, len, "t.json", w->dir, &o, &w->im, &d);
	if (r)
		diags_print(&d, stderr, "# ");
	diags_free(&d);
	return r ? r : table_resolve(w->im, &w->o, &w->t, &w->e);
}

static void make_files(FIXTURE_DATA(credentials) *self)
{
	size_t i;

	/* .kube/config before .kube, so some are directories already. */
	for (i = self->scratch; i-- > 0;)
		if (access(self->place[i], F_OK))
			file(&self->w, self->place[i], "TEXT");
}

static void make_directories(FIXTURE_DATA(credentials) *self)
{
	size_t i;

	for (i = 0; i < self->scratch; i++)
		file(&self->w, arena_print(&self->w.mem, "%s/inner",
					   self->place[i]), "TEXT");
}

static void make_parents(FIXTURE_DATA(credentials) *self)
{
	size_t i;

	for (i = 0; i < self->scratch; i++)
		parents(self->place[i]);
}

/* Everything below the homes goes; the homes themselves stay. */
static void remove_all(FIXTURE_DATA(credentials) *self)
{
	char command[512];

	snprintf(command, sizeof(command), "cd %s && find home roothome "
		 "askerhome -mindepth 1 -delete", self->w.dir);
	if (system(command))
		abort();
}

static bool is_in_own_home(FIXTURE_DATA(credentials) *self, const char *path)
{
	size_t n = strlen(self->c.home);

	return !strncmp(path, self->c.home, n) && path[n] == '/';
}

/* By the list, whatever else would stand against it. */
static void refused(struct __test_metadata *_metadata,
		    FIXTURE_DATA(credentials) *self, const char *path,
		    const char *when)
{
	/* All of it where there is a grant that the deny must beat. */
	size_t n = self->granted && is_in_own_home(self, path) ?
		ARRAY_SIZE(ops) : OPS_FEW;
	struct world *w = &self->w;
	struct explain x;
	size_t i;

	for (i = 0; i < n; i++) {
		ASSERT_EQ(0, table_explain(w->im, &w->t, path, ops[i].access,
					   &x, &w->e));
		EXPECT_EQ(LH_WHY_DENIED, x.verdict.why)
			TH_LOG("%s: %s: %s", when, ops[i].op, path);
		EXPECT_EQ(0, strncmp(table_rule(w->im, &w->t, x.verdict.rule),
				     "builtin:credentials/", 20))
			TH_LOG("%s: %s: %s", when, ops[i].op, path);
		free(x.object);
		free(x.root);
	}
}

static void all_refused(struct __test_metadata *_metadata,
			FIXTURE_DATA(credentials) *self, const char *when)
{
	struct arena mem = { 0 };
	size_t i;

	for (i = 0; i < self->places; i++) {
		refused(_metadata, self, self->place[i], when);
		if (!is_in_own_home(self, self->place[i]))
			continue;
		EXPECT_EQ(LH_WHY_DENIED,
			  why(&self->w, arena_print(&mem, "%s/inner",
						    self->place[i]), LH_READ));
		EXPECT_EQ(LH_WHY_DENIED,
			  why(&self->w, arena_print(&mem, "%s/new/er",
						    self->place[i]), LH_WRITE));
	}
	arena_free(&mem);
}

/*
 * Once all above them was replaced: still by the list, up to the home, or to
 * the directory that a variable names. What lies above that nothing grants.
 */
static void all_out_of_reach(struct __test_metadata *_metadata,
			     FIXTURE_DATA(credentials) *self,
			     const char *when)
{
	const char *moved_to = at(&self->w, "home/moved");
	size_t i;

	for (i = 0; i < self->scratch; i++) {
		const char *path = self->place[i];

		if (!strncmp(path, moved_to, strlen(moved_to)) &&
		    !self->granted) {
			EXPECT_EQ(LH_WHY_NOT_GRANTED,
				  why(&self->w, path, LH_READ)) TH_LOG("%s",
				  path);
			EXPECT_EQ(LH_WHY_NOT_GRANTED,
				  why(&self->w, path, LH_WRITE)) TH_LOG("%s",
				  path);
		} else {
			refused(_metadata, self, path, when);
		}
	}
}

/* Whether another entry lies at @path or above it. */
static bool is_below_entry(FIXTURE_DATA(credentials) *self, const char *path)
{
	size_t i, n;

	for (i = 0; i < self->scratch; i++) {
		n = strlen(self->place[i]);
		if (!strncmp(path, self->place[i], n) && path[n] == '/')
			return true;
	}
	return false;
}

/* Beside each entry: what the policy grants of the home, and no less. */
static void all_beside(struct __test_metadata *_metadata,
		       FIXTURE_DATA(credentials) *self, bool reads, bool writes)
{
	static const char *const suffix[] = { ".txt", "-not", "x" };
	char path[PATH_MAX];
	size_t i, k;

	for (i = 0; i < self->scratch; i++) {
		if (!is_in_own_home(self, self->place[i]) ||
		    is_below_entry(self, self->place[i]))
			continue;
		for (k = 0; k < ARRAY_SIZE(suffix); k++) {
			snprintf(path, sizeof(path), "%s%s", self->place[i],
				 suffix[k]);
			/* .cargo, .config/git and such are presets'. */
			if (reads)
				EXPECT_EQ(LH_WHY_ALLOW,
					  why(&self->w, path, LH_READ))
					TH_LOG("%s", path);
			EXPECT_EQ(writes, why(&self->w, path, LH_WRITE) ==
				  LH_WHY_ALLOW) TH_LOG("%s", path);
		}
	}
}

TEST_F(credentials, what_is_there_at_the_start)
{
	make_directories(self);
	ASSERT_EQ(0, start(_metadata, self, variant->policy))
		TH_LOG("%s", self->w.e.msg);
	all_refused(_metadata, self, "directories before");
	all_beside(_metadata, self, variant->reads, variant->writes);
	remove_all(self);
	make_parents(self);
	all_out_of_reach(_metadata, self, "gone since");
	remove_all(self);
	make_files(self);
	all_out_of_reach(_metadata, self, "files instead");
}

TEST_F(credentials, what_is_made_later)
{
	make_parents(self);
	ASSERT_EQ(0, start(_metadata, self, variant->policy))
		TH_LOG("%s", self->w.e.msg);
	all_refused(_metadata, self, "absent");
	all_beside(_metadata, self, variant->reads, variant->writes);
	make_files(self);
	all_refused(_metadata, self, "files since");
	remove_all(self);
	make_directories(self);
	all_out_of_reach(_metadata, self, "directories since");
}

TEST_F(credentials, where_nothing_was_at_the_start)
{
	ASSERT_EQ(0, start(_metadata, self, variant->policy))
		TH_LOG("%s", self->w.e.msg);
	all_refused(_metadata, self, "all absent");
	make_parents(self);
	all_refused(_metadata, self, "parents since");
	make_directories(self);
	all_refused(_metadata, self, "directories since");
	all_beside(_metadata, self, variant->reads, variant->writes);
}

/* Nor can what lies above an entry be carried away, or put in its place. */
TEST_F(credentials, nobody_carries_away_what_is_above)
{
	char path[PATH_MAX];
	size_t i, round;
	char *slash;

	for (round = 0; round < 2; round++) {
		if (round)
			make_directories(self);
		ASSERT_EQ(0, start(_metadata, self, variant->policy))
			TH_LOG("%s", self->w.e.msg);
		for (i = 0; i < self->scratch; i++) {
			strcpy(path, self->place[i]);
			while ((slash = strrchr(path, '/'))) {
				*slash = 0;
				if (strlen(path) <= strlen(self->w.dir))
					break;
				EXPECT_NE(LH_WHY_ALLOW,
					  why(&self->w, path,
					      LH_REMOVE | LH_MOVE))
					TH_LOG("move %s", path);
				/* What is there would make way. */
				EXPECT_NE(LH_WHY_ALLOW,
					  why(&self->w, path, LH_WRITE |
					      LH_BECOME | (access(path, F_OK) ?
					      0 : LH_REMOVE)))
					TH_LOG("become %s", path);
			}
		}
	}
}

/* Dotfiles are links to a repository of them: name and target are shut. */
TEST_F(credentials, a_link_to_it_and_what_it_leads_to)
{
	struct world *w = &self->w;
	char path[64];
	size_t i;

	for (i = self->scratch; i-- > 0;) {
		snprintf(path, sizeof(path), "home/dots/%zu", i);
		if (access(self->place[i], F_OK)) {
			file(w, path, "TEXT");
			sym(w, at(w, path), self->place[i]);
		}
	}
	ASSERT_EQ(0, start(_metadata, self, variant->policy))
		TH_LOG("%s", w->e.msg);
	for (i = 0; i < self->scratch; i++) {
		snprintf(path, sizeof(path), "home/dots/%zu", i);
		refused(_metadata, self, self->place[i], "links");
		if (!access(at(w, path), F_OK))
			refused(_metadata, self, at(w, path), "targets");
	}
	EXPECT_EQ(variant->writes ? LH_WHY_ALLOW : LH_WHY_NOT_GRANTED,
		  why(w, "home/dots/other", LH_WRITE));
}

TEST_HARNESS_MAIN
