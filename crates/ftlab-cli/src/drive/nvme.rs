//! NVMe over TCP, as an option of `ftlab drive serve`.

use super::serving::Serving;
use crate::error::CliError;
use crate::options::parse_in;
use crate::output::say;
use clap::Args;
use ftlab_serve::ServeError;
use ftlab_serve::net::{Address, Limits, Server, ServerOptions};
use ftlab_serve::nvme::{Subsystem, SubsystemOptions};
use std::net::SocketAddr;
use std::sync::Arc;

/// How a drive is served as an NVMe SSD.
#[derive(Debug, Args)]
pub(super) struct NvmeArgs {
    /// Serves the drive as an NVMe SSD over TCP at HOST:PORT, with a discovery service; the usual port is
    /// 4420. Linux attaches it with `nvme connect`.
    #[arg(long, value_name = "HOST:PORT")]
    pub(super) nvme: Option<String>,
    /// Hosts that may connect over NVMe, by name (/etc/nvme/hostnqn); all by default. A host that lies about
    /// its name is not found out. May be repeated.
    #[arg(long, value_name = "NQN", requires = "nvme")]
    allow_host: Vec<String>,
    /// Divides the drive into N NVMe namespaces of equal size, among which placement handles are
    /// divided too.
    #[arg(long, value_name = "N", requires = "nvme", default_value_t = 1, value_parser = parse_in(1_u32..))]
    namespaces: u32,
}

impl NvmeArgs {
    /// Where to listen, if anywhere.
    pub(super) fn address(&self, allow_remote: bool) -> Result<Option<Address>, CliError> {
        let Some(text) = &self.nvme else { return Ok(None) };
        let address: Address = text.parse()?;
        if !matches!(address, Address::Tcp(_)) {
            let why = "NVMe over TCP needs a port: write HOST:PORT, such as 127.0.0.1:4420";
            return Err(CliError::usage(format!("--nvme {text}: {why}")));
        }
        if !address.is_local() && !allow_remote {
            return Err(ServeError::Remote { address: text.clone() }.into());
        }
        Ok(Some(address))
    }

    /// Begins to serve, and says how to connect.
    pub(super) fn start(
        &self,
        address: &Address,
        options: &ServerOptions,
        serving: &Serving,
    ) -> Result<Server, CliError> {
        let hosts = self.allow_host.clone();
        let subsystem = SubsystemOptions { namespaces: self.namespaces, allow_hosts: hosts };
        let subsystem = Subsystem::new(serving.store(), serving.drive(), subsystem)?;
        let (nqn, handles) = (subsystem.nqn().to_owned(), subsystem.handles());
        let report = Box::new(|text| say(&format!("nvme: {text}\n")));
        let options = ServerOptions {
            tls: None,
            limits: Limits { connections: CONNECTIONS_MAX, ..options.limits.clone() },
            ..options.clone()
        };
        let server = Server::start(address, Arc::new(subsystem), options, report)?;
        if let Address::Tcp(address) = server.address() {
            say(&greeting(*address, &nqn, handles));
            if !address.ip().is_loopback() {
                say(&exposure(&self.allow_host));
            }
        }
        Ok(server)
    }
}

/// A host has a connection for each of its processors.
const CONNECTIONS_MAX: usize = 1024;

fn greeting(address: SocketAddr, nqn: &str, handles: usize) -> String {
    let placement = match handles {
        0 => String::new(),
        handles => format!(", {handles} placement handles"),
    };
    let host =
        if address.ip().is_unspecified() { "HOST".to_owned() } else { address.ip().to_string() };
    let port = address.port();
    format!(
        "NVMe at {address}{placement}: {nqn}\n  sudo nvme connect -t tcp -a {host} -s {port} -n {nqn}\n"
    )
}

/// What other machines can do.
fn exposure(allow_host: &[String]) -> String {
    let who = if allow_host.is_empty() {
        "every machine that reaches this port"
    } else {
        "every machine that gives a name in --allow-host"
    };
    format!(
        "warning: {who} can read and overwrite the drive over NVMe, and anybody on the way can follow it\n"
    )
}
