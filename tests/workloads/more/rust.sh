# SPDX-License-Identifier: GPL-2.0-only
# cargo without a network: a build, another after a change, a test; hard links
# from deps/ and renames between directories of target/.
# needs: cargo cargo
# cases: APP-04
# expected: mkdir */.cargo
# unstable: c/target/* c/target
# fleeting: c/target/*
# words: unstable
export CARGO_NET_OFFLINE=true
cargo new -q --vcs none c
cd c || exit
cargo build -q
echo 'pub fn f() {}
#[test] fn t() { assert_eq!(1 + 1, 2) }' >>src/main.rs
cargo build -q
cargo test -q
cargo run -q
[ "$(stat -c %h target/debug/c)" -ge 2 ]
cargo clean -q
