/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The hash of an image: SHA-256 over all of it with its hash field as zeroes.
 */
#ifndef LH_IMAGE_HASH_H
#define LH_IMAGE_HASH_H

#include "image.h"

/* @size: at least sizeof(struct image). */
void image_hash(const void *image, size_t size, uint8_t hash[32]);

#endif
