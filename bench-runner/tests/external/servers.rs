//! Servers of the test's own, which the command does not know to be on this machine.
use std::fs;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crate::certificates::Authority;
use crate::place::Place;
use crate::process::eventually;

/// A server that ends with the test.
pub struct Server {
    child: Child,
    pub folder: PathBuf,
    /// Where clients connect without TLS.
    pub port: u16,
    /// Where they connect with it.
    pub tls_port: u16,
}

impl Server {
    pub fn endpoint(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }

    pub fn tls_endpoint(&self) -> String {
        format!("127.0.0.1:{}", self.tls_port)
    }

    fn spawn(folder: PathBuf, place: &Place, program: &str, arguments: &[String], port: u16, tls_port: u16) -> Server {
        let log = fs::File::create(folder.join("log")).unwrap();
        // It ends with this process in any case, and is told from others by the place's temporary folder.
        let mut command = Command::new("setpriv");
        command.args(["--pdeathsig", "KILL", program]).args(arguments);
        command.current_dir(&folder).env("TMPDIR", place.temporary());
        command.stdin(Stdio::null()).stdout(log.try_clone().unwrap()).stderr(log);
        let child = command.spawn().unwrap();
        fs::write(folder.join("pid"), child.id().to_string()).unwrap();
        Server { child, folder, port, tls_port }
    }

    /// Waits until it answers `question` as a server does that serves.
    fn until_it_serves(&mut self, question: &str, answer: &str) {
        let (port, folder) = (self.port, self.folder.clone());
        eventually(&format!("{} serves", folder.display()), || {
            let log = || fs::read_to_string(folder.join("log")).unwrap_or_default();
            assert!(self.child.try_wait().unwrap().is_none(), "it ended: {}", log());
            ask(port, question).is_some_and(|told| told.contains(answer))
        });
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn ask(port: u16, question: &str) -> Option<String> {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).ok()?;
    stream.set_read_timeout(Some(Duration::from_secs(2))).ok()?;
    stream.write_all(question.as_bytes()).ok()?;
    let mut answer = String::new();
    // A connection that is reset after its answer has answered.
    let _ = stream.read_to_string(&mut answer);
    Some(answer)
}

/// A port that nobody listens on now, from below those that the kernel gives to connections.
fn free_port() -> u16 {
    loop {
        let port = 10_240 + (rand::random::<u16>() % 20_000);
        if TcpListener::bind(("127.0.0.1", port)).is_ok() {
            return port;
        }
    }
}

/// How a server is secured.
pub struct Security<'a> {
    pub authority: &'a Authority,
    /// Its own certificate is over.
    pub is_expired: bool,
}

/// A single server of ZooKeeper, over TLS too where it is secured; `words` are the four-letter words that it allows.
pub fn zookeeper(place: &Place, name: &str, words: &str, security: Option<&Security<'_>>) -> Server {
    let folder = place.path(name);
    fs::create_dir_all(folder.join("data")).unwrap();
    let (port, tls_port) = (free_port(), free_port());
    let mut settings = format!(
        "dataDir={0}/data\nclientPort={port}\nclientPortAddress=127.0.0.1\ntickTime=500\nmaxClientCnxns=0\nadmin.enableServer=false\n\
         4lw.commands.whitelist={words}\nforceSync=no\n",
        folder.display()
    );
    if let Some(security) = security {
        let own = match security.is_expired {
            true => security.authority.expired(),
            false => security.authority.certify(&["127.0.0.1"]),
        };
        fs::write(folder.join("own.pem"), own.certificate + &own.key).unwrap();
        fs::write(folder.join("ca.pem"), security.authority.pem()).unwrap();
        settings += &format!(
            "secureClientPort={tls_port}\nsecureClientPortAddress=127.0.0.1\n\
             serverCnxnFactory=org.apache.zookeeper.server.NettyServerCnxnFactory\n\
             ssl.keyStore.location={0}/own.pem\nssl.keyStore.type=PEM\n\
             ssl.trustStore.location={0}/ca.pem\nssl.trustStore.type=PEM\nssl.clientAuth=need\n",
            folder.display()
        );
    }
    fs::write(folder.join("zoo.cfg"), settings).unwrap();
    let arguments = [
        "-Xmx128m",
        "-XX:+UseSerialGC",
        "-XX:TieredStopAtLevel=1",
        "-cp",
        &class_path(),
        "org.apache.zookeeper.server.quorum.QuorumPeerMain",
        "zoo.cfg",
    ];
    let java = std::env::var("JAVA_HOME").map_or("java".to_owned(), |home| format!("{home}/bin/java"));
    let mut server = Server::spawn(folder, place, &java, &arguments.map(str::to_owned), port, tls_port);
    server.until_it_serves("srvr", "Mode: standalone");
    server
}

