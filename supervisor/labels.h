/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a caller calls a run, to find its result again: KEY=VALUE, which mean
 * nothing to us.
 */
#ifndef LH_LABELS_H
#define LH_LABELS_H

#include "../policy-compiler/err.h"
#include "writer.h"

#define LABELS_MAX 64
#define LABEL_KEY_MAX 63
#define LABEL_VALUE_MAX 256

/* In the order they were given; they point into argv. */
struct labels {
	const char *label[LABELS_MAX];
	unsigned int count;
};

/* 0, or -EINVAL, -E2BIG with *e. */
int labels_add(struct labels *l, const char *arg, struct err *e);
/* The object "labels". */
void labels_write(struct writer *w, const struct labels *l);

#endif
