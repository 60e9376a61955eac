//! The certificate authorities that a connection trusts, and the proxies of the environment.

use std::path::Path;

use ureq::Proxy;
use ureq::tls::{Certificate, PemItem, RootCerts, TlsConfig, parse_pem};

use super::Failure;
use curtail_core::small::{SMALL, read_small};
use curtail_core::system_error::system_message;

/// The variables that name a proxy, in the order in which they apply.
const PROXY_VARIABLES: [&str; 6] = ["ALL_PROXY", "all_proxy", "HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy"];

/// The certificate authorities that are trusted: the built-in ones, the system's (or those of `SSL_CERT_FILE` and
/// `SSL_CERT_DIR`), and the ones added here.
#[derive(Clone, Debug, Default)]
pub struct Authorities {
    added: Vec<Certificate<'static>>,
}

impl Authorities {
    /// Adds the certificates of a file in PEM format.
    ///
    /// # Errors
    /// [`Failure`] if the file cannot be read or contains no certificate.
    pub fn add_file(&mut self, path: &Path) -> Result<(), Failure> {
        let wrong = |why: &str| Failure::Other(format!("{}: {why}", path.display()));
        let text = std::fs::File::open(path)
            .and_then(|file| read_small(file, SMALL))
            .map_err(|error| wrong(&format!("cannot read the certificates: {}", system_message(&error))))?;
        let before = self.added.len();
        for item in parse_pem(&text) {
            match item {
                Ok(PemItem::Certificate(certificate)) => self.added.push(certificate),
                Ok(_) => {}
                Err(error) => return Err(wrong(&format!("is not a file of certificates in PEM format: {error}"))),
            }
        }
        if self.added.len() == before {
            return Err(wrong("contains no certificate in PEM format (-----BEGIN CERTIFICATE-----)"));
        }
        Ok(())
    }

    /// The settings of TLS connections. Certificates of the system that cannot be read are left out.
    pub(super) fn tls(&self) -> TlsConfig {
        let built_in = webpki_root_certs::TLS_SERVER_ROOT_CERTS.iter().map(|root| Certificate::from_der(root.as_ref()));
        let system = rustls_native_certs::load_native_certs().certs;
        let system = system.iter().map(|root| Certificate::from_der(root.as_ref()).to_owned());
        let all = built_in.chain(system).chain(self.added.iter().cloned());
        TlsConfig::builder().root_certs(RootCerts::from(all)).build()
    }
}

/// The proxy for `url`, if the environment names one, and how messages show it. `NO_PROXY` names hosts that are reached without
/// it.
pub(super) fn proxy_of_environment(url: &str) -> Result<Option<(Proxy, String)>, Failure> {
    let set = PROXY_VARIABLES.iter().filter_map(|name| Some((*name, std::env::var(name).ok()?)));
    let Some((variable, value)) = set.into_iter().find(|(_, value)| !value.is_empty()) else { return Ok(None) };
    if Proxy::new(&value).is_err() {
        return Err(Failure::Other(format!(
            "{variable} is not the address of a proxy; write it as http://HOST:PORT, or unset it"
        )));
    }
    // This reads the first variable that is set and valid, and the hosts of NO_PROXY.
    let proxy = Proxy::try_from_env().filter(|proxy| !url.parse().is_ok_and(|uri| proxy.is_no_proxy(&uri)));
    Ok(proxy.map(|proxy| {
        let shown = shown_proxy(&proxy, variable);
        (proxy, shown)
    }))
}

/// A proxy in a message, without its password, and the variable that names it.
fn shown_proxy(proxy: &Proxy, variable: &str) -> String {
    let scheme = proxy.uri().scheme_str().unwrap_or("http");
    let user = if proxy.username().is_some() { "***@" } else { "" };
    format!("{scheme}://{user}{}:{} ({variable})", proxy.host(), proxy.port())
}
