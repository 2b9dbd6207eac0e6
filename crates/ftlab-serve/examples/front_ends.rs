//! Processor time of the servers per request of 4 KiB, over NBD and over NVMe, through small clients of our own: 32 requests
//! at once over one TCP connection to a server of memory. In each round there is a server of either protocol, and slices
//! of a tenth of a second alternate between them, so that what else the machine does meets both alike.
//!
//!     front_ends [ROUNDS [SECONDS]]

use ftlab_drive::Store;
use ftlab_serve::Ram;
use ftlab_serve::nbd::{Export, Nbd};
use ftlab_serve::net::{Address, Protocol, Server, ServerOptions};
use ftlab_serve::nvme::initiator::{Initiator, Request};
use ftlab_serve::nvme::{Subsystem, SubsystemOptions};
use std::error::Error;
use std::fmt::{Display, Formatter};
use std::io::{self, BufRead, BufReader, Read, Write, stdin};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

type Failure = Box<dyn Error>;

const DEPTH: usize = 32;
const BLOCK: usize = 4096;
const BYTES: u64 = 1 << 30;
const SLICE: Duration = Duration::from_millis(100);
const PROTOCOLS: [&str; 2] = ["nbd", "nvme"];
const HOST: &str = "nqn.2014-08.org.nvmexpress:uuid:front-ends";

fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |index: usize, default: u64| -> Result<u64, Failure> {
        arguments.get(index).map_or(Ok(default), |text| text.parse().map_err(Failure::from))
    };
    if let [first, protocol] = arguments.as_slice()
        && first == "serve"
    {
        return serve(protocol);
    }
    let (rounds, span) = (number(0, 5)?, Duration::from_secs(number(1, 4)?));
    println!("{:<6} {:<6} {:>10}    server CPU us per op", "", "", "IOPS");
    for is_write in [true, false] {
        let (mut results, mut ratios) = ([Vec::new(), Vec::new()], Vec::new());
        for _ in 0..rounds {
            let slices = measure_both(is_write, span)?;
            ratios.extend(slices.iter().map(|[nbd, nvme]| nvme.cpu / nbd.cpu));
            for (index, results) in results.iter_mut().enumerate() {
                let of = |what: fn(&Cost) -> f64| {
                    Spread::new(slices.iter().map(|costs| what(&costs[index])).collect()).median
                };
                results.push(Cost { iops: of(|cost| cost.iops), cpu: of(|cost| cost.cpu) });
            }
        }
        for (protocol, results) in PROTOCOLS.into_iter().zip(&results) {
            let name = if is_write { "write" } else { "read" };
            let iops = Spread::new(results.iter().map(|cost| cost.iops).collect()).median;
            let cpu = Spread::new(results.iter().map(|cost| cost.cpu).collect());
            println!("{protocol:<6} {name:<6} {:>8.0} k    {cpu}", iops / 1e3);
        }
        let of_rounds = results[0].iter().zip(&results[1]).map(|(nbd, nvme)| nvme.cpu / nbd.cpu);
        let (of_rounds, pairs) = (Spread::new(of_rounds.collect()), ratios.len());
        let median = Spread::new(ratios).median;
        println!("nvme / nbd: {median:.3} of {pairs} pairs of slices; of rounds {of_rounds}");
    }
    Ok(())
}

/// The middle of some numbers, and the range of them.
struct Spread {
    least: f64,
    median: f64,
    most: f64,
}

impl Spread {
    fn new(mut numbers: Vec<f64>) -> Self {
        numbers.sort_by(f64::total_cmp);
        let at = |index: usize| numbers.get(index).copied().unwrap_or(f64::NAN);
        let last = numbers.len().saturating_sub(1);
        Self { least: at(0), median: at(numbers.len() / 2), most: at(last) }
    }
}

impl Display for Spread {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        let Self { least, median, most } = self;
        write!(f, "{median:.3} ({least:.3}-{most:.3})")
    }
}

