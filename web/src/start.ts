/**
 * What a page loads that the server has drawn: it lets the pictures that come first have the wire to themselves, and asks for
 * the site when they are painted. A visitor who does something before, or has waited for `PATIENCE`, gets it at once.
 */
const PATIENCE = 4000; // milliseconds
const SIGNS_OF_LIFE = ["pointermove", "pointerdown", "click", "wheel", "keydown", "focusin"];

const [entry = "", ...parts] =
  document.querySelector<HTMLScriptElement>("script[data-site]")?.dataset.site?.split(" ") ?? [];
const takenOver = new AbortController();
let asked = false;
let pressed: HTMLElement | null = null;

function ask(): void {
  if (asked) return;
  asked = true;
  for (const href of parts)
    append(Object.assign(document.createElement("link"), { rel: "modulepreload", href }));
  append(Object.assign(document.createElement("script"), { type: "module", src: entry }));
}

function append(element: HTMLLinkElement | HTMLScriptElement): void {
  element.crossOrigin = "";
  document.head.append(element);
}

/** React repeats what is clicked while it takes over. What was clicked before is kept here, unless something follows it. */
function notice({ type, target }: Event): void {
  ask();
  if (type === "click")
    pressed = target instanceof Element ? target.closest("button[type=button]") : null;
  else if (type === "wheel" || type === "keydown") pressed = null;
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

/** Nothing is painted of a hidden page; a work opens over the wall; a place to return to must be reached before others. */
function cannotWait(): boolean {
  const { wall } = (history.state ?? {}) as { wall?: unknown };
  return document.hidden || !!location.hash || !!wall || /[?&]art=/.test(location.search);
}

for (const sign of SIGNS_OF_LIFE)
  document.addEventListener(sign, notice, {
    capture: true,
    passive: true,
    signal: takenOver.signal,
  });
document.addEventListener(
  "taken-over",
  () => {
    takenOver.abort();
    if (pressed?.isConnected) pressed.click();
  },
  { once: true },
);
if (cannotWait()) ask();
setTimeout(ask, PATIENCE);
void Promise.all([
  ...[...document.images].filter(({ loading }) => loading !== "lazy").map(come),
  firstPaint(),
]).then(() => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(ask))));
