"use strict";
// The player: which step is shown.

{
  const find = (id) => document.getElementById(id);
  const [slider, place, play, speed] = ["position", "place", "play", "speed"].map(find);
  const last = ftlab.positions.length;
  let position = 0;
  let timer = null;

  const describe = () => {
    if (position === 0) return "at the start";
    const { operation, step, of } = ftlab.positions[position - 1];
    const writes = ftlab.runs[0].operations.slice(0, operation + 1).filter(({ skipped }) => skipped > 0).length;
    return `host write ${writes} of ${ftlab.requests}${of > 1 ? `, step ${step} of ${of}` : ""}`;
  };

  /** Shows a position; pages slide to it for `milliseconds`, if at all. */
  const show = (wanted, milliseconds = 0) => {
    position = Math.min(last, Math.max(0, wanted));
    slider.value = position;
    const text = describe();
    slider.setAttribute("aria-valuetext", text);
    place.textContent = text;
    ftlab.runs.forEach((run) => run.show(position, milliseconds));
    if (position === last) pause();
  };

  const interval = () => 1000 / Number(speed.value);
  const tick = () => show(position + 1, Math.min(350, 0.7 * interval()));

  const showPlaying = () => {
    const isPlaying = timer !== null;
    play.classList.toggle("is-playing", isPlaying);
    play.querySelector(".word").textContent = isPlaying ? "Pause" : "Play";
    // A screen reader could not keep up.
    ftlab.runs.forEach((run) => run.says.setAttribute("aria-live", isPlaying ? "off" : "polite"));
  };
  const pause = () => {
    clearInterval(timer);
    timer = null;
    showPlaying();
  };
  const start = () => {
    clearInterval(timer);
    if (position === last) show(0);
    timer = setInterval(tick, interval());
    showPlaying();
  };
  const toggle = () => (timer === null ? start() : pause());
  const go = (wanted, milliseconds) => {
    pause();
    show(wanted, milliseconds);
  };
  const choiceFrom = (from, by) => {
    let at = from + by;
    while (at > 0 && at < last && !ftlab.isChoice(at)) at += by;
    return at;
  };

  const actions = {
    first: () => go(0),
    back: () => go(position - 1),
    play: toggle,
    forward: () => go(position + 1, 350),
    "next-victim": () => go(choiceFrom(position, 1)),
  };
  for (const [id, action] of Object.entries(actions)) find(id).addEventListener("click", action);
  slider.max = last;
  slider.addEventListener("input", () => go(Number(slider.value)));
  speed.addEventListener("change", () => timer !== null && start());

  const keys = {
    " ": toggle,
    ArrowRight: actions.forward,
    ArrowLeft: actions.back,
    Home: actions.first,
    End: () => go(last),
    n: actions["next-victim"],
    p: () => go(choiceFrom(position, -1)),
  };
  document.addEventListener("keydown", (event) => {
    const action = keys[event.key.length === 1 ? event.key.toLowerCase() : event.key];
    if (!action || event.ctrlKey || event.metaKey || event.altKey) return;
    // These have keys of their own.
    const choice = event.target.closest(".choice");
    const scrolls = choice !== null && choice.scrollWidth > choice.clientWidth && event.key.startsWith("Arrow");
    if (scrolls || event.target.closest("select") || (event.key === " " && event.target.closest("button, summary"))) return;
    event.preventDefault();
    action();
  });

  find("ftls").append(...ftlab.runs.map(ftlab.stage));
  find("ftls").classList.add(`ftls-${ftlab.runs.length}`);
  // Numbers of three digits need wider cells.
  find("ftls").classList.toggle("long-numbers", ftlab.data.logical_pages > 100);
  show(0);
  ftlab.setUpTheme();
}
