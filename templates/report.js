(() => {
  const root = document.documentElement;
  root.classList.add("scripted");
  const all = (selector, from = document) => [...from.querySelectorAll(selector)];

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

  drawings(document);

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
