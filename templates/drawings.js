"use strict";
// Banks that can be chosen and wavefronts that can be played, in all drawings below an element.
globalThis.drawings = (from) => {
  const all = (selector, root = from) => [...root.querySelectorAll(selector)];
  const make = (tag, fields = {}) => Object.assign(document.createElement(tag), fields);

  // The marked bank of an array.
  for (const map of all(".map")) {
    const strips = map.querySelector(".strips");
    if (!strips) continue;
    const banks = Number(strips.style.getPropertyValue("--n"));
    const range = make("input", { type: "range", min: 0, max: banks - 1, value: 0 });
    range.setAttribute("aria-label", "Marked bank");
    range.addEventListener("input", () => {
      strips.style.setProperty("--bank", range.value);
      map.querySelector("output").value = range.value;
    });
    map.querySelector(".pick").replaceWith(range);
  }

  // Players: the wavefronts of a request, one after the other. Step 0 shows all.
  const players = new Map();
  const player = (drawing) => {
    const steps = Number(drawing.dataset.steps);
    const waves = all(".w", drawing);
    const bar = make("div", { className: "player" });
    bar.setAttribute("role", "group");
    bar.setAttribute("aria-label", "Player of wavefronts");
    const button = (label, content, act) => {
      const it = make("button", { type: "button", textContent: content });
      it.setAttribute("aria-label", label);
      it.addEventListener("click", act);
      bar.append(it);
      return it;
    };
    let at = 0, timer = 0;
    const pause = () => { clearInterval(timer); timer = 0; play.textContent = "Play"; play.setAttribute("aria-label", "Play"); };
    const show = (step) => {
      at = Math.max(0, Math.min(steps, step));
      drawing.classList.toggle("playing", at > 0);
      for (const wave of waves) {
        const own = Number(wave.dataset.w);
        wave.classList.toggle("now", own === at);
        wave.classList.toggle("done", own < at);
      }
      range.value = at;
      range.setAttribute("aria-valuetext", at ? "wavefront " + at + " of " + steps : "all wavefronts");
      const sides = all(".panel", drawing).map((panel) => {
        const titles = all(".w.now title", panel).map((it) => it.textContent);
        const caption = panel.querySelector("b").textContent;
        return caption + ": " + (titles.length ? titles.join("; ") : "done");
      });
      told.value = at ? sides.join("\n") : "";
    };
    const go = (step) => { pause(); show(step); };
    const start = () => {
      if (timer) return pause();
      show(at >= steps ? 1 : at + 1);
      play.textContent = "Pause";
      play.setAttribute("aria-label", "Pause");
      timer = setInterval(() => { if (at >= steps) pause(); else show(at + 1); }, 350);
    };
    button("Previous wavefront", "‹", () => go(at - 1));
    const play = button("Play", "Play", start);
    play.className = "play";
    button("Next wavefront", "›", () => go(at + 1));
    const range = make("input", { type: "range", min: 0, max: steps, value: 0 });
    range.setAttribute("aria-label", "Wavefront");
    range.addEventListener("input", () => go(Number(range.value)));
    const told = make("output");
    told.setAttribute("aria-live", "polite");
    bar.append(range, told);
    bar.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      const keys = { ArrowLeft: () => go(at - 1), ArrowRight: () => go(at + 1), Home: () => go(0), End: () => go(steps), " ": start };
      const act = keys[event.key];
      if (!act) return;
      event.preventDefault();
      act();
    });
    drawing.querySelector(".panels").before(bar);
    players.set(drawing, bar);
    show(0);
  };
  // Built when they are first seen.
  for (const shot of all(".shot")) {
    shot.addEventListener("toggle", () => {
      if (!shot.open) return;
      for (const drawing of all(".drawing", shot)) if (!players.has(drawing) && Number(drawing.dataset.steps) > 0) player(drawing);
    });
  }
};
