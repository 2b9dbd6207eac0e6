"use strict";
// The flash at the times that were observed, and the slider that chooses one.

ftlab.FREE = 254;
ftlab.RETIRED = 255;

/** Frames with bytes instead of base64 texts. */
ftlab.decode = (run) => {
  if (!run.flash) return;
  for (const frame of run.flash.frames) {
    for (const name of ["region", "valid", "cold", "cold_percentiles"]) frame[name] = ftlab.bytes(frame[name]);
  }
};

/** The frame of a run that is nearest to a number of host writes. */
ftlab.frameAt = (run, hostWrites) => {
  const distance = (frame) => Math.abs(frame.host_writes - hostWrites);
  return run.flash.frames.reduce((best, frame) => (distance(frame) < distance(best) ? frame : best));
};

ftlab.afterWrites = (hostWrites) => {
  if (hostWrites === 0) return "at the beginning";
  return `after ${ftlab.drives(hostWrites / ftlab.data.logical_pages)}`;
};

// Colours of regions, those of cold streams first.
ftlab.regionColours = {
  cold: ["#3b82c4", "#2a9aa0", "#7a6fd0", "#5a9bd0"],
  other: ["#8a8578", "#b0529a", "#3f9b6c", "#a8622c", "#7a8f2a", "#c0504d", "#6a6fa8", "#4d9aa0"],
};

/** The colour of a stream: blue and its neighbours for cold ones, grey and others for the rest. */
ftlab.streamColour = (run, stream) => {
  const isCold = run.streams[stream].cold;
  const alike = run.streams.map((_, index) => index).filter((index) => run.streams[index].cold === isCold);
  const colours = isCold ? ftlab.regionColours.cold : ftlab.regionColours.other;
  const place = alike.indexOf(stream);
  return colours[place] ?? `hsl(${(47 * place) % 360} 42% 52%)`;
};

/** The names of a run's streams with their colours. */
ftlab.streamKeys = (run) => {
  const items = run.streams.map((stream, index) =>
    ftlab.element("li", {}, ftlab.swatch(ftlab.streamColour(run, index)), stream.cold && stream.name !== "cold" ? `${stream.name} (cold)` : stream.name),
  );
  return ftlab.element("ul", { class: "keys", "aria-label": "Regions" }, ...items);
};

/** The slider and its button: `ftlab.moment` is the host writes chosen. */
ftlab.setUpMoments = () => {
  const slider = document.getElementById("moment");
  if (!slider) return;
  const watched = ftlab.runs.filter((run) => run.flash);
  watched.forEach(ftlab.decode);
  const longest = watched.reduce((a, b) => (b.flash.frames.length > a.flash.frames.length ? b : a));
  const moments = longest.flash.frames.map((frame) => frame.host_writes);
  const play = document.getElementById("play");
  let timer = null;
  const stop = () => {
    clearInterval(timer);
    timer = null;
    play.textContent = "Play";
  };
  const show = () => {
    ftlab.moment = moments[slider.value];
    const text = ftlab.afterWrites(ftlab.moment);
    slider.setAttribute("aria-valuetext", text);
    document.getElementById("now").textContent = text;
    document.querySelectorAll(".now").forEach((place) => (place.textContent = text));
    ftlab.showMoment();
  };
  slider.max = moments.length - 1;
  slider.value = moments.length - 1;
  slider.addEventListener("input", () => {
    stop();
    show();
  });
  play.addEventListener("click", () => {
    if (timer) return stop();
    if (Number(slider.value) === moments.length - 1) slider.value = 0;
    play.textContent = "Pause";
    show();
    timer = setInterval(() => {
      slider.value = Number(slider.value) + 1;
      show();
      if (Number(slider.value) === moments.length - 1) stop();
    }, 160);
  });
  ftlab.moment = moments[slider.value];
  ftlab.drawings.push(show);
};
