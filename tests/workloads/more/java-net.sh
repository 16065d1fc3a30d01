# SPDX-License-Identifier: GPL-2.0-only
# A server in a JVM and its clients: its sockets are IPv6 ones whatever the
# address is, and it looks at the interfaces first.
# needs: javac openjdk-17-jdk-headless
# unstable: *.class
# expected: open /tmp/hsperfdata_*
cat >Net.java <<'END'
import com.sun.net.httpserver.HttpServer;
import java.io.*;
import java.net.*;
import java.net.http.*;
import java.nio.ByteBuffer;
import java.nio.channels.*;
import java.nio.file.*;

public class Net {
	static void http(String host) throws Exception {
		HttpServer s = HttpServer.create(
			new InetSocketAddress(host, 0), 16);
		s.createContext("/", x -> {
			x.sendResponseHeaders(200, 4);
			x.getResponseBody().write("page".getBytes());
			x.close();
		});
		s.start();
		String at = host.contains(":") ? "[" + host + "]" : host;
		URI u = URI.create("http://" + at + ":" +
			s.getAddress().getPort() + "/");
		String text = HttpClient.newHttpClient().send(
			HttpRequest.newBuilder(u).build(),
			HttpResponse.BodyHandlers.ofString()).body();
		if (!text.equals("page"))
			throw new Exception(text);
		s.stop(0);
	}

	static void plain() throws Exception {
		InetAddress loop = InetAddress.getLoopbackAddress();
		try (ServerSocket s = new ServerSocket(0, 16, loop);
		     Socket c = new Socket(loop, s.getLocalPort());
		     Socket a = s.accept()) {
			c.getOutputStream().write(7);
			if (a.getInputStream().read() != 7)
				throw new Exception("tcp");
		}
		try (DatagramSocket s = new DatagramSocket(0, loop);
		     DatagramSocket c = new DatagramSocket(0, loop)) {
			DatagramPacket p = new DatagramPacket(new byte[4], 4);
			c.send(new DatagramPacket(new byte[4], 4, loop,
				s.getLocalPort()));
			s.receive(p);
			s.send(new DatagramPacket(new byte[4], 4,
				p.getSocketAddress()));
			c.receive(p);
		}
		Path f = Path.of("j.sock");
		UnixDomainSocketAddress at = UnixDomainSocketAddress.of(f);
		try (ServerSocketChannel s = ServerSocketChannel.open(
				StandardProtocolFamily.UNIX).bind(at);
		     SocketChannel c = SocketChannel.open(at);
		     SocketChannel a = s.accept()) {
			c.write(ByteBuffer.allocate(4));
			a.read(ByteBuffer.allocate(4));
		}
		Files.delete(f);
		Pipe.open();
		Selector.open().close();
	}

	public static void main(String[] args) throws Exception {
		NetworkInterface.networkInterfaces().forEach(
			i -> i.inetAddresses().count());
		http("127.0.0.1");
		http("localhost");
		if (args.length > 0)
			http(args[0]);
		plain();
		System.out.println("java works");
	}
}
END
javac Net.java
#--
java -cp . Net ::1
java -Djava.net.preferIPv4Stack=true -cp . Net
