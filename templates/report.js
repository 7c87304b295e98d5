"use strict";
(() => {
  const root = document.documentElement;
  root.classList.add("scripted");
  const all = (selector, from = document) => [...from.querySelectorAll(selector)];
  const make = (tag, fields = {}) => Object.assign(document.createElement(tag), fields);

  // Light or dark: what the system says, until it is switched.
  const theme = document.getElementById("theme");
  const system = matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : system.matches);
  const name = () => { theme.textContent = isDark() ? "Light" : "Dark"; };
  const remember = (value) => { try { localStorage.setItem("cudalint-theme", value); } catch { /* not allowed */ } };
  try { const known = localStorage.getItem("cudalint-theme"); if (known) root.dataset.theme = known; } catch { /* not allowed */ }
  const turn = () => { root.dataset.theme = isDark() ? "light" : "dark"; remember(root.dataset.theme); name(); };
  theme.addEventListener("click", turn);
  system.addEventListener("change", name);
  name();

  // Filters: a finding is shown if all of them let it through.
  const findings = all(".finding");
  const form = document.querySelector(".filters");
  const texts = new Map();
  const text = (finding) => {
    if (!texts.has(finding)) texts.set(finding, finding.textContent.toLowerCase());
    return texts.get(finding);
  };
  const filter = () => {
    const words = form.elements.text.value.toLowerCase().split(/\s+/).filter(Boolean);
    const chosen = all("select", form).filter((it) => it.value);
    let shown = 0;
    for (const finding of findings) {
      const passes = chosen.every((it) => finding.dataset[it.name] === it.value) && words.every((word) => text(finding).includes(word));
      finding.hidden = !passes;
      shown += passes ? 1 : 0;
    }
    form.querySelector(".count").value = shown + " of " + findings.length;
    document.querySelector(".no-match").hidden = shown > 0;
  };
  if (form) {
    form.addEventListener("input", filter);
    form.addEventListener("reset", () => setTimeout(filter));
    form.addEventListener("submit", (event) => event.preventDefault());
    filter();
  }

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

  // What a link or the address leads to is opened first.
  const reveal = () => {
    const target = location.hash.length > 1 && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!target) return;
    if (target.matches("details")) target.open = true;
    if (target.matches(".finding")) {
      if (target.hidden && form) form.reset();
      setTimeout(() => { target.focus({ preventScroll: true }); target.scrollIntoView(); });
    }
  };
  addEventListener("hashchange", reveal);
  reveal();

  // Keys.
  const current = () => document.activeElement && document.activeElement.closest(".finding");
  const step = (by) => {
    const shown = findings.filter((it) => !it.hidden);
    const own = current();
    const at = own ? shown.indexOf(own) + by : by > 0 ? 0 : shown.length - 1;
    const next = shown[Math.max(0, Math.min(shown.length - 1, at))];
    if (next) { next.focus({ preventScroll: true }); next.scrollIntoView({ block: "nearest" }); }
  };
  const open = () => {
    const shot = current() && current().querySelector(".shot");
    if (!shot) return;
    shot.open = !shot.open;
    if (shot.open) setTimeout(() => { const play = shot.querySelector(".play"); if (play) play.focus(); }, 50);
  };
  const keys = {
    j: () => step(1),
    k: () => step(-1),
    o: open,
    s: () => { const at = current() && current().querySelector(".meta a.at"); if (at) location.hash = at.hash; },
    t: turn,
    "/": () => { if (form) form.elements.text.focus(); },
    Escape: () => { if (form) { form.reset(); } if (document.activeElement) document.activeElement.blur(); },
  };
  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    const writes = event.target.matches && event.target.matches("input[type=search], select");
    if (writes && event.key !== "Escape") return;
    const act = keys[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  });

  // On paper everything is open.
  addEventListener("beforeprint", () => { for (const it of all("details")) { it.dataset.was = it.open ? "open" : ""; it.open = true; } });
  addEventListener("afterprint", () => { for (const it of all("details")) it.open = it.dataset.was === "open"; });
})();
