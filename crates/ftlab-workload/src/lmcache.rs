//! `lmcache`: the keys and values of a language-model server's tokens, kept on a drive, such as LMCache.
//!
//! # Idea
//! What a model computes of a prompt is stored in chunks of equal numbers of tokens, each a few mebibytes, under a hash of
//! all tokens up to its end. Whoever sends a prompt that begins alike reads them instead of computing them again.
//! Chunks are never changed: they are written at once, and deleted when there is no more room.
//!
//! # Rule
//! In a step, one of the conversations takes a turn (`prompts`). Its prompt begins with one of the shared prefixes, drawn by
//! a Zipf distribution when it began, and goes on with all of its turns so far. Every chunk of the prompt is used, and written if it
//! is not there (`chunks`). A chunk at the end that is not full is stored as well (`unfull`), under a hash that no
//! longer fits after the next turn.
//!
//! A chunk is a file, placed after the one allocated last, in pieces if need be (next fit). When it does not fit into the cache, the
//! least recently used ones are deleted and trimmed; likewise those not used for `ttl`.
//!
//! Streams are named: 1 shared prefixes, 2 conversations, 3 chunks that are not full.
//!
//! # Parameters
//! Shares of the drive or the cache, and tokens. `chunk` is what 256 tokens take: 1 MiB to 32 MiB for models of today (8 MiB for
//! Llama 3.2 1B, 32 MiB for Llama 3.1 8B, both with 16 bits a number).
//!
//! # What is simplified
//! Requests come one after the other: there is no time, and what others ask for while a prompt is computed makes no
//! difference. LMCache writes every chunk to the drive, whether it has it in memory or not, so that memory, which saves reads
//! only, is left out. All models have chunks of one size, and nothing is compressed. The file system writes nothing of its own.
//!
//! # Reference
//! LMCache's configuration reference (chunks of 256 tokens, least recently used, unfull chunks saved); Y. Cheng et al.,
//! "LMCache: An Efficient KV Cache Layer for Enterprise-Scale LLM Inference", 2025. Lengths of turns are our choice.

mod chunks;
mod prompts;

use super::generator::{Bounds, End, GeneratorInfo, Make};
use super::requests::{Stepped, Steps};
use super::sequence::PageSequence;
use chunks::Chunks;
use ftlab_spec::{ByteSize, Parameters, Spec, SpecError};
use ftlab_trace::Space;
use ftlab_trace::{RequestBatch, TraceError};
use prompts::{Prompts, Shape};

ftlab_spec::parameters! {
    /// The cache, and what it is asked for.
    pub struct LmCacheParameters {
        /// Share of the drive that the cache may take.
        size: f64 = 0.9, "size" in 0.01..=1.0, from "our choice: room for a file system";
        /// Bytes of a full chunk: 64KiB to 1GiB.
        chunk: ByteSize = ByteSize(8 << 20), "chunk", from "Llama 3.2 1B: 32 KiB for each token";
        /// Tokens of a chunk.
        tokens: u32 = 256, "tokens" in 16..=65_536, from "LMCache";
        /// Whether chunks are stored that are not full.
        unfull: bool = true, "unfull", from "LMCache";
        /// Tokens of a shared prefix on average.
        prefix: f64 = 2048.0, "prefix" in 0.0..=100_000.0, from "our choice";
        /// All shared prefixes, as a multiple of the cache.
        prefixes: f64 = 0.2, "prefixes" in 0.0001..=1000.0, from "our choice";
        /// The exponent of their popularity; 0 is uniform.
        theta: f64 = 0.9, "theta" in 0.0..=10.0, from "our choice";
        /// Tokens that a turn adds on average, question and answer.
        turn: f64 = 512.0, "turn" in 1.0..=100_000.0, from "our choice";
        /// Turns of a conversation on average.
        turns: f64 = 5.0, "turns" in 1.0..=1000.0, from "our choice";
        /// All conversations that go on at a time, as a multiple of the cache.
        conversations: f64 = 1.0, "conversations" in 0.0001..=1000.0, from "our choice";
        /// A chunk is deleted if it has not been used while this many times the size of the cache was written; 0 for
        /// never.
        ttl: f64 = 0.0, "ttl" in 0.0..=1000.0, from "LMCache";
        /// Whether deleted chunks are trimmed.
        trim: bool = true, "trim", from "a file system mounted with discard";
        /// Whether writes name streams.
        streams: bool = true, "streams", from "our choice";
    }
}

