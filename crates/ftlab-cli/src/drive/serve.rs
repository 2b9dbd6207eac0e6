//! `ftlab drive serve`.

use super::serving::{CompanionArgs, Interrupts, Serving};
use crate::error::CliError;
use crate::output::say;
use clap::Args;
use ftlab_device::nbd::{Address, Export, Server};
use ftlab_device::{FuseMount, ServeError};
use std::path::{Path, PathBuf};

/// Serves a drive as a block device until Ctrl-C: over NBD, as a file, or both.
///
/// Flushed data survives any crash of this process or of the machine. losetup turns the FUSE file
/// into a block device; `ftlab drive mount` does all of this.
#[derive(Debug, Args)]
pub(crate) struct ServeArgs {
    /// The drive.
    file: PathBuf,
    /// Serves NBD at the path of a socket, or at HOST:PORT. May be repeated.
    #[arg(long, value_name = "SOCKET|HOST:PORT")]
    nbd: Vec<String>,
    /// Lets NBD listen on addresses that other machines can reach. Any client can overwrite the
    /// drive.
    #[arg(long, requires = "nbd")]
    allow_remote: bool,
    /// Exposes the drive as the file DIR/drive.
    #[arg(long, value_name = "DIR")]
    fuse: Option<PathBuf>,
    /// Threads that serve the file.
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u8).range(1..))]
    fuse_threads: u8,
    #[command(flatten)]
    companions: CompanionArgs,
}

pub(crate) fn serve(args: &ServeArgs) -> Result<(), CliError> {
    if args.nbd.is_empty() && args.fuse.is_none() {
        let message = "nothing to serve: give --nbd SOCKET, --nbd HOST:PORT or --fuse DIR";
        return Err(CliError::usage(message));
    }
    let addresses = args.nbd.iter().map(|text| allowed(text, args.allow_remote));
    let addresses = addresses.collect::<Result<Vec<_>, _>>()?;
    let mut interrupts = Interrupts::listen()?;
    let serving = Serving::start(&args.file, &args.companions)?;
    let fronts = Fronts::start(args, &addresses, &serving);
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

/// The running front ends.
struct Fronts {
    servers: Vec<Server>,
    mount: Option<FuseMount>,
}

impl Fronts {
    fn start(args: &ServeArgs, addresses: &[Address], serving: &Serving) -> Result<Self, CliError> {
        let mut fronts = Self { servers: Vec::new(), mount: None };
        for address in addresses {
            let report = Box::new(|text| say(&format!("nbd: {text}\n")));
            let server = Server::start(address, export(&args.file), serving.store(), report)?;
            say(&format!("NBD at {}\n", server.address().uri()));
            fronts.servers.push(server);
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
