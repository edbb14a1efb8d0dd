//! Whom we trust, and who we are: certificates from PEM files.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls::client::WebPkiServerVerifier;
use rustls::crypto::{CryptoProvider, aws_lc_rs};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ClientConfig, RootCertStore};
use tokio_rustls::TlsConnector;
use zookeeper_client as zk;

use super::certificate::{Observed, Seen};

/// What is read from files for encrypted connections.
#[derive(Debug)]
pub struct Tls {
    verifier: Arc<WebPkiServerVerifier>,
    identity: Option<(Vec<CertificateDer<'static>>, PrivateKeyDer<'static>)>,
    /// For the connections of workers: one for all of them.
    shared: Arc<ClientConfig>,
    zookeeper: zk::TlsOptions,
}

/// What a connection is for; etcd's port tells HTTP/2 from HTTP/1 by it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Use {
    /// gRPC.
    Http2,
    /// A page.
    Http1,
    /// Anything else.
    Other,
}

/// A file that does not do.
#[derive(Debug, thiserror::Error)]
#[error("{}: {reason}", path.display())]
pub struct TlsError {
    /// The file.
    pub path: PathBuf,
    /// What is wrong with it.
    pub reason: String,
}

impl Tls {
    /// Reads the authorities' certificates that we trust, and where the servers ask who we are, our certificate and its key.
    ///
    /// # Errors
    ///
    /// [`TlsError`] with the file that does not do.
    pub fn from_files(authorities: &Path, identity: Option<(&Path, &Path)>) -> Result<Tls, TlsError> {
        let mut roots = RootCertStore::empty();
        for certificate in certificates(authorities)? {
            roots.add(certificate).map_err(|error| wrong(authorities, error))?;
        }
        let provider = Arc::new(aws_lc_rs::default_provider());
        let verifier = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), Arc::clone(&provider)).build();
        let verifier = verifier.map_err(|error| wrong(authorities, error))?;
        let mut zookeeper =
            zk::TlsOptions::new().with_pem_ca(&text(authorities)?).map_err(|error| wrong(authorities, error))?;
        let identity = match identity {
            None => None,
            Some((certificate, key)) => {
                zookeeper =
                    zookeeper.with_pem_identity(&text(certificate)?, &text(key)?).map_err(|error| wrong(key, error))?;
                let read = PrivateKeyDer::from_pem_file(key);
                let read = read.map_err(|error| wrong(key, format!("no private key in PEM ({error})")))?;
                let pair = (certificates(certificate)?, read);
                // Whether the two belong together.
                configured(&provider, Arc::clone(&verifier) as _, Some(&pair))
                    .map_err(|error| wrong(key, format!("not the key of {}: {error}", certificate.display())))?;
                Some(pair)
            }
        };
        let mut shared = configured(&provider, Arc::clone(&verifier) as _, identity.as_ref())
            .map_err(|error| wrong(authorities, error))?;
        shared.alpn_protocols = vec![b"h2".to_vec()];
        Ok(Tls { verifier, identity, shared: Arc::new(shared), zookeeper })
    }

    /// For sessions of ZooKeeper, whose library makes its own connections.
    pub(crate) fn zookeeper(&self) -> zk::TlsOptions {
        self.zookeeper.clone()
    }

    /// Makes connections. Where they are few, `seen` learns what certificate there was; those of workers share all there is.
    pub(super) fn connector(&self, of: Use, seen: &Seen) -> TlsConnector {
        if of == Use::Http2 {
            return TlsConnector::from(Arc::clone(&self.shared));
        }
        let provider = Arc::new(aws_lc_rs::default_provider());
        let observed = Arc::new(Observed::new(Arc::clone(&self.verifier), seen.clone()));
        let mut config = match configured(&provider, observed, self.identity.as_ref()) {
            Ok(config) => config,
            // What was possible once is possible again; and without the observer it says less, not more.
            Err(_) => return TlsConnector::from(Arc::clone(&self.shared)),
        };
        if of == Use::Http1 {
            config.alpn_protocols = vec![b"http/1.1".to_vec()];
        }
        TlsConnector::from(Arc::new(config))
    }
}

fn configured(
    provider: &Arc<CryptoProvider>,
    verifier: Arc<dyn rustls::client::danger::ServerCertVerifier>,
    identity: Option<&(Vec<CertificateDer<'static>>, PrivateKeyDer<'static>)>,
) -> Result<ClientConfig, rustls::Error> {
    let builder = ClientConfig::builder_with_provider(Arc::clone(provider)).with_safe_default_protocol_versions()?;
    // "Dangerous" is any verifier that one brings along; this one is rustls's own, or wraps it.
    let builder = builder.dangerous().with_custom_certificate_verifier(verifier);
    match identity {
        Some((certificates, key)) => builder.with_client_auth_cert(certificates.clone(), key.clone_key()),
        None => Ok(builder.with_no_client_auth()),
    }
}

fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    let all: Result<Vec<_>, _> = CertificateDer::pem_file_iter(path).map_err(|error| wrong(path, error))?.collect();
    match all {
        Ok(all) if all.is_empty() => Err(wrong(path, "no certificate in PEM")),
        Ok(all) => Ok(all),
        Err(error) => Err(wrong(path, error)),
    }
}

fn text(path: &Path) -> Result<String, TlsError> {
    std::fs::read_to_string(path).map_err(|error| wrong(path, error))
}

fn wrong(path: &Path, reason: impl ToString) -> TlsError {
    TlsError { path: path.to_owned(), reason: reason.to_string() }
}
