# SPDX-License-Identifier: GPL-2.0-only
# A small C project: parallel make, a library, a program, its test.
# policies: build
# cases: APP-07 APP-08
# unstable: out/*
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

# the linker's plugin and what it leaves in TMPDIR
cc -O1 -flto -o out/lto src/main.c src/f1.c src/f6.c
cc -save-temps=obj -o out/plain src/main.c src/f1.c src/f6.c
./out/lto
./out/plain

# both kinds of jobserver: a pipe, and where make knows it a named one
printf 'all: a b c d\na b c d:\n\t@sleep 0.1\n' >jobs.mk
make -s -j2 -f jobs.mk
if make -s -j2 -f jobs.mk --jobserver-style=fifo 2>/dev/null; then
	make -s -j2 -f jobs.mk --jobserver-style=pipe
fi
printf 'all:\n\t+$(MAKE) -s -f jobs.mk\n' >outer.mk
make -s -j2 -f outer.mk
