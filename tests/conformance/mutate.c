// SPDX-License-Identifier: GPL-2.0-only
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "../lsm/hook.h"
#include "mutate.h"

#define MOST 16

static struct hook off[MOST];
static const char *strict[MOST], *row[MOST];
static int strict_fd[MOST], offs, stricts, rows;

bool mutate_option(int option, const char *arg)
{
	int *count = option == 'o' ? &offs : option == 's' ? &stricts : &rows;

	if (*count == MOST)
		return false;
	if (option == 'o')
		off[offs].name = arg;
	else if (option == 's')
		strict[stricts] = arg;
	else
		row[rows] = arg;
	++*count;
	return true;
}

bool mutate_plays(const char *group, const char *name)
{
	char key[128];

	snprintf(key, sizeof(key), "%s/%s", group, name);
	for (int i = 0; i < rows; i++)
		if (!strcmp(row[i], key))
			return true;
	return !rows;
}

int mutate_begin(const char **what)
{
	int ret = 0;

	for (int i = 0; !ret && i < offs; i++) {
		*what = off[i].name;
		ret = hook_off(&off[i]);
	}
	for (int i = 0; !ret && i < stricts; i++) {
		*what = strict[i];
		strict_fd[i] = hook_strict(strict[i]);
		ret = strict_fd[i] < 0 ? strict_fd[i] : 0;
	}
	return ret;
}

int mutate_end(const char **what)
{
	int ret = 0;

	for (int i = 0; i < stricts; i++)
		close(strict_fd[i]);
	for (int i = 0; i < offs; i++) {
		int err = hook_on(&off[i]);

		if (err) {
			*what = off[i].name;
			ret = err;
		}
	}
	return ret;
}
