# SPDX-License-Identifier: GPL-2.0-only
# Servers and clients that people run side by side: curl, wget, git over HTTP,
# Python on each kind of socket, tests with servers on whatever port is free, a
# daemon that outlives its client and is found by the next.
# policies: agent
# cases: NET-40
# unstable: *.git/* git/* again/*
# fleeting: *.git/* again/.git/* *.port __pycache__ __pycache__/*
export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@example.org
export GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@example.org
mkdir -p site/cgi-bin
seq 20000 >site/big
echo page >site/f
git init -q -b main site/g
echo 1 >site/g/f
git -C site/g add f
git -C site/g commit -q -m one
git clone -q --bare site/g site/g.git
git -C site/g.git config http.receivepack true
git -C site/g.git update-server-info
# shellcheck disable=SC2016 # for its own shell
printf '%s\n' '#!/bin/sh' 'export GIT_PROJECT_ROOT=$PWD GIT_HTTP_EXPORT_ALL=1' \
	'exec git http-backend' >site/cgi-bin/git
chmod 755 site/cgi-bin/git

cat >serve.py <<'END'
import http.server
import os
import sys


class Handler(http.server.CGIHTTPRequestHandler):
    have_fork = True

    def log_message(self, *args):
        pass


os.chdir("site")
s = http.server.ThreadingHTTPServer((sys.argv[1], 0), Handler)
with open("../new", "w") as f:
    f.write(str(s.server_port))
os.rename("../new", "../" + sys.argv[2])
s.serve_forever()
END

cat >sockets.py <<'END'
import asyncio
import http.client
import http.server
import multiprocessing.managers
import socket
import socketserver
import threading
import xmlrpc.client
import xmlrpc.server


class Echo(socketserver.StreamRequestHandler):
    def handle(self):
        self.wfile.write(self.rfile.readline())


