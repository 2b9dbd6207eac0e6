//! Clients that ask for TLS, and those that do not.

use super::client::{Reply, export, go_data, hello, option, request};
use crate::nbd::Nbd;
use crate::nbd::wire::{command, info, option, reply};
use crate::net::{Address, Server, ServerOptions, Tls};
use crate::{Ram, ServeError};
use rustls::crypto::ring::default_provider;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

type Encrypted = StreamOwned<ClientConnection, TcpStream>;

fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/tls").join(name)
}

fn load(needs_certificate: bool, is_required: bool) -> Tls {
    let ca = needs_certificate.then(|| file("ca-cert.pem"));
    Tls::load(&file("server-cert.pem"), &file("server-key.pem"), ca.as_deref(), is_required)
        .unwrap()
}

/// A server, its address, and what it reports.
fn serve(tls: Option<Tls>) -> (Server, SocketAddr, Arc<Mutex<Vec<String>>>) {
    let reports = Arc::<Mutex<Vec<String>>>::default();
    let reported = Arc::clone(&reports);
    let report = Box::new(move |text| reported.lock().unwrap().push(text));
    let options = ServerOptions { tls, ..ServerOptions::default() };
    let anywhere = "127.0.0.1:0".parse().unwrap();
    let nbd = Arc::new(Nbd::new(Arc::new(Ram::new(8 << 20)), export()));
    let server = Server::start(&anywhere, nbd, options, report).unwrap();
    let Address::Tcp(address) = *server.address() else { panic!("no TCP") };
    (server, address, reports)
}

fn connect(address: SocketAddr) -> TcpStream {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(120))).unwrap();
    let mut greeting = [0; 18];
    stream.read_exact(&mut greeting).unwrap();
    stream.write_all(&3_u32.to_be_bytes()).unwrap();
    stream
}

/// Sends an option, and returns the kind and the data of the first answer.
fn ask(stream: &mut (impl Read + Write), what: u32, data: &[u8]) -> (u32, Vec<u8>) {
    stream.write_all(&option(what, data)).unwrap();
    let mut header = [0; 20];
    stream.read_exact(&mut header).unwrap();
    let number = |at: usize| u32::from_be_bytes(header[at..at + 4].try_into().unwrap());
    let mut data = vec![0; number(16) as usize];
    stream.read_exact(&mut data).unwrap();
    assert_eq!(number(8), what);
    (number(12), data)
}

fn encrypt(stream: TcpStream, with_certificate: bool) -> io::Result<Encrypted> {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_file(file("ca-cert.pem")).unwrap()).unwrap();
    let builder = ClientConfig::builder_with_provider(default_provider().into());
    let builder =
        builder.with_safe_default_protocol_versions().unwrap().with_root_certificates(roots);
    let config = if with_certificate {
        let chain = vec![CertificateDer::from_pem_file(file("client-cert.pem")).unwrap()];
        let key = PrivateKeyDer::from_pem_file(file("client-key.pem")).unwrap();
        builder.with_client_auth_cert(chain, key).unwrap()
    } else {
        builder.with_no_client_auth()
    };
    let name = ServerName::try_from("localhost").unwrap();
    let mut stream = StreamOwned::new(ClientConnection::new(config.into(), name).unwrap(), stream);
    while stream.conn.is_handshaking() {
        stream.conn.complete_io(&mut stream.sock)?;
    }
    Ok(stream)
}

/// Writes and reads a megabyte at 4 KiB, in requests of which one has several pieces.
fn work(stream: &mut (impl Read + Write)) {
    stream.write_all(&option(option::GO, &go_data("", &[info::BLOCK_SIZE]))).unwrap();
    let mut answers = [0; 3 * 20 + 12 + 14];
    stream.read_exact(&mut answers).unwrap();
    let data: Vec<u8> = (0..1 << 20).map(|byte: u32| (byte % 251) as u8).collect();
    let mut requests = request(0, command::WRITE, 1, 4096, 1 << 20);
    requests.extend(&data);
    requests.extend(request(0, command::READ, 2, 4096, 1 << 20));
    stream.write_all(&requests).unwrap();
    stream.flush().unwrap();
    let mut replies = vec![0; 16 + 16 + (1 << 20)];
    stream.read_exact(&mut replies).unwrap();
    let sent = [&b"NBDMAGICIHAVEOPT\0\x03"[..], &replies].concat();
    let reads = |cookie| (cookie == 2).then_some(1 << 20);
    let replies = super::client::Listener::new(&sent, false, &reads).replies();
    assert!(replies == [Reply::Done(1), Reply::Data(2, data)]);
}

