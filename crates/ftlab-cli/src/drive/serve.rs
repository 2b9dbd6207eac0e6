//! `ftlab drive serve`.

use super::nvme::NvmeArgs;
use super::place::{clear_dead_mount, require_empty};
use super::serving::{CompanionArgs, Interrupts, Serving};
use crate::convert::allow_many_files;
use crate::error::CliError;
use crate::output::say;
use clap::{ArgGroup, Args, ValueEnum};
use ftlab_serve::nbd::{self, Export, Nbd};
use ftlab_serve::net::{Address, Server, ServerOptions, Tls};
use ftlab_serve::{FuseMount, ServeError};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Serves a drive as a block device until Ctrl-C: over NBD, as an NVMe SSD over TCP, as a file, or all of
/// these at once.
///
/// Flushed data survives any crash of this process or of the machine. losetup turns the FUSE file
/// into a block device; `ftlab drive mount` does all of this.
#[derive(Debug, Args)]
#[command(group = ArgGroup::new("sockets").args(["nbd", "nvme"]).multiple(true))]
pub(crate) struct ServeArgs {
    /// The drive.
    file: PathBuf,
    /// Serves NBD at the path of a socket, or at HOST:PORT. May be repeated.
    #[arg(long, value_name = "SOCKET|HOST:PORT")]
    nbd: Vec<String>,
    #[command(flatten)]
    nvme: NvmeArgs,
    /// Lets NBD and NVMe listen on addresses that other machines can reach. Any client that --allow,
    /// --allow-host and --tls-ca admit can overwrite the drive.
    #[arg(long, requires = "sockets")]
    allow_remote: bool,
    #[command(flatten)]
    tls: TlsArgs,
    /// Exposes the drive as the file DIR/drive.
    #[arg(long, value_name = "DIR")]
    fuse: Option<PathBuf>,
    /// Serves the file even in a directory that is not empty; what is in it is hidden until the end.
    #[arg(long, requires = "fuse")]
    nonempty: bool,
    /// Threads that serve the file.
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u8).range(1..))]
    fuse_threads: u8,
    #[command(flatten)]
    companions: CompanionArgs,
}

/// TLS for NBD.
#[derive(Debug, Args)]
struct TlsArgs {
    /// Encrypts NBD: the certificate of the server, in PEM.
    #[arg(long, value_name = "FILE", requires_all = ["nbd", "tls_key"])]
    tls_cert: Option<PathBuf>,
    /// Its private key.
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    tls_key: Option<PathBuf>,
    /// Clients need a certificate that this authority has signed.
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    tls_ca: Option<PathBuf>,
    /// Whether clients must use TLS, or may.
    #[arg(long, value_name = "WHEN", requires = "tls_cert", default_value = "required")]
    tls: TlsUse,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum TlsUse {
    Required,
    Allowed,
}

impl TlsArgs {
    fn is_required(&self) -> bool {
        self.tls_cert.is_some() && self.tls == TlsUse::Required
    }

    fn load(&self) -> Result<Option<Tls>, CliError> {
        let (Some(certificate), Some(key)) = (&self.tls_cert, &self.tls_key) else {
            return Ok(None);
        };
        Ok(Some(Tls::load(certificate, key, self.tls_ca.as_deref(), self.is_required())?))
    }
}

pub(crate) fn serve(args: &ServeArgs) -> Result<(), CliError> {
    let nvme = args.nvme.address(args.allow_remote)?;
    if args.nbd.is_empty() && nvme.is_none() && args.fuse.is_none() {
        let message =
            "nothing to serve: give --nbd SOCKET, --nbd HOST:PORT, --nvme HOST:PORT or --fuse DIR";
        return Err(CliError::usage(message));
    }
    let addresses = args.nbd.iter().map(|text| allowed(text, args.allow_remote));
    let addresses = addresses.collect::<Result<Vec<_>, _>>()?;
    if let Some(directory) = &args.fuse {
        clear_dead_mount(directory);
        require_empty(directory, args.nonempty)?;
    }
    let options = ServerOptions {
        allow: args.companions.allow(),
        tls: args.tls.load()?,
        ..ServerOptions::default()
    };
    allow_many_files();
    let mut interrupts = Interrupts::listen()?;
    let serving = Serving::start(&args.file, &args.companions, nvme.is_some())?;
    let fronts = Fronts::start(args, &addresses, nvme.as_ref(), &options, &serving);
    let served = fronts.map(|fronts| {
        // If somebody unmounts the file, the other front ends continue.
        interrupts.wait(|| fronts.servers.is_empty() && !fronts.is_mounted());
        fronts.stop(&mut interrupts);
    });
    let stopped = serving.stop();
    served.and(stopped)
}

fn allowed(text: &str, allow_remote: bool) -> Result<Address, CliError> {
    let address: Address = text.parse()?;
    if address.is_local() || allow_remote {
        return Ok(address);
    }
    Err(ServeError::Remote { address: text.to_owned() }.into())
}

/// What other machines can do.
fn exposure(args: &ServeArgs) -> String {
    let who = match (&args.tls.tls_ca, args.companions.allow().is_empty()) {
        (Some(_), _) if args.tls.is_required() => "every machine with a certificate",
        (_, false) => "every machine in --allow",
        (_, true) => "every machine that reaches this port",
    };
    let how =
        if args.tls.is_required() { "encrypted" } else { "and anybody on the way can follow it" };
    format!("warning: {who} can read and overwrite the drive, {how}\n")
}

/// The running front ends.
struct Fronts {
    servers: Vec<Server>,
    mount: Option<FuseMount>,
}

impl Fronts {
    fn start(
        args: &ServeArgs,
        addresses: &[Address],
        nvme: Option<&Address>,
        options: &ServerOptions,
        serving: &Serving,
    ) -> Result<Self, CliError> {
        let mut fronts = Self { servers: Vec::new(), mount: None };
        for address in addresses {
            let report = Box::new(|text| say(&format!("nbd: {text}\n")));
            let protocol = Arc::new(Nbd::new(serving.store(), export(&args.file)));
            let server = Server::start(address, protocol, options.clone(), report)?;
            let uri = nbd::uri(server.address());
            let uri = if args.tls.is_required() { uri.replacen("nbd", "nbds", 1) } else { uri };
            say(&format!("NBD at {uri}\n"));
            if !address.is_local() {
                say(&exposure(args));
            }
            fronts.servers.push(server);
        }
        if let Some(address) = nvme {
            fronts.servers.push(args.nvme.start(address, options, serving)?);
        }
        if let Some(directory) = &args.fuse {
            let threads = usize::from(args.fuse_threads);
            let mount = serving.show(directory, threads)?;
            say(&format!("the drive is the file {}\n", mount.file().display()));
            fronts.mount = Some(mount);
        }
        Ok(fronts)
    }

    fn is_mounted(&self) -> bool {
        self.mount.as_ref().is_some_and(FuseMount::is_mounted)
    }

    fn stop(self, interrupts: &mut Interrupts) {
        drop(self.servers);
        if let Some(mount) = self.mount {
            stop_fuse(mount, interrupts);
        }
    }
}

/// Unmounts the file; waits until it is closed.
pub(crate) fn stop_fuse(mount: FuseMount, interrupts: &mut Interrupts) {
    let name = mount.file().display().to_string();
    let force = || mount.detach();
    interrupts.insist(&name, || mount.unmount(), force);
    mount.join();
}

/// The drive as clients see it.
fn export(file: &Path) -> Export {
    let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
    Export { description: format!("ftlab drive {name}"), name }
}
