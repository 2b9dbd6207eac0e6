//! Chips and drives whose times are known.

use crate::parameters::TimingParameters;
use ftlab_spec::{Parameter, Parameters, Spec};

/// A chip or drive whose times are known.
#[derive(Debug, Clone, Copy)]
pub struct TimingPreset {
    /// What `--timing` takes.
    pub name: &'static str,
    /// One line.
    pub summary: &'static str,
    /// Where its times come from.
    pub source: &'static str,
    arguments: &'static str,
    /// What it gives instead with page-types=each and one-shot, as far as the source says.
    pub(crate) of_each: &'static str,
}

/// Every preset. Cells of more than one bit have slow and fast pages; by default we take the mean.
pub const TIMINGS: [TimingPreset; 6] = [
    TimingPreset {
        name: "slc",
        summary: "an SLC chip of 2010: 25 us to read, 200 us to program, 1.5 ms to erase a block of 64 pages",
        source: "FASTer (SNAPI 2010), table I; pages of a block: section V",
        arguments: "block-pages=64",
        of_each: "",
    },
    TimingPreset {
        name: "mlc",
        summary: "Micron L95B MLC: 56 us (48 and 64 by page type), 1,575 us (850 and 2,300), 3 ms",
        source: "FEMU, nand.h, as profiled there; 512 pages a block as its tables of page types",
        arguments: "read-us=56,program-us=1575,erase-us=3000,transfer-us=52.433,block-pages=512",
        of_each: "read-us=48/64,program-us=850/2300",
    },
    TimingPreset {
        name: "tlc",
        summary: "planar TLC: 80 us (56.5, 77.5 and 106 by page type), 2,926.5 us (820.5, 2,225 and \
                  5,734), 3 ms",
        source: "FEMU, nand.h, after SimpleSSD (IEEE CAL 2018); 512 pages a block as its tables of page types",
        arguments: "read-us=80,program-us=2926.5,erase-us=3000,transfer-us=52.433,block-pages=512",
        of_each: "read-us=56.5/77.5/106,program-us=820.5/2225/5734",
    },
    TimingPreset {
        name: "qlc",
        summary: "QLC: 110.344 us (59.325, 85.25, 127.2 and 169.6 by page type), 4,841.056 us (861.525, \
                  2,447.5, 6,880.8 and 9,174.4), 3 ms",
        source: "FEMU, nand.h, extrapolated there from TLC after Micron (FMS 2019); 512 pages a block as its \
                 tables of page types",
        arguments: "read-us=110.344,program-us=4841.056,erase-us=3000,transfer-us=52.433,block-pages=512",
        of_each: "read-us=59.325/85.25/127.2/169.6,\
                  program-us=861.525/2447.5/6880.8/9174.4",
    },
    TimingPreset {
        name: "femu",
        summary: "FEMU's black-box SSD as it comes: 40 us, 200 us, 2 ms, 8 channels x 8 LUNs, \
                  256 pages a block",
        source: "FEMU (FAST 2018), defaults of bbssd (pgs_per_blk)",
        arguments: "read-us=40,program-us=200,erase-us=2000,channels=8,luns=8,block-pages=256",
        of_each: "",
    },
    TimingPreset {
        name: "enterprise",
        summary: "an NVMe drive for data centres, 64 KiB pages of 3D TLC: 40.95 us, 637.88 us (a third \
                  of a one-shot program), 3.5 ms, 800 MB/s on each of 8 channels x 16 LUNs, \
                  1,536 pages a block",
        source: "NVMeVirt (FAST 2023), SK hynix ZNS prototype, whose zone of 96 MB is a block of one die; erase: \
                 AERO (ASPLOS 2024), abstract",
        arguments: "read-us=40.95,program-us=637.88,erase-us=3500,transfer-us=81.92,channels=8,luns=16,block-pages=1536",
        of_each: "program-us=637.88/637.88/637.88",
    },
];

impl TimingPreset {
    /// The parameters with the values that the preset gives them.
    pub fn parameters(&self) -> Vec<Parameter> {
        let preset = self.spec();
        let mut parameters = TimingParameters::describe();
        for parameter in &mut parameters {
            if let Some(value) = preset.get(parameter.name) {
                value.clone_into(&mut parameter.default);
                parameter.source = self.source;
            }
        }
        parameters
    }

    pub(crate) fn spec(&self) -> Spec {
        self.with(self.arguments)
    }

    pub(crate) fn with(&self, arguments: &str) -> Spec {
        let text = match arguments {
            "" => self.name.to_owned(),
            arguments => format!("{}:{arguments}", self.name),
        };
        text.parse().expect("a preset of ours")
    }
}
