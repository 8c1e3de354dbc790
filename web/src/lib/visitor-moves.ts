/** Resolves when an event has come: at once if it has come before, which `has` says. */
const comes = (has: boolean, target: EventTarget, event: string): Promise<unknown> =>
  new Promise((done) => {
    if (has) done(null);
    else target.addEventListener(event, done, { once: true });
  });

/**
 * Resolves when the visitor has moved: has pointed, pressed, typed or scrolled, or sees what lies below the first screen. Code
 * and pictures that the first screen does not need wait for it. start.ts finds out; on pages that it does not run on, the
 * entry says so from the start.
 */
export const visitorMoves = () =>
  comes("moved" in document.documentElement.dataset, document, "moved");

/** Resolves when the page and all that it names have loaded. */
export const pageLoads = () => comes(document.readyState === "complete", window, "load");
