//! TLS, which a client asks for in the handshake of its protocol.

use crate::ServeError;
use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig};
use std::fmt::Display;
use std::path::Path;
use std::sync::Arc;

/// The identity of a server, and which clients it accepts.
#[derive(Debug, Clone)]
pub struct Tls {
    pub(super) config: Arc<ServerConfig>,
    /// Whether clients without TLS are refused.
    pub(super) is_required: bool,
}

impl Tls {
    /// Reads certificate and private key, in PEM; with `ca`, clients need a certificate that one of
    /// its certificates has signed.
    pub fn load(
        certificate: &Path,
        key: &Path,
        ca: Option<&Path>,
        is_required: bool,
    ) -> Result<Self, ServeError> {
        let provider = Arc::new(ring::default_provider());
        let builder = ServerConfig::builder_with_provider(Arc::clone(&provider));
        let builder = builder.with_safe_default_protocol_versions().map_err(wrong(certificate))?;
        let builder = match ca {
            None => builder.with_no_client_auth(),
            Some(path) => {
                let mut roots = RootCertStore::empty();
                for certificate in certificates(path)? {
                    roots.add(certificate).map_err(wrong(path))?;
                }
                let verifier = WebPkiClientVerifier::builder_with_provider(roots.into(), provider);
                builder.with_client_cert_verifier(verifier.build().map_err(wrong(path))?)
            }
        };
        let secret = PrivateKeyDer::from_pem_file(key).map_err(wrong(key))?;
        let config = builder
            .with_single_cert(certificates(certificate)?, secret)
            .map_err(wrong(certificate))?;
        Ok(Self { config: Arc::new(config), is_required })
    }
}

fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, ServeError> {
    let found = CertificateDer::pem_file_iter(path).and_then(Iterator::collect);
    let found: Vec<_> = found.map_err(wrong(path))?;
    if found.is_empty() { Err(wrong(path)("it has no certificate")) } else { Ok(found) }
}

fn wrong<E: Display>(path: &Path) -> impl FnOnce(E) -> ServeError {
    move |why| ServeError::Tls { path: path.to_owned(), why: why.to_string() }
}
