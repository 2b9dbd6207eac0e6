//! Conversations, and the chunks of their prompts.

use crate::parts::seed_of;
use ftlab_random::Ranks;
use ftlab_random::draw_below;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

/// Whose chunk it is, with the number of its stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Prefix = 1,
    Conversation = 2,
    Unfull = 3,
}

#[derive(Debug, Clone, Copy)]
pub(super) struct Chunk {
    /// The hash of all tokens up to its end.
    pub(super) key: u64,
    /// How full it is, above 0 and up to 1.
    pub(super) share: f64,
    pub(super) kind: Kind,
}

/// How prompts come about; lengths and numbers are means.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shape {
    pub(super) chunk_tokens: f64,
    pub(super) prefix_tokens: f64,
    pub(super) turn_tokens: f64,
    pub(super) turns: f64,
    pub(super) theta: f64,
    /// Shared prefixes.
    pub(super) prefixes: f64,
    /// Conversations that go on at a time.
    pub(super) conversations: f64,
    pub(super) unfull: bool,
}

/// A conversation that goes on.
#[derive(Debug, Clone, Copy)]
struct Conversation {
    /// Its prefix, and how many tokens that has.
    prefix: u64,
    prefix_tokens: f64,
    /// Its number, and its tokens with those of the prefix.
    number: u64,
    tokens: f64,
}

/// All conversations.
pub(super) struct Prompts {
    shape: Shape,
    random: Xoshiro256PlusPlus,
    prefixes: Ranks,
    going_on: Vec<Conversation>,
    /// Conversations so far.
    begun: u64,
    seed: u64,
}

impl Prompts {
    pub(super) fn new(shape: Shape, seed: u64) -> Self {
        let mut prompts = Self {
            random: Xoshiro256PlusPlus::seed_from_u64(seed_of(seed, 1)),
            prefixes: Ranks::new(shape.prefixes as u64, shape.theta),
            going_on: Vec::new(),
            begun: 0,
            seed: seed_of(seed, 2),
            shape,
        };
        let conversations = (shape.conversations as usize).max(1);
        prompts.going_on = (0..conversations).map(|_| prompts.begin()).collect();
        prompts
    }

    /// A number of tokens with this mean, one at least: exponential, as `uniform` in 0..1 says.
    fn tokens(mean: f64, uniform: f64) -> f64 {
        (-mean * (1.0 - uniform).ln()).ceil().max(1.0)
    }

    fn uniform(bits: u64) -> f64 {
        (bits >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn begin(&mut self) -> Conversation {
        self.begun += 1;
        let prefix = self.prefixes.draw(&mut self.random);
        // The length belongs to the prefix.
        let uniform = Self::uniform(seed_of(self.seed, prefix));
        let prefix_tokens = match self.shape.prefix_tokens {
            0.0 => 0.0,
            mean => Self::tokens(mean, uniform),
        };
        Conversation { prefix, prefix_tokens, number: self.begun, tokens: prefix_tokens }
    }

    /// The chunks of the prompt of the next turn, with the turn itself.
    pub(super) fn turn(&mut self) -> Vec<Chunk> {
        let index = draw_below(&mut self.random, self.going_on.len() as u64) as usize;
        let added = Self::tokens(self.shape.turn_tokens, Self::uniform(self.random.next_u64()));
        let is_last = Self::uniform(self.random.next_u64()) * self.shape.turns < 1.0;
        self.going_on[index].tokens += added;
        let conversation = self.going_on[index];
        if is_last {
            self.going_on[index] = self.begin();
        }
        self.chunks(&conversation)
    }

    /// The chunks of all tokens of a conversation so far.
    fn chunks(&self, conversation: &Conversation) -> Vec<Chunk> {
        let Conversation { prefix, prefix_tokens, number, tokens } = *conversation;
        let per_chunk = self.shape.chunk_tokens;
        // A chunk of both prefix and conversation is one of the conversation.
        let (shared, full) = ((prefix_tokens / per_chunk) as u64, (tokens / per_chunk) as u64);
        let (of_prefix, of_conversation) =
            (seed_of(self.seed, 2 * prefix), seed_of(self.seed, 2 * number + 1));
        let mut chunks: Vec<Chunk> = (0..full)
            .map(|index| {
                let (of, kind) = if index < shared {
                    (of_prefix, Kind::Prefix)
                } else {
                    (of_conversation, Kind::Conversation)
                };
                Chunk { key: seed_of(of, index), share: 1.0, kind }
            })
            .collect();
        let rest = tokens - full as f64 * per_chunk;
        if self.shape.unfull && rest > 0.0 {
            // Another hash for each number of tokens.
            let key = seed_of(seed_of(of_conversation, full), rest as u64);
            chunks.push(Chunk { key, share: rest / per_chunk, kind: Kind::Unfull });
        }
        chunks
    }
}
