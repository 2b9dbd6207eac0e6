"use strict";
// The flash at the moments that were watched, and the slider that chooses one.

ftlab.FREE = 254;
ftlab.RETIRED = 255;

/** Frames with bytes instead of texts in base64. */
ftlab.decode = (run) => {
  if (!run.flash) return;
  for (const frame of run.flash.frames) {
    for (const name of ["region", "valid", "cold", "cold_percentiles"]) frame[name] = ftlab.bytes(frame[name]);
  }
};

/** The frame of a run that is nearest to so many host writes. */
ftlab.frameAt = (run, hostWrites) => {
  const distance = (frame) => Math.abs(frame.host_writes - hostWrites);
  return run.flash.frames.reduce((best, frame) => (distance(frame) < distance(best) ? frame : best));
};

ftlab.afterWrites = (hostWrites) => {
  if (hostWrites === 0) return "at the beginning";
  const drives = hostWrites / ftlab.data.logical_pages;
  return `after ${ftlab.digits(drives, 3)} drive writes`;
};

/** Colours of streams: blue for cold ones, warm for the others; shades tell them apart. */
ftlab.streamColour = (run, stream) => {
  if (stream === ftlab.FREE || stream === ftlab.RETIRED) return null;
  const alike = run.streams.map((_, index) => index).filter((index) => run.streams[index].cold === run.streams[stream].cold);
  const share = alike.length > 1 ? alike.indexOf(stream) / (alike.length - 1) : 0;
  return run.streams[stream].cold ? `hsl(${205 + 40 * share} 75% ${44 - 8 * share}%)` : `hsl(${18 + 100 * share} 72% 47%)`;
};

/** The names of a run's streams beside their colours. */
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
