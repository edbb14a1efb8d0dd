import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingQueue;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.leader.LeaderLatch;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.retry.RetryNTimes;

/**
 * Strangers in our queues: Apache Curator's own InterProcessMutex or LeaderLatch, each with a session and a thread of its own.
 *
 * Arguments: connect string, path, "mutex" or "latch". Lines on stdin: "acquire NAME", "release NAME", each answered on stdout by
 * "granted NAME" and "released NAME" once it is so. The end of stdin ends them all.
 */
public final class Stranger implements Runnable {
    private static final int SESSION_MS = 10_000;
    private static final Map<String, Stranger> ALL = new ConcurrentHashMap<>();

    private final BlockingQueue<String> orders = new LinkedBlockingQueue<>();
    private final CuratorFramework client;
    private final String name;
    private final String path;
    private final boolean isLatch;

    private Stranger(String name, String servers, String path, boolean isLatch) {
        this.name = name;
        this.path = path;
        this.isLatch = isLatch;
        client = CuratorFrameworkFactory.builder()
            .connectString(servers)
            .sessionTimeoutMs(SESSION_MS)
            .connectionTimeoutMs(SESSION_MS)
            .retryPolicy(new RetryNTimes(50, 100))
            // It would watch the servers' own settings, and the test counts watches.
            .ensembleTracker(false)
            .build();
        client.start();
        Thread thread = new Thread(this, name);
        thread.setDaemon(true);
        thread.start();
    }

    @Override
    public void run() {
        try {
            InterProcessMutex mutex = new InterProcessMutex(client, path);
            LeaderLatch latch = null;
            while (true) {
                if (orders.take().equals("acquire")) {
                    if (isLatch) {
                        latch = new LeaderLatch(client, path, name);
                        latch.start();
                        latch.await();
                    } else {
                        mutex.acquire();
                    }
                    say("granted " + name);
                } else {
                    if (isLatch) {
                        latch.close();
                    } else {
                        mutex.release();
                    }
                    say("released " + name);
                }
            }
        } catch (Exception error) {
            say("failed " + name + ": " + error);
        }
    }

    private static synchronized void say(String line) {
        System.out.println(line);
        System.out.flush();
    }

    public static void main(String[] arguments) throws Exception {
        boolean isLatch = arguments[2].equals("latch");
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in));
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            String[] words = line.split(" ");
            ALL.computeIfAbsent(words[1], name -> new Stranger(name, arguments[0], arguments[1], isLatch))
                .orders.add(words[0]);
        }
        // Closes the sessions, so that nothing of them lingers.
        for (Stranger stranger : ALL.values()) {
            stranger.client.close();
        }
        System.exit(0);
    }
}