/// Serves memory, in a process of its own, until standard input ends.
fn serve(protocol: &str) -> Result<(), Failure> {
    let ram = Arc::new(Ram::new(BYTES));
    // What is read has been written.
    let chunk = vec![7; 1 << 20];
    for offset in (0..BYTES).step_by(chunk.len()) {
        ram.write(offset, &chunk)?;
    }
    let mut name = "-".to_owned();
    let protocol: Arc<dyn Protocol> = if protocol == "nbd" {
        Arc::new(Nbd::new(ram, Export::default()))
    } else {
        let subsystem = Subsystem::new(Arc::clone(&ram) as _, ram, SubsystemOptions::default())?;
        subsystem.nqn().clone_into(&mut name);
        Arc::new(subsystem)
    };
    let report = Box::new(|text| eprintln!("{text}"));
    let server =
        Server::start(&"127.0.0.1:0".parse()?, protocol, ServerOptions::default(), report)?;
    let Address::Tcp(address) = server.address() else { return Err("no TCP".into()) };
    println!("{address} {name}");
    stdin().read_to_end(&mut Vec::new())?;
    Ok(())
}

/// A server in a process of its own.
struct Served {
    child: Child,
    address: String,
    name: String,
}

impl Served {
    fn start(protocol: &str) -> Result<Self, Failure> {
        let mut command = Command::new(std::env::current_exe()?);
        let command = command.args(["serve", protocol]);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let mut line = String::new();
        BufReader::new(child.stdout.take().ok_or("no output")?).read_line(&mut line)?;
        let (address, name) = line.trim().split_once(' ').ok_or("no address")?;
        Ok(Self { address: address.to_owned(), name: name.to_owned(), child })
    }

    /// Seconds of processor time of all of its threads so far, to the nanosecond.
    fn cpu(&self) -> Result<f64, Failure> {
        let mut nanoseconds = 0;
        for thread in std::fs::read_dir(format!("/proc/{}/task", self.child.id()))? {
            let text = std::fs::read_to_string(thread?.path().join("schedstat"))?;
            let on_cpu = text.split_whitespace().next().ok_or("no fields")?;
            nanoseconds += on_cpu.parse::<u64>()?;
        }
        Ok(nanoseconds as f64 / 1e9)
    }

    fn connect(&self) -> io::Result<Both> {
        let stream = TcpStream::connect(&self.address)?;
        stream.set_nodelay(true)?;
        Ok(Both(BufReader::with_capacity(256 << 10, stream)))
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}

/// A stream that is read through a buffer.
struct Both(BufReader<TcpStream>);

impl Read for Both {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.read(buffer)
    }
}

impl Write for Both {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.get_mut().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A client that has a number of requests under way.
trait Client {
    fn submit(&mut self, block: u64, is_write: bool);
    /// Sends what has been submitted.
    fn send(&mut self) -> io::Result<()>;
    fn wait(&mut self) -> io::Result<()>;
    /// Whether more has been received.
    fn has_more(&self) -> bool;
}

/// What a server of one protocol takes.
struct Cost {
    iops: f64,
    /// Microseconds of processor time per request.
    cpu: f64,
}

/// Slices of a server of NBD, each with the next one of a server of NVMe.
fn measure_both(is_write: bool, span: Duration) -> Result<Vec<[Cost; 2]>, Failure> {
    let [nbd, nvme] = [Served::start("nbd")?, Served::start("nvme")?];
    let nbd_client = NbdClient::new(nbd.connect()?)?;
    let mut admin = Initiator::begin(nvme.connect()?, false)?;
    let controller = admin.connect(0, 32, u16::MAX, &nvme.name, HOST)?;
    admin.enable()?;
    let mut queue = Initiator::begin(nvme.connect()?, false)?;
    queue.connect(1, 128, controller, &nvme.name, HOST)?;
    let mut nbd = Load::begin(nbd, nbd_client, is_write)?;
    let mut nvme = Load::begin(nvme, NvmeClient(queue), is_write)?;
    // What is not yet in caches and page tables.
    nbd.slice(span / 8)?;
    nvme.slice(span / 8)?;
    let (mut slices, begin) = (Vec::new(), Instant::now());
    while begin.elapsed() < span {
        slices.push([nbd.slice(SLICE)?, nvme.slice(SLICE)?]);
    }
    Ok(slices)
}

/// A client at work.
struct Load<C> {
    served: Served,
    client: C,
    is_write: bool,
    random: u64,
}

impl<C: Client> Load<C> {
    /// Has as many requests under way as there will be.
    fn begin(served: Served, client: C, is_write: bool) -> io::Result<Self> {
        let mut load = Self { served, client, is_write, random: 1 };
        for _ in 0..DEPTH {
            load.submit();
        }
        load.client.send()?;
        Ok(load)
    }

