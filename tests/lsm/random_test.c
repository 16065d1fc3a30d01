// SPDX-License-Identifier: GPL-2.0-only
/*
 * Random trees, policies and calls: the kernel, decide.h and a plain reference
 * must agree (see random/game.h). A kernel's games are always the same, so that
 * a failure comes of what was changed; SECONDS_TO_PLAY, from the environment,
 * goes on with fresh seeds until they are over. SEED and OPS repeat a game.
 * What failed once is a row of random.rows, and played first each time.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/utsname.h>
#include <time.h>

#include "kselftest_harness.h"
#include "random/play.h"

#undef TEST_TIMEOUT_DEFAULT
#define TEST_TIMEOUT_DEFAULT 86400

#define OPS_DEFAULT 50000UL	/* calls in all */
#define OPS_OF_A_GAME 1250UL
#define PLAYERS 2		/* games at a time */

static unsigned long number(const char *name, unsigned long absent)
{
	const char *s = getenv(name);

	return s && *s ? strtoul(s, NULL, 0) : absent;
}

static time_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec;
}

/* Other games on another kernel. */
static uint64_t seed_of_kernel(void)
{
	uint64_t seed = 0;
	struct utsname u;

	if (uname(&u))
		abort();
	for (const char *c = u.release; *c; c++)
		seed = seed * 31 + (unsigned char)*c;
	return (uint32_t)seed;
}

static uint64_t fresh_seed(void)
{
	uint32_t seed;

	if (getrandom(&seed, sizeof(seed), 0) != sizeof(seed))
		abort();
	return seed;
}

/* Every PLAYERSth game from number @first on. */
static void play(uint64_t seed, unsigned int first, struct score *score)
{
	unsigned long ops = number("OPS", OPS_DEFAULT);
	unsigned long seconds = number("SECONDS_TO_PLAY", 0), i;
	time_t end = now() + seconds;

	for (i = first; score->failed < 4; i += PLAYERS) {
		unsigned long at_ = i * OPS_OF_A_GAME;
		unsigned long n = OPS_OF_A_GAME;

		if (seconds ? now() >= end : at_ >= ops)
			return;
		if (!seconds && ops - at_ < n)
			n = ops - at_;
		game_play(seed + i, n, score);
	}
}

static void tell(const struct score *s, const char *what)
{
	fprintf(stderr, "# %s: %lu games, %lu calls: %lu allowed, %lu refused, "
		"%lu of the kernel's own errors; %lu not judged\n", what,
		s->games, s->ops, s->allowed, s->refused, s->ordinary,
		s->skipped);
}

TEST(what_failed_once)
{
	FILE *f = fopen("tests/lsm/random.rows", "re");
	struct score s = { 0 };
	char line[256];

	ASSERT_NE(NULL, f);
	while (fgets(line, sizeof(line), f)) {
		unsigned long long seed;
		unsigned long ops;

		if (*line == '#' || *line == '\n')
			continue;
		ASSERT_EQ(2, sscanf(line, "%llu %lu", &seed, &ops));
		EXPECT_TRUE(game_play(seed, ops, &s)) {
			TH_LOG("%s", line);
		}
	}
	fclose(f);
	tell(&s, "rows");
}

TEST(three_verdicts_agree)
{
	struct score *all = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
				 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct score sum = { 0 };
	pid_t pid[PLAYERS];
	uint64_t seed;
	int i, status;

	ASSERT_NE(MAP_FAILED, all);
	seed = number("SEED", number("SECONDS_TO_PLAY", 0) ? fresh_seed() :
		      seed_of_kernel());
	fprintf(stderr, "# SEED=%llu\n", (unsigned long long)seed);
	for (i = 0; i < PLAYERS; i++) {
		pid[i] = fork();
		ASSERT_LE(0, pid[i]);
		if (!pid[i]) {
			play(seed, i, &all[i]);
			_exit(0);
		}
	}
	for (i = 0; i < PLAYERS; i++) {
		ASSERT_EQ(pid[i], waitpid(pid[i], &status, 0));
		EXPECT_EQ(0, status);
		EXPECT_EQ(0, all[i].failed);
		sum.games += all[i].games;
		sum.ops += all[i].ops;
		sum.skipped += all[i].skipped;
		sum.refused += all[i].refused;
		sum.ordinary += all[i].ordinary;
		sum.allowed += all[i].allowed;
	}
	tell(&sum, "random");
	/* Each of the three comes often enough to mean something. */
	if (sum.ops >= OPS_OF_A_GAME) {
		EXPECT_LT(sum.ops / 20, sum.allowed);
		EXPECT_LT(sum.ops / 20, sum.refused);
		EXPECT_LT(sum.ops / 20, sum.ordinary);
		EXPECT_GT(sum.ops / 4, sum.skipped);
	}
}

TEST_HARNESS_MAIN
