//! A session's requests as etcd's own.

use std::sync::Arc;

use etcd_client as etcd;
use etcd_client::{EventType, KeyValue, WatchFilterType, WatchOptions, WatchRequestSender, WatchResponse};
use etcd_client::{WatchResponseStream, WatchStream};
use tokio_util::sync::CancellationToken;

use super::connection::{Connection, Line};
use super::line::{Answer, Happened, Heard, LineError, News, Wanted};
use super::{Found, Key, Range, Then, Txn, TxnOutcome, line, wire};
use crate::access::Access;

impl line::Carrier for Connection {
    type Line = Line;

    fn line(&self) -> Arc<Line> {
        Connection::line(self)
    }

    async fn give_up(&self, line: &Arc<Line>) {
        Connection::give_up(self, line).await;
    }

    fn access(&self) -> &Access {
        Connection::access(self)
    }
}

impl line::Line for Line {
    type Stream = (WatchRequestSender, WatchResponseStream);

    fn gone(&self) -> &CancellationToken {
        &self.gone
    }

    async fn txn(&self, txn: Txn<'_>, lease: i64) -> Result<Answer<TxnOutcome>, LineError> {
        let guard = etcd::Compare::create_revision(txn.key, etcd::CompareOp::Equal, txn.create_revision);
        let mut request = etcd::Txn::new().when([guard]);
        request = match txn.then {
            Then::Put(value) => {
                let options = etcd::PutOptions::new().with_lease(lease);
                request
                    .and_then([etcd::TxnOp::put(txn.key, value, Some(options))])
                    .or_else([etcd::TxnOp::get(txn.key, None)])
            }
            Then::PutLasting(key) => request.and_then([etcd::TxnOp::put(key, "", None)]),
            Then::Delete => request.and_then([etcd::TxnOp::delete(txn.key, None)]),
        };
        let answer = self.kv.clone().txn(request).await?;
        let bytes = wire::bytes(&answer.0);
        let (succeeded, revision) = (answer.succeeded(), revision(answer.header()));
        let found = answer.op_responses().into_iter().find_map(|response| match response {
            etcd::TxnOpResponse::Get(range) => range.kvs().first().map(key),
            _ => None,
        });
        Ok(Answer { told: TxnOutcome { succeeded, revision, found }, bytes })
    }

    async fn range(&self, range: Range<'_>) -> Result<Answer<Found>, LineError> {
        let (name, options) = match range {
            Range::Key(name) => (name, etcd::GetOptions::new()),
            // A limit on the create revision of 0 would be none; the first revision of a store that holds a key is 2.
            Range::NewestBelow { prefix, own } => (
                prefix,
                etcd::GetOptions::new()
                    .with_prefix()
                    .with_max_create_revision(own - 1)
                    .with_sort(etcd::SortTarget::Create, etcd::SortOrder::Descend)
                    .with_limit(1),
            ),
            Range::Oldest { prefix, at } => (
                prefix,
                etcd::GetOptions::new()
                    .with_prefix()
                    .with_revision(at)
                    .with_sort(etcd::SortTarget::Create, etcd::SortOrder::Ascend)
                    .with_limit(1),
            ),
            Range::Count { prefix, at } => {
                (prefix, etcd::GetOptions::new().with_prefix().with_count_only().with_revision(at))
            }
        };
        let answer = self.kv.clone().get(name, Some(options)).await?;
        let count = u64::try_from(answer.count()).unwrap_or(0);
        let told = Found { first: answer.kvs().first().map(key), count, revision: revision(answer.header()) };
        Ok(Answer { told, bytes: wire::bytes(&answer.0) })
    }

    async fn put(&self, key: &str, value: &[u8], lease: i64) -> Result<Answer<()>, LineError> {
        let options = etcd::PutOptions::new().with_lease(lease);
        let answer = self.kv.clone().put(key, value, Some(options)).await?;
        Ok(Answer { told: (), bytes: wire::bytes(&answer.0) })
    }

    async fn delete_all(&self, prefix: &str) -> Result<Answer<()>, LineError> {
        let options = etcd::DeleteOptions::new().with_prefix();
        let answer = self.kv.clone().delete(prefix, Some(options)).await?;
        Ok(Answer { told: (), bytes: wire::bytes(&answer.0) })
    }

    async fn grant(&self, ttl: i64) -> Result<Answer<(i64, i64)>, LineError> {
        let answer = self.lease.clone().grant(ttl, None).await?;
        Ok(Answer { told: (answer.id(), answer.ttl()), bytes: wire::bytes(&answer.0) })
    }