    fn submit(&mut self) {
        self.random = self.random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        self.client.submit((self.random >> 33) % (BYTES / BLOCK as u64), self.is_write);
    }

    /// Goes on for some time.
    fn slice(&mut self, span: Duration) -> Result<Cost, Failure> {
        let (begin, cpu, mut requests) = (Instant::now(), self.served.cpu()?, 0_u64);
        while begin.elapsed() < span {
            // As hosts do: takes all that is done, and sends as many requests at once.
            loop {
                self.client.wait()?;
                self.submit();
                requests += 1;
                if !self.client.has_more() {
                    break;
                }
            }
            self.client.send()?;
        }
        let requests = requests as f64;
        let iops = requests / begin.elapsed().as_secs_f64();
        Ok(Cost { iops, cpu: (self.served.cpu()? - cpu) * 1e6 / requests })
    }
}

struct NvmeClient(Initiator<Both>);

impl Client for NvmeClient {
    fn submit(&mut self, block: u64, is_write: bool) {
        let request = if is_write {
            let mut data = self.0.spare();
            data.resize(BLOCK, 5);
            Request::write(1, block, 1, data)
        } else {
            Request::read(1, block, 1, BLOCK as u32)
        };
        self.0.submit(request);
    }

    fn send(&mut self) -> io::Result<()> {
        self.0.send()
    }

    fn has_more(&self) -> bool {
        !self.0.stream().0.buffer().is_empty()
    }

    fn wait(&mut self) -> io::Result<()> {
        let done = self.0.receive_done()?;
        if done.status != 0 {
            return Err(io::Error::other(format!("{done:?}")));
        }
        self.0.reuse(done);
        Ok(())
    }
}

/// Requests of NBD, after the handshake without structured replies.
struct NbdClient {
    stream: Both,
    cookie: u64,
    reads: std::collections::HashSet<u64>,
    data: Vec<u8>,
}

impl NbdClient {
    fn new(mut stream: Both) -> io::Result<Self> {
        stream.read_exact(&mut [0; 18])?;
        // Fixed newstyle without zeros, and the option that begins with the export of no name.
        stream.write_all(b"\0\0\0\x03IHAVEOPT\0\0\0\x07\0\0\0\x06\0\0\0\0\0\0")?;
        loop {
            let mut header = [0; 20];
            stream.read_exact(&mut header)?;
            let length = u32::from_be_bytes([header[16], header[17], header[18], header[19]]);
            stream.read_exact(&mut vec![0; length as usize])?;
            if header[12..16] == [0, 0, 0, 1] {
                let reads = std::collections::HashSet::new();
                return Ok(Self { stream, cookie: 0, reads, data: Vec::new() });
            }
        }
    }
}

impl Client for NbdClient {
    fn submit(&mut self, block: u64, is_write: bool) {
        self.cookie += 1;
        self.data.extend_from_slice(&0x2560_9513_u32.to_be_bytes());
        self.data.extend_from_slice(&[0, 0, 0, u8::from(is_write)]);
        self.data.extend_from_slice(&self.cookie.to_be_bytes());
        self.data.extend_from_slice(&(block * BLOCK as u64).to_be_bytes());
        self.data.extend_from_slice(&(BLOCK as u32).to_be_bytes());
        if is_write {
            self.data.resize(self.data.len() + BLOCK, 5);
        } else {
            self.reads.insert(self.cookie);
        }
    }

    fn send(&mut self) -> io::Result<()> {
        self.stream.write_all(&self.data)?;
        self.data.clear();
        Ok(())
    }

    fn has_more(&self) -> bool {
        !self.stream.0.buffer().is_empty()
    }

    fn wait(&mut self) -> io::Result<()> {
        let mut reply = [0; 16];
        self.stream.read_exact(&mut reply)?;
        let cookie = u64::from_be_bytes(*reply.last_chunk().unwrap_or(&[0; 8]));
        if self.reads.remove(&cookie) {
            self.stream.read_exact(&mut [0; BLOCK])?;
        }
        if reply[4..8] == [0; 4] { Ok(()) } else { Err(io::Error::other("a request failed")) }
    }
}
