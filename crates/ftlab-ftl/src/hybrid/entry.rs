//! How an FTL that is no policy of the page-mapped engine presents itself.

use crate::Observer;
use crate::engine::Engine;
use crate::ftl::DynFtl;
use crate::page::{ConfigError, DriveConfig};
use ftlab_flash::Flash;
use ftlab_spec::Parameters;

/// A whole FTL that can be registered: no policy of the page-mapped engine.
pub trait FtlEntry: Sized + 'static {
    /// What its spec may set.
    type Parameters: Parameters;
    /// Its name in commands, files and figures.
    const NAME: &'static str;
    /// One line for lists.
    const SUMMARY: &'static str;
    /// Paper and section.
    const SOURCE: &'static str;
    /// What carries out its decisions.
    const ENGINE: Engine = Engine::Hybrid;
    /// The version of its decisions, from 1: raised when it decides otherwise than before. A test of
    /// `ftlab-sim` over golden counters asks for it.
    const DECISIONS: u32 = 1;

    /// Makes one for the given drive, or tells why that is too small.
    fn build<F: Flash + Send + 'static, O: Observer + 'static>(
        parameters: &Self::Parameters,
        config: DriveConfig,
        flash: F,
        observer: O,
    ) -> Result<DynFtl<F, O>, ConfigError>;
}
