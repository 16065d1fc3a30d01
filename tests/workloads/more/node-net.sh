# SPDX-License-Identifier: GPL-2.0-only
# Servers and clients of Node: HTTP, both families, UDP, its own sockets in the
# file system and without one, a cluster that shares a port, an inspector.
# needs: node nodejs
cat >net.js <<'END'
const assert = require("assert"), cluster = require("cluster");
const dgram = require("dgram"), http = require("http"), net = require("net");
const { once } = require("events");

async function get(where) {
	const [r] = await once(http.get(where), "response");
	let text = "";
	for await (const part of r)
		text += part;
	return text;
}

async function main() {
	for (const host of ["127.0.0.1", "::1", "localhost"]) {
		const s = http.createServer((q, r) => r.end("page " + q.url));
		s.listen(0, host);
		await once(s, "listening");
		const at = { host, port: s.address().port, path: "/f" };
		assert.equal(await get(at), "page /f");
		const agent = new http.Agent({ keepAlive: true });
		for (let i = 0; i < 3; i++)
			assert.equal(await get({ ...at, agent }), "page /f");
		agent.destroy();
		const name = host == "::1" ? "[::1]" : host;
		const f = await fetch(`http://${name}:${at.port}/g`);
		assert.equal(await f.text(), "page /g");
		s.closeAllConnections();
		s.close();
	}
	for (const path of ["./s.sock", "\0lh-node-" + process.pid]) {
		const s = net.createServer((c) => c.pipe(c)).listen(path);
		await once(s, "listening");
		const c = net.connect(path);
		c.write("hello");
		assert.equal(String((await once(c, "data"))[0]), "hello");
		c.destroy();
		s.close();
	}
	const u = dgram.createSocket("udp4"), v = dgram.createSocket("udp4");
	u.bind(0, "127.0.0.1");
	await once(u, "listening");
	u.on("message", (m, from) => u.send("answer", from.port, from.address));
	v.send("q", u.address().port, "127.0.0.1");
	assert.equal(String((await once(v, "message"))[0]), "answer");
	u.close();
	v.close();
	require("inspector").open(0, "127.0.0.1");
	require("inspector").close();
	assert(require("os").networkInterfaces().lo);
	cluster.fork();
	const w = cluster.fork();
	const [, at] = await once(cluster, "listening");
	assert.equal(await get({ host: "127.0.0.1", port: at.port }), "worker");
	cluster.disconnect(() => console.log("node works"));
}

if (cluster.isPrimary)
	main();
else
	http.createServer((q, r) => r.end("worker")).listen(0, "127.0.0.1");
END
#--
node net.js 2>/dev/null
