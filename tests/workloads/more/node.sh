# SPDX-License-Identifier: GPL-2.0-only
# npm and pnpm without a network: dependencies in directories and archives,
# caches with hard links, renames of whole trees; a watcher; a server's files.
# needs: npm npm
# cases: APP-03 APP-14
# unstable: */node_modules/.package-lock.json */node_modules/.modules.yaml
# unstable: app*/node_modules/.pnpm-workspace-state* *.log
# unstable: npm-cache/* store/* store
# fleeting: npm-cache/* store/* app/node_modules/.cache/*
# words: unstable
mkdir dep app app2
echo '{"name":"dep","version":"1.0.0","bin":{"hello":"hello.js"},
"scripts":{"postinstall":"echo made >made"}}' >dep/package.json
printf '#!/usr/bin/env node\nconsole.log("hello");\n' >dep/hello.js
chmod 755 dep/hello.js
echo '{"name":"app","version":"1.0.0","dependencies":{"dep":"file:../dep"},
"scripts":{"test":"hello"}}' >app/package.json
echo '{"name":"app2","version":"1.0.0"}' >app2/package.json
#--
export npm_config_cache=$PWD/npm-cache npm_config_update_notifier=false
export npm_config_fund=false npm_config_audit=false npm_config_offline=true
(cd dep && npm pack --silent --pack-destination ..)
(cd app && npm install --silent && npm test --silent)
(cd app2 && npm install --silent ../dep-1.0.0.tgz && npm ls --silent)
(cd app2 && npm ci --silent && npm uninstall --silent dep)
[ ! -e app2/node_modules/dep ]
if command -v pnpm >/dev/null; then
	cp -r app app3
	rm -rf app3/node_modules app3/package-lock.json
	(cd app3 && pnpm install --offline --store-dir ../store && pnpm test)
fi
mkdir watched
for i in $(seq 200); do : >watched/$i; done
node -e '
const fs = require("fs");
fs.watch("watched", () => process.exit(0));
fs.watch(".", { recursive: true }, () => {});
setTimeout(() => fs.writeFileSync("watched/1", "x"), 200);
setTimeout(() => process.exit(1), 60000);'
node -e '
const fs = require("fs"), os = require("os"), path = require("path");
const d = fs.mkdtempSync(path.join(os.tmpdir(), "x-"));
fs.writeFileSync(d + "/f", "x");
fs.cpSync(d, "cp", { recursive: true });
fs.renameSync("cp/f", "cp/g");
fs.utimesSync("cp/g", 1, 2);
fs.rmSync(d, { recursive: true });
require("child_process").execFileSync("sh", ["-c", "exit 0"]);
new (require("worker_threads").Worker)("1", { eval: true });'
