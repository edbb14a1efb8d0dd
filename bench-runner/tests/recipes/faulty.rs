//! A session that loses requests and replies exactly where a test wants it, and remembers what was asked of it.
use std::collections::HashMap;
use std::pin::Pin;
use std::sync::{Arc, Mutex};

use workloads::record::EventKind;
use workloads::zookeeper::session::{CreateMode, Created, Session, SessionError, Stat, Watch};

/// What is asked of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Op {
    Sync,
    Create,
    Delete,
    Exists,
    Data,
    DataWatched,
    SetData,
    Children,
    /// A watch fired: not asked, but in the same order of events. A deed before it comes between the watch and the wait.
    Fired,
}

type Deed = Pin<Box<dyn Future<Output = ()> + Send>>;
type Hook = Box<dyn FnOnce(String) -> Deed + Send>;

/// What becomes of a call.
pub enum Fault {
    /// It never reaches the server, and the connection breaks.
    LostRequest,
    /// It is carried out, and the connection breaks before the reply.
    LostReply,
    /// The connection breaks before the reply, and the request is carried out later: when the session syncs, or when the
    /// test says so. Stands for a server that lags behind the one which took the request.
    Late,
    /// It is carried out and its reply never comes.
    Silent,
    /// Something else happens first.
    After(Hook),
    /// Something else happens in its stead, and the connection breaks.
    Instead(Hook),
}

impl Fault {
    pub fn after<F: Future<Output = ()> + Send + 'static>(deed: impl FnOnce(String) -> F + Send + 'static) -> Fault {
        Fault::After(Box::new(move |path| Box::pin(deed(path))))
    }

    pub fn instead<F: Future<Output = ()> + Send + 'static>(deed: impl FnOnce(String) -> F + Send + 'static) -> Fault {
        Fault::Instead(Box::new(move |path| Box::pin(deed(path))))
    }
}

#[derive(Default)]
struct Script {
    faults: HashMap<(Op, usize), Fault>,
    calls: Vec<Op>,
    late: Vec<Deed>,
}

/// The session with its script. Clones share it.
#[derive(Clone)]
pub struct Faulty<S> {
    session: S,
    script: Arc<Mutex<Script>>,
}

impl<S: Session> Faulty<S> {
    pub fn new(session: S) -> Self {
        Faulty { session, script: Arc::default() }
    }

    /// What becomes of the `nth` call of `op`, counted from 0 and from the beginning.
    pub fn on(&self, op: Op, nth: usize, fault: Fault) {
        self.script.lock().unwrap().faults.insert((op, nth), fault);
    }

    /// All that was asked, in order.
    pub fn calls(&self) -> Vec<Op> {
        self.script.lock().unwrap().calls.clone()
    }

    /// Whether all that was to go wrong has gone wrong.
    pub fn is_used_up(&self) -> bool {
        self.script.lock().unwrap().faults.is_empty()
    }

    /// Carries out what is late.
    pub async fn deliver(&self) {
        let late = std::mem::take(&mut self.script.lock().unwrap().late);
        for deed in late {
            deed.await;
        }
    }

    fn note(&self, op: Op) -> Option<Fault> {
        let fault = self.next_fault(op);
        self.script.lock().unwrap().calls.push(op);
        fault
    }

    /// What is to become of the next call of `op`.
    fn next_fault(&self, op: Op) -> Option<Fault> {
        let mut script = self.script.lock().unwrap();
        let nth = script.calls.iter().filter(|call| **call == op).count();
        script.faults.remove(&(op, nth))
    }

    async fn run<T, F>(&self, op: Op, path: &str, operation: F) -> Result<T, SessionError>
    where
        F: Future<Output = Result<T, SessionError>> + Send + 'static,
    {
        let broken = || SessionError::Unknown(format!("as the test wants it: {op:?}"));
        match self.note(op) {
            None => operation.await,
            Some(Fault::LostRequest) => Err(broken()),
            Some(Fault::LostReply) => {
                let _ = operation.await;
                Err(broken())
            }
            Some(Fault::Late) => {
                let deed = Box::pin(async move {
                    let _ = operation.await;
                });
                self.script.lock().unwrap().late.push(deed);
                Err(broken())
            }
            Some(Fault::Silent) => {
                let _ = operation.await;
                std::future::pending().await
            }
            Some(Fault::After(deed)) => {
                deed(path.to_owned()).await;
                operation.await
            }
            Some(Fault::Instead(deed)) => {
                deed(path.to_owned()).await;
                Err(broken())
            }
        }
    }

