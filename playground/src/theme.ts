// Light or dark: what the system says, until it is switched. The report's pages remember the same.
const KEY = "cudalint-theme";

export function theme(button: HTMLElement): void {
  const root = document.documentElement;
  const system = matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : system.matches);
  const name = () => {
    button.textContent = isDark() ? "Light" : "Dark";
  };
  try {
    const known = localStorage.getItem(KEY);
    if (known) root.dataset.theme = known;
  } catch {
    // It is not allowed here.
  }
  button.addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    name();
    try {
      localStorage.setItem(KEY, root.dataset.theme);
    } catch {
      // It is not allowed here.
    }
  });
  system.addEventListener("change", name);
  name();
}
