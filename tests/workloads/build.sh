# SPDX-License-Identifier: GPL-2.0-only
# A small C project: parallel make, a library, a program, its test.
mkdir src
for i in 1 2 3 4 5 6; do
	echo "int f$i(void) { return $i; }" >src/f$i.c
done
cat >src/main.c <<'END'
int f1(void), f6(void);
int main(void) { return f1() + f6() - 7; }
END
cat >Makefile <<'END'
obj := $(patsubst src/%.c,out/%.o,$(wildcard src/f*.c))
all: out/prog check
out/%.o: src/%.c | out
	cc -O2 -g -MMD -c $< -o $@
out/lib.a: $(obj)
	ar rcs $@ $^
out/prog: src/main.c out/lib.a
	cc -o $@ $^
out:
	mkdir -p $@
check: out/prog
	./out/prog
.PHONY: all check
-include $(obj:.o=.d)
END
make -s -j4
touch src/f3.c
make -s -j4
printf '#!/bin/sh\nexec ./out/prog\n' >run.sh
chmod +x run.sh
./run.sh
strip out/prog
./out/prog
