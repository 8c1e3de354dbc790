// The first script of a page that the server has rendered. It delays the site's code, so that the pictures of the first screen load
// first. The site's code loads at the first of these events:
// - the pictures of the first screen are painted
// - MAX_WAIT_MS are over
// - the visitor interacts with the page
// Code and pictures below the first screen load at the visitor's first move (lib/visitor-moves.ts), which this script detects.

const MAX_WAIT_MS = 4000;
const INTERACTIONS = ["pointermove", "pointerdown", "click", "wheel", "keydown", "focusin"];

// The URLs of the entry and of the modules that it needs. The server writes them into the page.
const [entry = "", ...modules] =
  document.querySelector<HTMLScriptElement>("script[data-site]")?.dataset.site?.split(" ") ?? [];
// Aborted after hydration and at the first move, to remove the listeners for these events.
const hydrated = new AbortController();
const moved = new AbortController();
let isLoading = false;
let clickedButton: HTMLElement | null = null;

/** Adds the script of the entry and the preload links of its modules to the page, once. */
function loadSite(): void {
  if (isLoading) return;
  isLoading = true;
  for (const href of modules)
    append(Object.assign(document.createElement("link"), { rel: "modulepreload", href }));
  append(Object.assign(document.createElement("script"), { type: "module", src: entry }));
}

/** Adds an element to the head. It is fetched in CORS mode, as all modules are. */
function append(element: HTMLLinkElement | HTMLScriptElement): void {
  element.crossOrigin = "";
  document.head.append(element);
}

/**
 * Loads the site, and remembers a click on a button. After hydration the click is repeated, unless the visitor has turned the wheel,
 * pressed a key or pressed elsewhere since then. React itself repeats clicks that are made during hydration.
 */
function onInteraction({ type, target }: Event): void {
  loadSite();
  if (type === "click")
    clickedButton = target instanceof Element ? target.closest("button[type=button]") : null;
  else if (/wheel|down/.test(type)) clickedButton = null;
}

/**
 * Tells the style sheet and the site's code that the visitor has moved (lib/visitor-moves.ts), and loads the italic font. The style
 * sheet shows titles upright until then.
 */
function reportMove(): void {
  moved.abort();
  belowHero.disconnect();
  const { dataset } = document.documentElement;
  dataset.moved = "";
  document.dispatchEvent(new Event("moved"));
  const allowItalic = () => (dataset.italic = "");
  document.fonts.load("italic 1em Ysabeau").then(allowItalic, allowItalic);
}

/** Calls `listener` for each of the events until `signal` aborts. */
function listen(types: string[], listener: (event: Event) => void, signal: AbortSignal): void {
  for (const type of types)
    document.addEventListener(type, listener, { capture: true, passive: true, signal });
}

/** Resolves when the page has been painted for the first time. */
function firstPaint(): Promise<unknown> {
  return new Promise((done) =>
    new PerformanceObserver(done).observe({ type: "paint", buffered: true }),
  );
}

/**
 * Whether the site must load immediately: because the page is hidden and so never painted, because a work must open in a dialog, or
 * because the page must be scrolled to an anchor or to a restored position.
 */
function mustNotWait(): unknown {
  const state = history.state as { scrollPosition?: unknown } | null;
  return (
    document.hidden || location.hash || state?.scrollPosition || /[?&]art=/.test(location.search)
  );
}

listen(INTERACTIONS, onInteraction, hydrated.signal);
listen([...INTERACTIONS, "scroll"], reportMove, moved.signal);
// A window that shows more than the hero counts as a move. The margin leaves out a section that only touches the window's
// edge.
const belowHero = new IntersectionObserver(
  (sections) => {
    if (sections.some(({ isIntersecting }) => isIntersecting)) reportMove();
  },
  { rootMargin: "0px 0px -2px" },
);
for (const section of document.querySelectorAll("[data-hero]~*")) belowHero.observe(section);
// A visitor has focused a field before this script ran.
if (document.activeElement !== document.body) reportMove();
document.addEventListener(
  "hydrated",
  () => {
    hydrated.abort();
    if (clickedButton?.isConnected) clickedButton.click();
  },
  { once: true },
);
if (mustNotWait()) loadSite();
setTimeout(loadSite, MAX_WAIT_MS);
void Promise.allSettled([
  ...[...document.images].filter(({ loading: when }) => when !== "lazy").map((it) => it.decode()),
  firstPaint(),
]).then(() => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(loadSite))));
