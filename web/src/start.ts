/**
 * What a page loads that the server has drawn: it lets the pictures of the first view have the wire to themselves, and asks
 * for the site when they are painted. A visitor who does something before, or has waited for `PATIENCE`, gets it at once.
 */
const PATIENCE = 4000; // milliseconds
const SIGNS_OF_LIFE = ["pointerdown", "keydown", "wheel", "focusin", "submit"];

const [entry = "", ...parts] =
  document.querySelector<HTMLScriptElement>("script[data-site]")?.dataset.site?.split(" ") ?? [];
let asked = false;
let pressed: HTMLElement | null = null;

function ask(): void {
  if (asked) return;
  asked = true;
  for (const part of parts) {
    const link = Object.assign(document.createElement("link"), {
      rel: "modulepreload",
      href: part,
    });
    link.crossOrigin = "";
    document.head.append(link);
  }
  const script = Object.assign(document.createElement("script"), { type: "module", src: entry });
  script.crossOrigin = "";
  document.head.append(script);
}

function press(event: Event): void {
  pressed = event.target instanceof Element ? event.target.closest("button[type=button]") : null;
}

/** Resolves when a picture has come, or never will. */
function come(picture: HTMLImageElement): Promise<unknown> | undefined {
  if (picture.complete) return undefined;
  return new Promise((done) => {
    picture.addEventListener("load", done, { once: true });
    picture.addEventListener("error", done, { once: true });
  });
}

/** Resolves when the browser has shown something. */
function firstPaint(): Promise<void> {
  return new Promise((done) =>
    new PerformanceObserver(() => done()).observe({ type: "paint", buffered: true }),
  );
}

for (const sign of SIGNS_OF_LIFE)
  document.addEventListener(sign, ask, { once: true, capture: true, passive: true });
// React repeats what is clicked while it takes over; what was clicked before is kept here for the same.
document.addEventListener("click", press, { capture: true });
document.addEventListener(
  "taken-over",
  () => {
    document.removeEventListener("click", press, { capture: true });
    if (pressed?.isConnected) pressed.click();
  },
  { once: true },
);
setTimeout(ask, document.hidden ? 0 : PATIENCE); // a hidden page is not painted
void Promise.all([
  ...[...document.images].filter(({ loading }) => loading !== "lazy").map(come),
  firstPaint(),
]).then(() => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(ask))));
