//! What is wrong with a certificate, in words: which one it is, and why it does not do.

use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{AlertDescription, CertificateError, DigitallySignedStruct, Error, InvalidMessage, SignatureScheme};
use x509_cert::Certificate;
use x509_cert::der::Decode;

/// What a connection has seen of the server's certificate.
#[derive(Clone, Debug, Default)]
pub(super) struct Seen(Arc<Mutex<Option<String>>>);

impl Seen {
    fn note(&self, certificate: &CertificateDer<'_>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(name(certificate));
    }

    /// Why there is no TLS.
    pub fn explain(&self, error: &io::Error) -> String {
        let seen = self.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        explain(error, seen.as_deref())
    }
}

/// Why a connection broke that was to be encrypted, also after the handshake: servers of TLS 1.3 refuse our certificate
/// with the first byte that they send.
pub fn explain(error: &io::Error, certificate: Option<&str>) -> String {
    let its =
        certificate.map_or("the server's certificate".to_owned(), |name| format!("the server's certificate ({name})"));
    match error.get_ref().and_then(|inner| inner.downcast_ref::<Error>()) {
        Some(Error::InvalidCertificate(wrong)) => format!("{its} {}", fault(wrong)),
        Some(Error::AlertReceived(alert)) => refused(*alert),
        Some(Error::InvalidMessage(InvalidMessage::InvalidContentType)) => {
            "what answers does not speak TLS; is it a port for plain text?".to_owned()
        }
        Some(other) => other.to_string(),
        None if matches!(error.kind(), io::ErrorKind::UnexpectedEof | io::ErrorKind::ConnectionReset) => {
            "the connection was closed in the handshake; is it a port for plain text?".to_owned()
        }
        None => error.to_string(),
    }
}

fn fault(wrong: &CertificateError) -> String {
    match wrong {
        CertificateError::Expired | CertificateError::ExpiredContext { .. } => "has expired".to_owned(),
        CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
            "is not valid yet; is the clock of this machine right?".to_owned()
        }
        CertificateError::UnknownIssuer => "is from an unknown authority: none of those in `ca`".to_owned(),
        CertificateError::NotValidForName => "is for another host name".to_owned(),
        CertificateError::NotValidForNameContext { expected, presented } => {
            let presented = if presented.is_empty() { "no host".to_owned() } else { presented.join(", ") };
            format!("is for another host name: for {presented}, and not for {}", expected.to_str())
        }
        CertificateError::BadSignature => "has a signature that is not its authority's".to_owned(),
        CertificateError::Revoked => "was revoked".to_owned(),
        other => format!("does not do: {other}"),
    }
}

/// The server did not like ours.
fn refused(alert: AlertDescription) -> String {
    let why = match alert {
        AlertDescription::CertificateRequired => "it asks for a client certificate, and there is none",
        AlertDescription::UnknownCA => "the client certificate is from an authority that it does not know",
        AlertDescription::CertificateExpired => "the client certificate has expired",
        AlertDescription::CertificateRevoked => "the client certificate was revoked",
        AlertDescription::BadCertificate | AlertDescription::CertificateUnknown => {
            "it does not take the client certificate, or misses one"
        }
        other => return format!("the server ended the handshake: {other:?}"),
    };
    format!("the server refuses us: {why}")
}

/// `subject CN=zookeeper-1, issued by CN=the authority, valid until 2026-12-01T00:00:00Z`.
fn name(certificate: &CertificateDer<'_>) -> String {
    match Certificate::from_der(certificate) {
        Ok(read) => {
            let of = &read.tbs_certificate;
            let until = of.validity.not_after.to_date_time();
            format!("subject {}, issued by {}, valid until {until}", of.subject, of.issuer)
        }
        Err(_) => "one that cannot be read".to_owned(),
    }
}

/// rustls's own check, which remembers what it was about.
#[derive(Debug)]
pub(super) struct Observed {
    verifier: Arc<WebPkiServerVerifier>,
    seen: Seen,
}

impl Observed {
    pub fn new(verifier: Arc<WebPkiServerVerifier>, seen: Seen) -> Self {
        Observed { verifier, seen }
    }
}

impl ServerCertVerifier for Observed {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        self.seen.note(certificate);
        self.verifier.verify_server_cert(certificate, intermediates, server, ocsp, now)
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.verifier.verify_tls12_signature(message, certificate, signed)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.verifier.verify_tls13_signature(message, certificate, signed)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.verifier.supported_verify_schemes()
    }
}
