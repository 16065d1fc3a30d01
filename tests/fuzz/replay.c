// SPDX-License-Identifier: GPL-2.0-only
/*
 * A fuzzer without libFuzzer: each file of its corpus once, or of the files
 * and directories that are named. A wrong answer aborts, after the file's name
 * was said.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <string.h>

#include "fuzz.h"

static int failed(const char *path)
{
	printf("Bail out! %s: %s\n", path, strerror(errno));
	return -1;
}

static int replay_file(FILE *f, const char *path)
{
	size_t room = 1 << 21, size;
	uint8_t *data = malloc(room), *exact;

	if (!data)
		return failed(path);
	size = fread(data, 1, room, f);
	/* No byte more than there is, so that ASan sees the one beyond. */
	exact = malloc(size ? size : 1);
	if (!exact || ferror(f)) {
		free(data);
		free(exact);
		return failed(path);
	}
	memcpy(exact, data, size);
	free(data);
	LLVMFuzzerTestOneInput(exact, size);
	free(exact);
	return 0;
}

static int replay(const char *path, int *count)
{
	struct dirent **names;
	char *below;
	int n, i, r = 0;
	FILE *f;

	n = scandir(path, &names, NULL, alphasort);
	for (i = 0; i < n; i++) {
		if (!r && names[i]->d_name[0] != '.') {
			if (asprintf(&below, "%s/%s", path,
				     names[i]->d_name) < 0)
				return failed(path);
			r = replay(below, count);
			free(below);
		}
		free(names[i]);
	}
	if (n >= 0) {
		free(names);
		return r;
	}
	f = errno == ENOTDIR ? fopen(path, "re") : NULL;
	if (!f)
		return failed(path);
	printf("# %s\n", path);
	fflush(stdout);
	r = replay_file(f, path);
	fclose(f);
	if (!r)
		printf("ok %d - %s\n", ++*count, path);
	return r;
}

/* Beside its own corpus, all policies there are are the compiler's. */
static const char *const policies[] = {
	"tests/policy/good", "tests/policy/bad", "policy-compiler/policies",
	"examples",
};

int main(int argc, char **argv)
{
	char name[64], corpus[128];
	int count = 0, r = 0;
	size_t i;

	printf("TAP version 13\n");
	if (argc > 1) {
		while (*++argv && !r)
			r = replay(*argv, &count);
	} else {
		snprintf(name, sizeof(name), "%s", basename(argv[0]));
		name[strcspn(name, "_")] = 0;
		snprintf(corpus, sizeof(corpus), "tests/fuzz/corpus/%s", name);
		r = replay(corpus, &count);
		for (i = 0; i < sizeof(policies) / sizeof(*policies) && !r &&
			    !strcmp(name, "compile"); i++)
			r = replay(policies[i], &count);
	}
	printf("1..%d\n", count);
	return r || !count;
}