class Page(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Length", "4")
        self.end_headers()
        self.wfile.write(b"page")

    def log_message(self, *args):
        pass


class Six(socketserver.ThreadingTCPServer):
    address_family = socket.AF_INET6


def background(server):
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


def tcp():
    for kind, at in (socketserver.ThreadingTCPServer, "127.0.0.1"), \
            (socketserver.ThreadingTCPServer, "127.5.6.7"), (Six, "::1"), \
            (Six, "::ffff:127.0.0.1"):
        s = background(kind((at, 0), Echo))
        with socket.create_connection((at, s.server_address[1])) as c:
            c.sendall(b"hello\n")
            assert c.recv(64) == b"hello\n"
    # by name, whichever family comes first
    s = background(Six(("::ffff:127.0.0.1", 0), Echo))
    with socket.create_connection(("localhost", s.server_address[1])) as c:
        c.sendall(b"x\n")
        assert c.recv(64) == b"x\n"
    # both at once, as a server does that wants both
    four = socket.create_server(("127.0.0.1", 0))
    port = four.getsockname()[1]
    six = socket.create_server(("::1", port), family=socket.AF_INET6)
    for at in ("127.0.0.1", "::1"):
        socket.create_connection((at, port)).close()
    four.close()
    six.close()
    # and again: the port is free as soon as who had it is gone
    socket.create_server(("127.0.0.1", port)).close()


def udp():
    for family, at in ((socket.AF_INET, "127.0.0.1"),
                       (socket.AF_INET6, "::1")):
        s = socket.socket(family, socket.SOCK_DGRAM)
        c = socket.socket(family, socket.SOCK_DGRAM)
        s.bind((at, 0))
        c.sendto(b"q", s.getsockname()[:2])
        data, back = s.recvfrom(64)
        s.sendto(b"answer to " + data, back)
        assert c.recv(64) == b"answer to q"
        c.connect(s.getsockname()[:2])
        c.send(b"x" * 1200)
        assert len(s.recv(4096)) == 1200


def http_on_many_ports():
    # as tests do, each with a server of its own
    servers = [background(http.server.ThreadingHTTPServer(
        ("127.0.0.1", 0), Page)) for _ in range(20)]
    assert len({s.server_port for s in servers}) == 20
    for s in servers:
        c = http.client.HTTPConnection("127.0.0.1", s.server_port)
        for _ in range(3):
            c.request("GET", "/")
            assert c.getresponse().read() == b"page"
        c.close()


def rpc():
    s = xmlrpc.server.SimpleXMLRPCServer(("127.0.0.1", 0),
                                         logRequests=False)
    s.register_function(pow)
    background(s)
    p = xmlrpc.client.ServerProxy(f"http://127.0.0.1:{s.server_address[1]}/")
    assert p.pow(2, 10) == 1024
    m = multiprocessing.managers.SyncManager(("127.0.0.1", 0), b"key")
    m.start()
    d = m.dict()
    d["a"] = 1
    assert d["a"] == 1
    m.shutdown()


async def asynchronous():
    async def serve(r, w):
        w.write(await r.readline())
        await w.drain()
        w.close()

    s = await asyncio.start_server(serve, ["127.0.0.1", "::1"], 0)

    async def ask(sock):
        r, w = await asyncio.open_connection(*sock.getsockname()[:2])
        w.write(b"hello\n")
        assert await r.readline() == b"hello\n"
        w.close()

    await asyncio.gather(*(ask(x) for x in s.sockets for _ in range(8)))
    s.close()
    loop = asyncio.get_running_loop()
    got = loop.create_future()

    class Receiver(asyncio.DatagramProtocol):
        def datagram_received(self, data, addr):
            got.set_result(data)

    t, _ = await loop.create_datagram_endpoint(
        Receiver, local_addr=("127.0.0.1", 0))
    c, _ = await loop.create_datagram_endpoint(
        asyncio.DatagramProtocol, remote_addr=t.get_extra_info("sockname"))
    c.sendto(b"d")
    assert await got == b"d"
    c.close()
    t.close()
    a, b = socket.socketpair()
    a.close()
    b.close()


if __name__ == "__main__":
    tcp()
    udp()
    http_on_many_ports()
    rpc()
    asyncio.run(asynchronous())
    socket.getaddrinfo("localhost", 80)
    print("sockets work")
END

# As build tools keep one: it leaves its port in a file and the terminal alone,
# tells others of its locks by UDP, and ends when it is told to.
cat >daemon.py <<'END'
import os
import select
import socket
import sys


def serve(told):
    tcp = socket.create_server(("127.0.0.1", 0))
    udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    udp.bind(("127.0.0.1", 0))
    with open("new", "w") as f:
        print(tcp.getsockname()[1], udp.getsockname()[1], os.getpid(), file=f)
    os.rename("new", "daemon.port")
    os.write(told, b"x")
    os.close(told)
    builds = 0
    while True:
        for s in select.select([tcp, udp], [], [])[0]:
            if s is udp:
                data, back = udp.recvfrom(64)
                udp.sendto(b"lock " + data, back)
                continue
            c, _ = tcp.accept()
            what = c.recv(64)
            if what == b"stop":
                c.sendall(b"stopped")
                os.unlink("daemon.port")
                return
            builds += 1
            c.sendall(b"build %d" % builds)
            c.close()


def start():
    r, w = os.pipe()
    if os.fork():
        os.close(w)
        os.read(r, 1)
        return
    os.setsid()
    if os.fork():
        os._exit(0)
    null = os.open("/dev/null", os.O_RDWR)
    for fd in range(3):
        os.dup2(null, fd)
    os.close(r)
    serve(w)
    os._exit(0)


def main(what):
    if not os.path.exists("daemon.port"):
        print("starting a daemon")
        start()
    tcp, udp, _ = open("daemon.port").read().split()
    u = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    u.sendto(b"taken", ("127.0.0.1", int(udp)))
    print(u.recv(64).decode())
    c = socket.create_connection(("127.0.0.1", int(tcp)))
    c.sendall(what.encode())
    print(c.recv(64).decode())
    while what == "stop" and c.recv(64):
        pass


main(sys.argv[1])
END
#--
export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@example.org
export GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@example.org
serve()
{
	rm -f "$2"
	python3 serve.py "$1" "$2" 2>/dev/null &
	for _ in $(seq 600); do
		[ ! -e "$2" ] || return 0
		sleep 0.1
	done
	return 1
}

serve 127.0.0.1 http.port
s=$!
trap 'kill $s' EXIT
at=http://127.0.0.1:$(cat http.port)
curl -sS "$at/f"
curl -sS -o big.curl "$at/big" "http://localhost:$(cat http.port)/f"
wget -q --no-hsts -O big.wget "$at/big"
cmp big.curl big.wget
cmp big.curl site/big
wget -q --no-hsts --no-proxy -r -l 1 -nH -P mirror "$at/g/"
cmp mirror/g/f site/g/f
git clone -q "$at/g.git" dumb
git clone -q "$at/cgi-bin/git/g.git" again
cd again || exit
echo 2 >>f
git commit -q -a -m two
git push -q origin main
cd ..
git -C dumb fetch -q "$at/cgi-bin/git/g.git"
# in a process of another session of the terminal, and its child
(setsid bash -c "(curl -sS $at/f)")

python3 sockets.py
python3 daemon.py one
(setsid python3 daemon.py two)
python3 daemon.py three
python3 daemon.py stop
[ ! -e daemon.port ]
