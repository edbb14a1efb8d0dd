//! What the recorder says of requests and bytes, held against what crosses a real socket.
use std::sync::Arc;
use std::time::Duration;

use workloads::record::{Capacity, EventKind, Recorder, RequestKind};
use workloads::zookeeper::session::{Client, CreateMode, Metered, Session, SessionError, Watch};

use crate::place::{LONG, eventually, on_ensemble};
use crate::proxy::{Proxy, Traffic, opcode};

/// The operation's numbers on the wire.
fn opcodes(kind: RequestKind) -> &'static [i32] {
    match kind {
        RequestKind::Create => &[opcode::CREATE2, opcode::CREATE_CONTAINER],
        RequestKind::Delete => &[opcode::DELETE],
        RequestKind::Exists => &[opcode::EXISTS],
        RequestKind::GetData => &[opcode::GET_DATA],
        RequestKind::SetData => &[opcode::SET_DATA],
        RequestKind::GetChildren => &[opcode::GET_CHILDREN, opcode::GET_CHILDREN2],
        RequestKind::RemoveWatches => &[opcode::REMOVE_WATCHES],
        RequestKind::Sync => &[opcode::SYNC],
        // etcd's have no number, and nobody sends them here.
        _ => &[],
    }
}

#[test]
fn recorded_requests_and_response_bytes_are_what_crosses_the_wire() {
    on_ensemble(async |place| {
        let proxy = Proxy::start(place.ensemble.nodes()[0].endpoint()).await;
        let recorder = Arc::new(Recorder::new(Capacity { length: Duration::from_secs(60), grants: 1 }, true));
        recorder.open();
        let session = Metered::new(Client::connect(&proxy.endpoint(), LONG).await.unwrap(), Arc::clone(&recorder));
        let agree = |step: &str| {
            let (traffic, tally) = (proxy.traffic(), recorder.tally());
            for kind in RequestKind::ALL {
                let of = |counts: &std::collections::BTreeMap<i32, u64>| -> u64 {
                    opcodes(kind).iter().filter_map(|opcode| counts.get(opcode)).sum()
                };
                assert_eq!(tally.requests[kind as usize], of(&traffic.requests), "{step}: {kind:?} requests");
                if kind != RequestKind::RemoveWatches {
                    let bytes = tally.response_bytes[kind as usize];
                    assert_eq!(bytes, of(&traffic.response_bytes), "{step}: {kind:?} bytes");
                }
            }
        };

        let root = place.base.replace("/lock", "-of-the-wire");
        let at = |name: &str| format!("{root}/{name}");
        session.create(&root, CreateMode::Container, b"").await.unwrap();
        for (name, mode) in
            [("stays", CreateMode::Persistent), ("goes", CreateMode::Ephemeral), ("c", CreateMode::Container)]
        {
            session.create(&at(name), mode, b"some data").await.unwrap();
        }
        let numbered = session.create(&at("_c_uuid-lock-"), CreateMode::EphemeralSequential, b"").await.unwrap();
        assert!(numbered.path.ends_with("-lock-0000000003"), "{numbered:?}");
        agree("creates");
        assert_eq!(session.create(&at("stays"), CreateMode::Ephemeral, b"").await, Err(SessionError::NodeExists));
        assert_eq!(session.create(&at("no/where"), CreateMode::Persistent, b"").await, Err(SessionError::NoNode));
        assert_eq!(session.delete(&root).await, Err(SessionError::NotEmpty));
        assert!(matches!(
            session.create(&at("goes/below"), CreateMode::Persistent, b"").await,
            Err(SessionError::Refused(_))
        ));
        session.delete(&numbered.path).await.unwrap();
        agree("deletes and errors");
        assert!(session.exists(&at("stays")).await.unwrap().is_some());
        assert_eq!(session.exists(&at("missing")).await, Ok(None));
        assert_eq!(session.data(&at("stays")).await.unwrap().0, b"some data");
        assert_eq!(session.data(&at("missing")).await, Err(SessionError::NoNode));
        session.set_data(&at("stays"), &[7; 1000]).await.unwrap();
        assert_eq!(session.data(&at("stays")).await.unwrap().0, [7; 1000]);
        assert_eq!(session.set_data(&at("missing"), b"").await, Err(SessionError::NoNode));
        session.sync(&root).await.unwrap();
        agree("reads and writes");
        assert_eq!(session.children(&at("missing")).await, Err(SessionError::NoNode));
        assert_eq!(session.children(&at("stays")).await.unwrap().len(), 0);
        session.create(&at("stays/0"), CreateMode::Persistent, b"").await.unwrap();
        assert_eq!(session.children(&at("stays")).await.unwrap().len(), 1);
        for number in 1..100 {
            session.create(&at(&format!("stays/{number}")), CreateMode::Persistent, b"").await.unwrap();
        }
        assert_eq!(session.children(&at("stays")).await.unwrap().len(), 100);
        agree("lists");
        assert_eq!(session.data_watched(&at("missing")).await.err(), Some(SessionError::NoNode));
        let (_, _, fires) = session.data_watched(&at("goes")).await.unwrap();
        let (_, absent) = session.exists_watched(&at("missing")).await.unwrap();
        let (_, present) = session.exists_watched(&at("c")).await.unwrap();
        let (names, list) = session.children_watched(&at("stays")).await.unwrap();
        assert_eq!(names.len(), 100);
        agree("watches");
        session.delete(&at("goes")).await.unwrap();
        assert_eq!(fires.fired().await, Ok(EventKind::Deleted));
        drop((absent, present, list));
        let removed = |traffic: &Traffic| traffic.response_bytes.get(&opcode::REMOVE_WATCHES).copied();
        eventually("three watches are taken back", async || removed(&proxy.traffic()) == Some(3 * 20)).await;
        agree("watches taken back");

        let traffic = proxy.traffic();
        assert_eq!((traffic.notifications, traffic.connects), (1, 1));
        assert_eq!(recorder.tally().total_notifications(), 1);
        assert_eq!(traffic.requests.values().sum::<u64>(), recorder.tally().total_requests(), "{traffic:?}");
        let bytes = traffic.response_bytes.values().sum::<u64>() - 3 * 20;
        assert_eq!(bytes, recorder.tally().total_response_bytes());
        workloads::zookeeper::parents::remove_tree(&place.steward, &root).await.unwrap();
        drop(session);
        proxy.idle().await;
    });
}
