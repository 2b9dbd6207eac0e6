//! Serves memory over NBD until standard input ends, to measure the cost of the server itself.
//!
//!     nbd_ram SOCKET|HOST:PORT BYTES

use ftlab_serve::Ram;
use ftlab_serve::nbd::{self, Export, Nbd};
use ftlab_serve::net::{Server, ServerOptions};
use std::error::Error;
use std::io::{Read, stdin};
use std::sync::Arc;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [address, bytes] = arguments.as_slice() else { return Err("nbd_ram ADDRESS BYTES".into()) };
    let ram = Arc::new(Ram::new(bytes.parse()?));
    let report = Box::new(|text| eprintln!("{text}"));
    let options = ServerOptions::default();
    let nbd = Arc::new(Nbd::new(ram, Export::default()));
    let server = Server::start(&address.parse()?, nbd, options, report)?;
    println!("{}", nbd::uri(server.address()));
    stdin().read_to_end(&mut Vec::new())?;
    Ok(())
}