/// Debian's jar of ZooKeeper names the jars that it needs, but not all of those that Netty needs.
fn class_path() -> String {
    match std::env::var("ZOOKEEPER_HOME") {
        Ok(home) if !home.is_empty() => format!("{home}/lib/*"),
        _ => ["zookeeper", "netty-codec", "netty-resolver"].map(|jar| format!("/usr/share/java/{jar}.jar")).join(":"),
    }
}

/// A single server of etcd, of which all clients need TLS where it is secured. Its pages are on the plain port in any case.
pub fn etcd(place: &Place, name: &str, security: Option<&Security<'_>>) -> Server {
    let mut servers = etcd_ensemble(place, &[name], security);
    servers.remove(0)
}

/// Several of them.
pub fn etcd_ensemble(place: &Place, names: &[&str], security: Option<&Security<'_>>) -> Vec<Server> {
    let members: Vec<(&str, u16)> = names.iter().map(|name| (*name, free_port())).collect();
    let cluster: Vec<String> = members.iter().map(|(name, peer)| format!("{name}=http://127.0.0.1:{peer}")).collect();
    let start = |(name, peer): &(&str, u16)| {
        let folder = place.path(name);
        fs::create_dir_all(&folder).unwrap();
        let (port, tls_port) = (free_port(), free_port());
        let url = |port: u16| format!("http://127.0.0.1:{port}");
        let clients = match security {
            Some(_) => format!("https://127.0.0.1:{tls_port}"),
            None => url(port),
        };
        let mut flags = vec![
            format!("--name={name}"),
            "--data-dir=data".to_owned(),
            format!("--listen-client-urls={clients}"),
            format!("--advertise-client-urls={clients}"),
            format!("--listen-peer-urls={}", url(*peer)),
            format!("--initial-advertise-peer-urls={}", url(*peer)),
            format!("--initial-cluster={}", cluster.join(",")),
            "--logger=zap".to_owned(),
            "--log-level=warn".to_owned(),
        ];
        if let Some(security) = security {
            let own = match security.is_expired {
                true => security.authority.expired(),
                false => security.authority.certify(&["127.0.0.1"]),
            };
            write(&folder, "own.pem", &own.certificate);
            write(&folder, "own.key", &own.key);
            write(&folder, "ca.pem", &security.authority.pem());
            flags.push(format!("--listen-metrics-urls={}", url(port)));
            flags.extend(
                ["--cert-file=own.pem", "--key-file=own.key", "--trusted-ca-file=ca.pem", "--client-cert-auth"]
                    .map(str::to_owned),
            );
        }
        let etcd = std::env::var("ETCD_BIN").unwrap_or_else(|_| "etcd".to_owned());
        Server::spawn(folder, place, &etcd, &flags, port, tls_port)
    };
    let mut servers: Vec<Server> = members.iter().map(start).collect();
    for server in &mut servers {
        server.until_it_serves("GET /health HTTP/1.0\r\n\r\n", "\"true\"");
    }
    servers
}

fn write(folder: &Path, name: &str, text: &str) {
    fs::write(folder.join(name), text).unwrap();
}

/// Runs etcdctl on a server, over TLS where it is secured, with what it needs in `folder`.
pub fn etcdctl(server: &Server, security: Option<&Path>, arguments: &[&str]) -> String {
    let mut command = Command::new("etcdctl");
    command.env("ETCDCTL_API", "3");
    match security {
        Some(folder) => {
            command.arg(format!("--endpoints=https://{}", server.tls_endpoint()));
            for (flag, file) in [("cacert", "ca.pem"), ("cert", "client.pem"), ("key", "client.key")] {
                command.arg(format!("--{flag}={}", folder.join(file).display()));
            }
        }
        None => {
            command.arg(format!("--endpoints={}", server.endpoint()));
        }
    }
    let output = command.args(arguments).output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}
