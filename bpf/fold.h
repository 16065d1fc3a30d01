/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A name as a directory that does not tell upper from lower case may take it:
 * ext4 and f2fs with +F fold as Unicode says, vfat and exfat drop dots at the
 * end, vfat gives long names a short one besides, msdos knows no others. Pure,
 * as decide.h. What folds to ASCII alone is folded; of the rest it is only said
 * that it does not, so a rule with such a name holds there for every such name.
 */
#ifndef LH_FOLD_H
#define LH_FOLD_H

#include "decide.h"

/* Hashes of what is not known letter by letter. */
#define LH_HASH_WIDE 0x57494445ULL	/* not ASCII, whatever it is */
#define LH_HASH_SHORT 0x53484f525421ULL	/* NAME~1: may stand for any */
					/* and :0061, with uni_xlate */

struct lh_fold {
	__u32 at, len;		/* read so far, of */
	__u32 out;		/* written so far */
	__u32 end;		/* without the dots at the end */
	__u32 wide;		/* something is not ASCII */
	__u32 tilde;
	__u32 cut;		/* eight bytes, a dot, three: all of msdos */
	__u32 dots, part;	/* of these: so far, and bytes since */
};

/* Code points that fold to nothing: default ignorables. */
static __always_inline int lh_fold_ignores(__u32 c)
{
	return c == 0xad || c == 0x34f || c == 0x61c || c == 0x115f ||
	       c == 0x1160 || c == 0x17b4 || c == 0x17b5 ||
	       (c >= 0x180b && c <= 0x180f) || (c >= 0x200b && c <= 0x200f) ||
	       (c >= 0x202a && c <= 0x202e) || (c >= 0x2060 && c <= 0x206f) ||
	       c == 0x3164 || (c >= 0xfe00 && c <= 0xfe0f) || c == 0xfeff ||
	       c == 0xffa0 || (c >= 0xfff0 && c <= 0xfff8) ||
	       (c >= 0x1bca0 && c <= 0x1bca3) ||
	       (c >= 0x1d173 && c <= 0x1d17a) ||
	       (c >= 0xe0000 && c <= 0xe0fff);
}

/* Up to three ASCII letters, the first lowest; 0: folds to no ASCII. */
static __always_inline __u32 lh_fold_ascii(__u32 c)
{
	switch (c) {
	case 0x131:	/* dotless i, whose capital is I */
		return 'i';
	case 0x17f:
		return 's';
	case 0x212a:
		return 'k';
	case 0x37e:
		return ';';
	case 0x1fef:
		return '`';
	case 0xdf:
	case 0x1e9e:
		return 's' | 's' << 8;
	case 0xfb00:
		return 'f' | 'f' << 8;
	case 0xfb01:
		return 'f' | 'i' << 8;
	case 0xfb02:
		return 'f' | 'l' << 8;
	case 0xfb03:
		return 'f' | 'f' << 8 | 'i' << 16;
	case 0xfb04:
		return 'f' | 'f' << 8 | 'l' << 16;
	case 0xfb05:
	case 0xfb06:
		return 's' | 't' << 8;
	}
	return 0;
}

#define LH_FOLD_BYTE(name, i) ((__u32)(name)[(i) & 255])

/*
 * The code point at f->at, which moves on past it. What is no UTF-8 is none
 * that folds.
 */
static __always_inline __u32 lh_fold_next(const unsigned char *name,
					  struct lh_fold *f)
{
	__u32 c = LH_FOLD_BYTE(name, f->at), more, i;

	f->at++;
	if (c < 0x80)
		return c;
	more = c < 0xc0 ? 0 : c < 0xe0 ? 1 : c < 0xf0 ? 2 : 3;
	c = more ? c & 0x3f >> more : ~0U;
	for (i = 0; i < 3; i++) {
		if (i >= more || f->at >= f->len)
			break;
		c = c << 6 | (LH_FOLD_BYTE(name, f->at) & 0x3f);
		f->at++;
	}
	return c < 0x80 ? ~0U : c;
}

static __always_inline void lh_fold_put(unsigned char *name, struct lh_fold *f,
					__u32 c)
{
	name[f->out & 255] = c;
	f->out++;
	if (c != '.')
		f->end = f->out;
}

/* One byte as msdos takes it, which knows no Unicode. */
static __always_inline void lh_fold_cut(unsigned char *name, struct lh_fold *f)
{
	__u32 c = LH_FOLD_BYTE(name, f->at);

	f->at++;
	if (c == '.' && f->at == 1)
		return;		/* hides a file, and makes no other name */
	if (c == '.') {
		f->dots++;
		f->part = 0;
		if (f->dots == 1)
			lh_fold_put(name, f, c);
		return;
	}
	if (f->dots > 1 || f->part >= (f->dots ? 3 : 8))
		return;
	f->part++;
	if (c >= 'A' && c <= 'Z')
		c |= 0x20;
	if (c == '~')
		f->tilde = 1;
	if (c >= 0x80)
		f->wide = 1;
	lh_fold_put(name, f, c);
}

/* Fold one letter in place, in a name of at most 255 bytes. 1: that was all. */
static __always_inline int lh_fold_step(unsigned char *name, struct lh_fold *f)
{
	__u32 c, ascii;

	if (f->at >= f->len)
		return 1;
	if (f->cut) {
		lh_fold_cut(name, f);
		return 0;
	}
	c = lh_fold_next(name, f);
	if (c >= 'A' && c <= 'Z')
		c |= 0x20;
	if (c == '~' || c == ':')	/* no other use on FAT */
		f->tilde = 1;
	if (c < 0x80) {
		lh_fold_put(name, f, c);
		return 0;
	}
	if (lh_fold_ignores(c))
		return 0;
	ascii = lh_fold_ascii(c);
	if (!ascii) {
		f->wide = 1;
		return 0;
	}
	lh_fold_put(name, f, ascii & 0xff);
	if (ascii >> 8)
		lh_fold_put(name, f, ascii >> 8 & 0xff);
	if (ascii >> 16)
		lh_fold_put(name, f, ascii >> 16 & 0xff);
	return 0;
}

#endif
