"use strict";
// The steps of each FTL as they were recorded, the drive that they lead to, and a sentence for each.
//
//   ["r", page]                                     the host is about to write a page
//   ["w", page, to, stream]                         it is programmed
//   ["t", page]                                     the host trims a page
//   ["c", [[block, valid, score], ...], [victims]]  victims are chosen
//   ["v", block, valid]                             the next of several victims
//   ["m", page, from, to, stream]                   a valid page is moved
//   ["e", block]                                    a block is erased

{
  const { blocks, pages_per_block: perBlock, logical_pages: logicalPages } = ftlab.data;
  const blockOf = (place) => Math.floor(place / perBlock);
  const pages = (count) => `${count} page${count === 1 ? "" : "s"}`;
  const listed = (items) => (items.length < 2 ? items.join("") : `${items.slice(0, -1).join(", ")} and ${items.at(-1)}`);

  ftlab.blockOf = blockOf;

  /** An erased drive. */
  ftlab.emptyDrive = () => ({
    // Of each flash page: the logical page that it was programmed with, or null.
    owner: Array(blocks * perBlock).fill(null),
    // Of each logical page: where its newest version is.
    mapping: new Map(),
    // Of each block: how many of its pages are programmed, and the stream that they belong to.
    programmed: Array(blocks).fill(0),
    stream: Array(blocks).fill(null),
    victims: [],
    choice: null,
    request: null,
    count: { writes: 0, moves: 0, erases: 0 },
    // What the last step touched.
    touched: {},
  });

  ftlab.validIn = (drive, block) => {
    let valid = 0;
    for (let place = block * perBlock; place < (block + 1) * perBlock; place += 1) valid += ftlab.isValid(drive, place);
    return valid;
  };
  ftlab.isValid = (drive, place) => drive.owner[place] !== null && drive.mapping.get(drive.owner[place]) === place;
  ftlab.freeBlocks = (drive) => drive.programmed.filter((count) => count === 0).length;

  const program = (drive, page, to, stream) => {
    const block = blockOf(to);
    drive.owner[to] = page;
    drive.mapping.set(page, to);
    drive.programmed[block] += 1;
    drive.stream[block] = stream;
  };

  /** What a page comes into: the stream, if there are several, and whether the block begins or ends with it. */
  const into = (run, drive, to, stream) => {
    const block = blockOf(to);
    const named = run.streams.length > 1 ? ` (stream ${run.streams[stream].name})` : "";
    const count = drive.programmed[block];
    const note = count === 1 ? ", which is opened for it" : count === perBlock ? ", which is full now" : "";
    return `block ${block}${named}${note}`;
  };

  const chosen = (drive, candidates, victims) => {
    const valid = (block) => candidates.find((candidate) => candidate[0] === block)[1];
    if (victims.length === 1) {
      const [block] = victims;
      const left = valid(block);
      const rest = left === 0 ? "no page is valid in it" : `${left} of ${pages(perBlock)} ${left === 1 ? "is" : "are"} still valid`;
      return `Block ${block} is the victim: ${rest}.`;
    }
    return `Blocks ${listed(victims)} are the victims: ${listed(victims.map(valid))} of ${pages(perBlock)} are still valid.`;
  };

  const steps = {
    r: (run, drive, page) => {
      drive.request = page;
      return "";
    },
    w: (run, drive, page, to, stream) => {
      const old = drive.mapping.get(page);
      program(drive, page, to, stream);
      drive.request = null;
      drive.count.writes += 1;
      drive.touched = { to, from: old, block: blockOf(to) };
      const before = old === undefined ? "" : `; its old version in block ${blockOf(old)} becomes invalid`;
      return `Page ${page} is written to ${into(run, drive, to, stream)}${before}.`;
    },
    t: (run, drive, page) => {
      const old = drive.mapping.get(page);
      drive.mapping.delete(page);
      drive.touched = { from: old, block: blockOf(old) };
      return `The host trims page ${page}: its version in block ${blockOf(old)} becomes invalid.`;
    },
    c: (run, drive, candidates, victims) => {
      drive.choice = { candidates, victims, write: drive.count.writes + (drive.request === null ? 0 : 1) };
      drive.victims = [...victims];
      drive.touched = {};
      const free = ftlab.freeBlocks(drive);
      const why =
        drive.request === null
          ? "The FTL collects of its own accord. "
          : `Page ${drive.request} needs a block, and the ${free === 1 ? "only free one is" : `${free} free ones are`} kept in reserve. `;
      return why + chosen(drive, candidates, victims);
    },
    v: (run, drive, block, valid) => {
      drive.touched = { block };
      return `Block ${block} is the next victim: ${valid} of ${pages(perBlock)} ${valid === 1 ? "is" : "are"} still valid.`;
    },
    m: (run, drive, page, from, to, stream) => {
      program(drive, page, to, stream);
      drive.count.moves += 1;
      drive.touched = { to, from, block: blockOf(to) };
      const vain = page === drive.request ? " In vain: the host is about to overwrite it." : "";
      return `Page ${page} is still valid: it is moved from block ${blockOf(from)} to ${into(run, drive, to, stream)}.${vain}`;
    },
    e: (run, drive, block) => {
      const invalid = drive.programmed[block];
      drive.owner.fill(null, block * perBlock, (block + 1) * perBlock);
      drive.programmed[block] = 0;
      drive.stream[block] = null;
      drive.victims = drive.victims.filter((victim) => victim !== block);
      drive.count.erases += 1;
      drive.touched = { erased: block };
      return `Block ${block} is erased: ${pages(invalid)} can be programmed again.`;
    },
  };

  /** Changes the drive as a step says, and returns the sentence for it. */
  ftlab.take = (run, drive, [kind, ...values]) => steps[kind](run, drive, ...values);

  /** The drive after the first `count` steps past the fill, and the sentence for the last one. */
  ftlab.driveAfter = (run, count) => {
    const drive = ftlab.emptyDrive();
    let sentence = "";
    for (let index = 0; index < run.fill + count; index += 1) {
      if (index === run.fill) begin(drive);
      sentence = ftlab.take(run, drive, run.steps[index]);
    }
    if (count > 0) return { drive, sentence };
    begin(drive);
    const held = drive.mapping.size === logicalPages ? "every logical page is valid" : `${pages(drive.mapping.size)} valid`;
    return { drive, sentence: drive.mapping.size === 0 ? "The drive is empty." : `The drive is full: ${held}, none is invalid.` };
  };

  /** What came before is not counted. */
  const begin = (drive) => {
    drive.count = { writes: 0, moves: 0, erases: 0 };
    drive.choice = null;
    drive.touched = {};
  };

  // Operations of the host: for each FTL, the index of its first step and how many are shown. A request
  // is shown by what follows.
  const operationsOf = (run) => {
    const operations = [];
    for (let index = run.fill; index < run.steps.length; index += 1) {
      const [kind] = run.steps[index];
      if (kind === "r" || kind === "t") operations.push({ first: index - run.fill, count: 0, skipped: kind === "r" ? 1 : 0 });
      if (kind !== "r") operations.at(-1).count += 1;
    }
    return operations;
  };
  for (const run of ftlab.runs) run.operations = operationsOf(run);

  // Every position of the slider but the first: an operation, and a step of it. An FTL that has fewer
  // steps waits for the others.
  ftlab.positions = ftlab.runs[0].operations.flatMap((_, operation) => {
    const most = Math.max(...ftlab.runs.map((run) => run.operations[operation].count));
    return Array.from({ length: most }, (__, step) => ({ operation, step: step + 1, of: most }));
  });

  /** How many steps of a run have been taken at a position, and whether it waits for the others. */
  ftlab.stepsAt = (run, position) => {
    if (position === 0) return { count: 0, waits: false };
    const { operation, step } = ftlab.positions[position - 1];
    const { first, count, skipped } = run.operations[operation];
    return { count: first + skipped + Math.min(step, count), waits: step > count };
  };

  /** Whether victims are chosen at a position. */
  ftlab.isChoice = (position) =>
    ftlab.runs.some((run) => {
      const { count, waits } = ftlab.stepsAt(run, position);
      return count > 0 && !waits && run.steps[run.fill + count - 1][0] === "c";
    });

  // Pages that the host writes at least three times, and more than twice as often as the mean page.
  const writes = Array(logicalPages).fill(0);
  const requests = ftlab.runs[0].steps.slice(ftlab.runs[0].fill).filter(([kind]) => kind === "r");
  for (const [, page] of requests) writes[page] += 1;
  ftlab.isOften = (page) => writes[page] >= 3 && writes[page] > (2 * requests.length) / logicalPages;
  ftlab.requests = requests.length;
}