#[test]
fn a_client_may_encrypt_and_need_not_where_that_is_allowed() {
    let (_server, address, reports) = serve(Some(load(false, false)));
    work(&mut connect(address));
    let mut stream = connect(address);
    assert_eq!(ask(&mut stream, option::STARTTLS, &[]).0, reply::ACK);
    let mut stream = encrypt(stream, false).unwrap();
    assert_eq!(ask(&mut stream, option::STARTTLS, &[]).0, reply::ERR_INVALID);
    work(&mut stream);
    drop(stream);
    assert_eq!(*reports.lock().unwrap(), Vec::<String>::new());
}

#[test]
fn nothing_else_is_answered_where_tls_is_required() {
    let (_server, address, _) = serve(Some(load(false, true)));
    let mut stream = connect(address);
    for what in [option::LIST, option::INFO, option::GO, option::STRUCTURED_REPLY, 99] {
        assert_eq!(ask(&mut stream, what, &[]).0, reply::ERR_TLS_REQD);
    }
    assert_eq!(ask(&mut stream, option::STARTTLS, &[]).0, reply::ACK);
    let mut stream = encrypt(stream, false).unwrap();
    work(&mut stream);
    let mut plain = connect(address);
    plain.write_all(&option(option::EXPORT_NAME, b"disk")).unwrap();
    assert_eq!(plain.read(&mut [0; 1]).unwrap(), 0, "it cannot be refused, only closed");
}

#[test]
fn without_a_certificate_there_is_no_tls() {
    let (_server, address, _) = serve(None);
    let (kind, message) = ask(&mut connect(address), option::STARTTLS, &[]);
    assert_eq!(kind, reply::ERR_UNSUP);
    assert!(String::from_utf8(message).unwrap().contains("--tls-cert"));
}

#[test]
fn a_client_needs_a_certificate_of_the_authority_where_there_is_one() {
    let (_server, address, reports) = serve(Some(load(true, true)));
    for with_certificate in [true, false] {
        let mut stream = connect(address);
        assert_eq!(ask(&mut stream, option::STARTTLS, &[]).0, reply::ACK);
        let stream = encrypt(stream, with_certificate).and_then(|mut stream| {
            stream.write_all(&option(option::LIST, &[]))?;
            stream.read_exact(&mut [0; 20]).map(|()| stream)
        });
        assert_eq!(stream.is_ok(), with_certificate);
    }
    while reports.lock().unwrap().is_empty() {
        std::thread::sleep(Duration::from_millis(2));
    }
    let report = reports.lock().unwrap()[0].clone();
    assert!(report.contains("peer sent no certificates"), "{report}");
}

#[test]
fn what_is_said_before_tls_does_not_count() {
    let (_server, address, reports) = serve(Some(load(false, false)));
    // Structured replies, asked for in plain text, are forgotten.
    let mut stream = connect(address);
    assert_eq!(ask(&mut stream, option::STRUCTURED_REPLY, &[]).0, reply::ACK);
    assert_eq!(ask(&mut stream, option::STARTTLS, &[]).0, reply::ACK);
    work(&mut encrypt(stream, false).unwrap());
    // Plain text behind the question is an attack, not the beginning of TLS.
    let mut stream = connect(address);
    let smuggled = [option(option::STARTTLS, &[]), hello(false)[4..].to_vec()].concat();
    stream.write_all(&smuggled).unwrap();
    let mut rest = Vec::new();
    let _ = stream.read_to_end(&mut rest);
    assert!(rest.len() <= 20, "{rest:?}");
    while reports.lock().unwrap().is_empty() {
        std::thread::sleep(Duration::from_millis(2));
    }
    let report = reports.lock().unwrap()[0].clone();
    assert!(report.ends_with("the client sent plain data after asking for TLS"), "{report}");
}

#[test]
fn files_that_are_no_certificates_are_named() {
    let [certificate, key] = ["server-cert.pem", "server-key.pem"].map(file);
    let load = |certificate: &Path, key: &Path, ca: Option<&Path>| {
        Tls::load(certificate, key, ca, true).unwrap_err()
    };
    for (error, name) in [
        (load(&key, &key, None), "server-key.pem"),
        (load(&certificate, &certificate, None), "server-cert.pem"),
        (load(&certificate, &file("client-key.pem"), None), "server-cert.pem"),
        (load(&certificate, &key, Some(&file("absent.pem"))), "absent.pem"),
    ] {
        assert!(matches!(error, ServeError::Tls { .. }));
        let text = error.to_string();
        assert!(text.contains(name) && text.contains("each a file in PEM"), "{text}");
    }
}