    fn watch(&self, watch: S::Watch, path: &str) -> FaultyWatch<S> {
        FaultyWatch { watch, path: path.to_owned(), session: self.clone() }
    }
}

pub struct FaultyWatch<S: Session> {
    watch: S::Watch,
    path: String,
    session: Faulty<S>,
}

impl<S: Session> Watch for FaultyWatch<S> {
    async fn fired(self) -> Result<EventKind, SessionError> {
        if let Some(Fault::After(deed)) = self.session.next_fault(Op::Fired) {
            deed(self.path).await;
        }
        let outcome = self.watch.fired().await;
        self.session.note(Op::Fired);
        outcome
    }
}

impl<S: Session> Session for Faulty<S> {
    type Watch = FaultyWatch<S>;

    fn id(&self) -> i64 {
        self.session.id()
    }

    async fn broken(&self) -> SessionError {
        self.session.broken().await
    }

    async fn sync(&self, path: &str) -> Result<(), SessionError> {
        self.deliver().await;
        let (session, to) = (self.session.clone(), path.to_owned());
        self.run(Op::Sync, path, async move { session.sync(&to).await }).await
    }

    async fn create(&self, path: &str, mode: CreateMode, data: &[u8]) -> Result<Created, SessionError> {
        let (session, to, data) = (self.session.clone(), path.to_owned(), data.to_vec());
        self.run(Op::Create, path, async move { session.create(&to, mode, &data).await }).await
    }

    async fn delete(&self, path: &str) -> Result<(), SessionError> {
        let (session, to) = (self.session.clone(), path.to_owned());
        self.run(Op::Delete, path, async move { session.delete(&to).await }).await
    }

    async fn exists(&self, path: &str) -> Result<Option<Stat>, SessionError> {
        let (session, to) = (self.session.clone(), path.to_owned());
        self.run(Op::Exists, path, async move { session.exists(&to).await }).await
    }

    async fn exists_watched(&self, path: &str) -> Result<(Option<Stat>, Self::Watch), SessionError> {
        let (session, to) = (self.session.clone(), path.to_owned());
        let (stat, watch) = self.run(Op::Exists, path, async move { session.exists_watched(&to).await }).await?;
        Ok((stat, self.watch(watch, path)))
    }

    async fn data(&self, path: &str) -> Result<(Vec<u8>, Stat), SessionError> {
        let (session, to) = (self.session.clone(), path.to_owned());
        self.run(Op::Data, path, async move { session.data(&to).await }).await
    }

    async fn data_watched(&self, path: &str) -> Result<(Vec<u8>, Stat, Self::Watch), SessionError> {
        let (session, to) = (self.session.clone(), path.to_owned());
        let read = self.run(Op::DataWatched, path, async move { session.data_watched(&to).await }).await?;
        Ok((read.0, read.1, self.watch(read.2, path)))
    }

    async fn set_data(&self, path: &str, data: &[u8]) -> Result<(), SessionError> {
        let (session, to, data) = (self.session.clone(), path.to_owned(), data.to_vec());
        self.run(Op::SetData, path, async move { session.set_data(&to, &data).await }).await
    }

    async fn children(&self, path: &str) -> Result<Vec<String>, SessionError> {
        let (session, to) = (self.session.clone(), path.to_owned());
        self.run(Op::Children, path, async move { session.children(&to).await }).await
    }

    async fn children_watched(&self, path: &str) -> Result<(Vec<String>, Self::Watch), SessionError> {
        let (session, to) = (self.session.clone(), path.to_owned());
        let (names, watch) = self.run(Op::Children, path, async move { session.children_watched(&to).await }).await?;
        Ok((names, self.watch(watch, path)))
    }
}
