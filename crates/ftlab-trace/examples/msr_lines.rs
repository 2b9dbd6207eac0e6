//! Writes lines as the MSR Cambridge traces have them to standard output, about as many bytes as asked
//! for: to see that traces larger than memory are streamed.
//!
//! `cargo run --release -p ftlab-trace --example msr_lines -- 20GB | ftlab convert - out.parquet`

use ftlab_spec::ByteSize;
use std::io::{self, BufWriter, Write};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let size: ByteSize = std::env::args().nth(1).ok_or("how much? try 1GB")?.parse()?;
    let mut out = BufWriter::with_capacity(1 << 20, io::stdout().lock());
    let (mut written, mut number) = (0u64, 0u64);
    let mut line = Vec::new();
    while written < size.0 {
        let page = number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
        let time = 128_166_400_000_000_000 + number * 7919;
        line.clear();
        writeln!(line, "{time},prn,1,Write,{},4096,{}", page * 4096, number % 90_000)?;
        out.write_all(&line)?;
        written += line.len() as u64;
        number += 1;
    }
    Ok(out.flush()?)
}