pub(super) const GENERATOR: GeneratorInfo = GeneratorInfo {
    name: "lmcache",
    summary: "what a language-model server keeps of its prompts: chunks, shared prefixes, eviction with trims",
    source: "LMCache; lengths of conversations are ours",
    parameters: LmCacheParameters::describe,
    version: 1,
    end: End::Told(|spec| {
        check(&LmCacheParameters::from_spec(spec)?, spec)?;
        Ok(Bounds { has_end: false, drive_bytes: None, writes: true })
    }),
    make: Make::Parameters {
        resolve: LmCacheParameters::resolve,
        build,
        areas: |_, _| Ok(Vec::new()),
    },
};

fn build(spec: &Spec, space: &Space) -> Result<Box<dyn PageSequence>, TraceError> {
    let parameters = LmCacheParameters::from_spec(spec)?;
    check(&parameters, spec)?;
    Ok(Box::new(Stepped::new(LmCache::new(&parameters, space)?)))
}

/// Refuses parameters that are wrong whatever the drive will be.
fn check(parameters: &LmCacheParameters, spec: &Spec) -> Result<(), SpecError> {
    let bad = |key: &str, value: String, expects: &str| {
        let (of, key, expects) = (spec.name.clone(), key.into(), expects.into());
        Err(SpecError::BadValue { of, key, value, expects })
    };
    if (parameters.theta - 1.0).abs() < f64::EPSILON {
        let expects = "possible: 1/(1 - theta) has no value there; use 0.99, and say so";
        return bad("theta", "1".into(), expects);
    }
    if !(1 << 16..=1 << 30).contains(&parameters.chunk.0) {
        return bad("chunk", parameters.chunk.to_string(), "within 64KiB to 1GiB");
    }
    Ok(())
}

/// The smallest cache, in chunks.
const CHUNKS_MIN: f64 = 4.0;

/// Conversations at a time: 40 bytes of memory each.
const CONVERSATIONS_MAX: f64 = 1e8;

/// Conversations, and the chunks of their prompts.
struct LmCache {
    prompts: Prompts,
    chunks: Chunks,
    streams: bool,
}

impl LmCache {
    fn new(parameters: &LmCacheParameters, space: &Space) -> Result<Self, TraceError> {
        if space.logical_pages > u64::from(u32::MAX) {
            return Err(TraceError::Unsupported {
                what: format!("lmcache on a drive of {} pages", space.logical_pages),
                remedy: "give it 2^32 - 1 at most".into(),
            });
        }
        let page_bytes = f64::from(space.page_bytes);
        let pages = (space.logical_pages as f64 * parameters.size) as u32;
        let chunk_pages = parameters.chunk.0 as f64 / page_bytes;
        let capacity = f64::from(pages) / chunk_pages.ceil();
        if capacity < CHUNKS_MIN {
            return Err(TraceError::Unsupported {
                what: format!("lmcache with room for {capacity:.1} chunks of {}", parameters.chunk),
                remedy: format!(
                    "it needs {CHUNKS_MIN}: lower chunk, or raise size or the size of the drive"
                ),
            });
        }
        let tokens = f64::from(parameters.tokens);
        let shape = Shape {
            chunk_tokens: tokens,
            prefix_tokens: parameters.prefix,
            turn_tokens: parameters.turn,
            turns: parameters.turns,
            theta: parameters.theta,
            prefixes: parameters.prefixes * capacity * tokens / parameters.prefix.max(tokens),
            // A conversation that goes on has had half its turns on average, and is longer the longer it lasts.
            conversations: parameters.conversations * capacity * tokens
                / (parameters.turn * parameters.turns).max(tokens),
            unfull: parameters.unfull,
        };
        if shape.conversations > CONVERSATIONS_MAX {
            return Err(TraceError::Unsupported {
                what: format!("lmcache with {:.0} conversations at a time", shape.conversations),
                remedy: format!("{CONVERSATIONS_MAX} are the most: lower conversations"),
            });
        }
        let ttl_pages = (parameters.ttl * f64::from(pages)) as u64;
        Ok(Self {
            prompts: Prompts::new(shape, space.seed),
            chunks: Chunks::new(pages, chunk_pages, space.page_bytes, ttl_pages, parameters.trim),
            streams: parameters.streams,
        })
    }
}

impl Steps for LmCache {
    fn step(&mut self, out: &mut RequestBatch) -> Result<bool, TraceError> {
        for chunk in self.prompts.turn() {
            self.chunks.take(chunk.key, chunk.share, out);
            if self.streams {
                out.stream.resize(out.len(), chunk.kind as u16);
            }
        }
        Ok(true)
    }
}

#[cfg(test)]
mod tests;
