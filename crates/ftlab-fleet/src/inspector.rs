//! What is in every volume, found out by several threads and kept.

use crate::volume::Volume;
use ftlab_experiments::{ExperimentsError, Kept, lock, parallel, when_it_fits};
use ftlab_sim::format::bytes;
use ftlab_sim::{MemoryShare, RunIdentity, SLACK_BYTES, SimError};
use ftlab_volumes::{Facts, Reach};
use std::path::Path;
use std::sync::Mutex;
use twox_hash::XxHash3_128;

/// The name of the file of what is known of volumes.
pub(crate) const FACTS: &str = "volumes.jsonl";

/// What finds out about all volumes.
pub(crate) struct Inspector<'a> {
    pub(crate) parts: &'a Path,
    pub(crate) directory: &'a Path,
    pub(crate) page_bytes: u32,
    pub(crate) threads: usize,
}

impl Inspector<'_> {
    /// Looks at every volume, several at a time; what is known is not found out again. Of a volume that cannot be
    /// looked at, why.
    pub(crate) fn run(
        &self,
        volumes: &[Volume],
        on_volume: &(dyn Fn(usize) + Sync),
    ) -> Result<Vec<Result<Facts, String>>, ExperimentsError> {
        let store = Mutex::new(Kept::<String, Facts>::open(self.directory, FACTS)?);
        let done = Mutex::new(0);
        let found = parallel(self.threads, volumes, |volume| {
            let facts = self.look(volume, &store);
            *lock(&done) += 1;
            on_volume(*lock(&done));
            facts
        });
        found.into_iter().collect()
    }

    fn look(
        &self,
        volume: &Volume,
        store: &Mutex<Kept<String, Facts>>,
    ) -> Result<Result<Facts, String>, ExperimentsError> {
        let identity = self.identity(volume);
        if let Some(facts) = lock(store).get(&identity) {
            return Ok(Ok(facts));
        }
        match when_it_fits(|| false, || self.facts(volume)) {
            Ok(facts) => {
                lock(store).put(&identity, &volume.name, &facts)?;
                Ok(Ok(facts))
            }
            Err(SimError::Memory { needed_bytes, available_bytes, .. }) => Ok(Err(format!(
                "looking at it takes {} of memory, and it may have {}; raise --memory",
                bytes(needed_bytes),
                bytes(available_bytes)
            ))),
            Err(error) => Ok(Err(error.to_string())),
        }
    }

    fn identity(&self, volume: &Volume) -> RunIdentity {
        let text = format!("facts 1 {} {}", volume.hash, self.page_bytes);
        RunIdentity {
            hash: format!("{:032x}", XxHash3_128::oneshot(text.as_bytes())),
            versions: format!("traces {}", ftlab_trace::format::VERSION),
        }
    }

    fn facts(&self, volume: &Volume) -> Result<Facts, SimError> {
        let reach = Reach {
            requests: volume.requests,
            sectors: volume.sectors,
            end_sector: volume.end_sector,
        };
        let [histories, touched] = reach.bytes_max(self.page_bytes);
        let memory =
            MemoryShare::new(histories.saturating_add(touched).saturating_add(SLACK_BYTES))?;
        let mut source = volume.open(self.parts, false);
        let facts = Facts::of(&mut source, self.page_bytes, histories)?;
        drop(memory);
        Ok(facts)
    }
}
