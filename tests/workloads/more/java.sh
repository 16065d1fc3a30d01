# SPDX-License-Identifier: GPL-2.0-only
# A compiler and a machine of Java: mapped files, temporary files, threads.
# needs: javac openjdk-17-jdk-headless
# unstable: *.class *.jar
# words: unstable
# expected: open /tmp/hsperfdata_*
cat >Main.java <<'END'
import java.nio.file.*;
public class Main {
	public static void main(String[] a) throws Exception {
		Path t = Files.createTempFile("x", "y");
		Files.writeString(t, "x");
		Files.move(t, Path.of("moved"), StandardCopyOption.REPLACE_EXISTING);
		Files.setLastModifiedTime(Path.of("moved"),
			attribute.FileTime.fromMillis(1000));
		Files.createSymbolicLink(Path.of("link"), Path.of("moved"));
		Files.copy(Path.of("moved"), Path.of("copied"),
			StandardCopyOption.COPY_ATTRIBUTES);
		Thread th = new Thread(() -> System.out.println("thread"));
		th.start();
		th.join();
		System.exit(new ProcessBuilder("true").start().waitFor());
	}
}
END
sed -i 's/attribute\.FileTime/java.nio.file.attribute.FileTime/' Main.java
javac Main.java
jar cf main.jar Main.class
java -cp main.jar Main