    async fn revoke(&self, lease: i64) -> Result<Answer<()>, LineError> {
        let answer = self.lease.clone().revoke(lease).await?;
        Ok(Answer { told: (), bytes: wire::bytes(&answer.0) })
    }

    async fn renew(&self, lease: i64) -> Result<bool, LineError> {
        let mut client = self.lease.clone();
        // In a box, since it is large and lives for a moment.
        match Box::pin(async move { client.keep_alive(lease).await.map(drop) }).await {
            Ok(()) => Ok(true),
            // The library takes the first answer itself, and makes an error of a ttl of 0.
            Err(LineError::LeaseKeepAliveError(why)) if why == "lease not found" => Ok(false),
            Err(error) => Err(error),
        }
    }

    async fn watch(&self, first: Wanted<'_>) -> Result<Self::Stream, LineError> {
        let mut client = self.watch.clone();
        let (key, options) = (first.key.to_owned(), options(first));
        // In a box, since it is large and lives for a moment.
        Box::pin(async move { client.watch(key, Some(options)).await }).await.map(WatchStream::split)
    }
}

/// What no recipe needs: keys that outlive a session, one by one.
impl Line {
    pub(super) async fn put_lasting(&self, key: &str, value: &[u8]) -> Result<Answer<()>, LineError> {
        let answer = self.kv.clone().put(key, value, None).await?;
        Ok(Answer { told: (), bytes: wire::bytes(&answer.0) })
    }

    pub(super) async fn keys(&self, prefix: &str) -> Result<Answer<Vec<String>>, LineError> {
        let options = etcd::GetOptions::new().with_prefix().with_keys_only();
        let answer = self.kv.clone().get(prefix, Some(options)).await?;
        let told = answer.kvs().iter().map(|found| String::from_utf8_lossy(found.key()).into_owned()).collect();
        Ok(Answer { told, bytes: wire::bytes(&answer.0) })
    }

    pub(super) async fn delete_key(&self, key: &str) -> Result<Answer<()>, LineError> {
        let answer = self.kv.clone().delete(key, None).await?;
        Ok(Answer { told: (), bytes: wire::bytes(&answer.0) })
    }
}

impl line::Stream for (WatchRequestSender, WatchResponseStream) {
    async fn set(&mut self, wanted: Wanted<'_>) -> Result<(), LineError> {
        self.0.watch(wanted.key, Some(options(wanted))).await
    }

    async fn cancel(&mut self, id: i64) -> Result<(), LineError> {
        self.0.cancel(id).await
    }

    async fn heard(&mut self) -> Result<Option<Heard>, LineError> {
        Ok(self.1.message().await?.as_ref().map(heard))
    }
}

fn options(wanted: Wanted<'_>) -> WatchOptions {
    let options = WatchOptions::new().with_watch_id(wanted.id).with_start_revision(wanted.from);
    let options = if wanted.prefix { options.with_prefix() } else { options };
    match (wanted.puts, wanted.deletions) {
        (true, true) => options,
        (true, false) => options.with_filters([WatchFilterType::NoDelete]),
        (false, _) => options.with_filters([WatchFilterType::NoPut]),
    }
}

fn heard(response: &WatchResponse) -> Heard {
    let news = match (response.canceled(), response.created()) {
        (true, _) => News::Over { reason: response.cancel_reason().to_owned(), compacted: response.compact_revision() },
        (false, true) => News::Stands,
        (false, false) => News::Events,
    };
    let happened = |event: &etcd::Event| Happened {
        deleted: event.event_type() == EventType::Delete,
        create_revision: event.kv().map_or(0, KeyValue::create_revision),
        revision: event.kv().map_or(0, KeyValue::mod_revision),
    };
    let events = response.events().iter().map(happened).collect();
    Heard { id: response.watch_id(), news, events, bytes: wire::bytes(&response.0) }
}

/// The part of a key's state that recipes need.
fn key(found: &KeyValue) -> Key {
    Key {
        key: String::from_utf8_lossy(found.key()).into_owned(),
        create_revision: found.create_revision(),
        mod_revision: found.mod_revision(),
        lease: found.lease(),
        value: found.value().to_vec(),
    }
}

fn revision(header: Option<&etcd::ResponseHeader>) -> i64 {
    // Servers send a header with every answer.
    header.map_or(0, etcd::ResponseHeader::revision)
}
