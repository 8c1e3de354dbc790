// This file has promises for two events: the visitor's first move, and the loading of the page.

/** Resolves when an event fires, or immediately if `hasFired` says that it has fired before. */
const whenFired = (hasFired: boolean, target: EventTarget, event: string): Promise<unknown> =>
  new Promise((done) => {
    if (hasFired) done(null);
    else target.addEventListener(event, done, { once: true });
  });

/**
 * Resolves at the visitor's first move (first interaction): when the visitor points, clicks, types or scrolls, or if the window shows
 * more than the first screen. Code and pictures that the first screen does not need wait for the move. start.ts, the first script of
 * the page, detects the move. Then it sets the attribute data-moved of the html element, and dispatches the event "moved". On pages
 * without start.ts, entry-client.tsx sets the attribute before it renders, so the promise resolves immediately.
 */
export const whenVisitorMoves = () =>
  whenFired("moved" in document.documentElement.dataset, document, "moved");

/** Resolves when the page and all files that its HTML names have loaded. */
export const whenPageLoads = () => whenFired(document.readyState === "complete", window, "load");
