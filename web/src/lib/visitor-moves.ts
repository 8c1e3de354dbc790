/** Resolves when an event fires, or immediately if `hasFired` says that it has fired before. */
const whenFired = (hasFired: boolean, target: EventTarget, event: string): Promise<unknown> =>
  new Promise((done) => {
    if (hasFired) done(null);
    else target.addEventListener(event, done, { once: true });
  });

/**
 * Resolves when the visitor first "moves": points, clicks, types or scrolls, or has a window that shows more than the first screen.
 * Code and pictures that the first screen does not need wait for it. start.ts, the first script of the page, detects the move. On
 * pages without start.ts, this resolves immediately.
 */
export const whenVisitorMoves = () =>
  whenFired("moved" in document.documentElement.dataset, document, "moved");

/** Resolves when the page and all files that its HTML names have loaded. */
export const whenPageLoads = () => whenFired(document.readyState === "complete", window, "load");
