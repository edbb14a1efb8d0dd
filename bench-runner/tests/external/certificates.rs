//! Authorities and certificates, made anew by each test.
use std::fs;
use std::path::PathBuf;

use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair, KeyUsagePurpose, date_time_ymd,
};

use crate::place::Place;

/// An authority.
pub struct Authority {
    issuer: CertifiedIssuer<'static, KeyPair>,
}

/// A certificate and its key, in PEM.
pub struct Certified {
    pub certificate: String,
    pub key: String,
}

impl Authority {
    pub fn new(name: &str) -> Authority {
        let mut params = CertificateParams::default();
        params.distinguished_name.push(DnType::CommonName, name);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages =
            vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::DigitalSignature, KeyUsagePurpose::CrlSign];
        let issuer = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
        Authority { issuer }
    }

    pub fn pem(&self) -> String {
        self.issuer.pem()
    }

    /// A certificate for these hosts.
    pub fn certify(&self, hosts: &[&str]) -> Certified {
        self.sign(named(hosts))
    }

    /// One that was good for a while, long ago.
    pub fn expired(&self) -> Certified {
        let mut params = named(&["127.0.0.1"]);
        (params.not_before, params.not_after) = (date_time_ymd(2020, 1, 1), date_time_ymd(2021, 1, 1));
        self.sign(params)
    }

    fn sign(&self, params: CertificateParams) -> Certified {
        let key = KeyPair::generate().unwrap();
        let certificate = params.signed_by(&key, &self.issuer).unwrap();
        Certified { certificate: certificate.pem(), key: key.serialize_pem() }
    }

    /// Writes what a client of this authority's servers needs: `ca.pem`, `client.pem`, `client.key`.
    pub fn equip(&self, place: &Place) -> PathBuf {
        let folder = place.path("pki");
        fs::create_dir_all(&folder).unwrap();
        // A client has a host too, which ZooKeeper's servers look at.
        let client = self.certify(&["127.0.0.1", "localhost"]);
        fs::write(folder.join("ca.pem"), self.pem()).unwrap();
        fs::write(folder.join("client.pem"), client.certificate).unwrap();
        fs::write(folder.join("client.key"), client.key).unwrap();
        folder
    }
}

fn named(hosts: &[&str]) -> CertificateParams {
    let hosts: Vec<String> = hosts.iter().map(|host| (*host).to_owned()).collect();
    let mut params = CertificateParams::new(hosts).unwrap();
    params.distinguished_name = rcgen::DistinguishedName::new();
    params.distinguished_name.push(DnType::CommonName, "a machine of the test");
    params
}
