// Stubs of browser features that components need and jsdom lacks. A test can replace them with vi.stubGlobal.
import * as streams from "node:stream/web";

class Observer implements ResizeObserver, IntersectionObserver {
  readonly root = null;
  readonly rootMargin = "";
  readonly scrollMargin = "";
  readonly thresholds = [];
  observe() {}
  unobserve() {}
  disconnect() {}
  takeRecords() {
    return [];
  }
}

function matchMedia(query: string): MediaQueryList {
  return Object.assign(new EventTarget(), {
    media: query,
    matches: false,
    onchange: null,
    addListener() {},
    removeListener() {},
  });
}

/** Adds the stubs. */
export function fillBrowserGaps() {
  for (const [name, stream] of Object.entries(streams))
    if (!(name in globalThis)) Object.assign(globalThis, { [name]: stream });
  window.matchMedia ??= matchMedia;
  window.ResizeObserver ??= Observer;
  window.IntersectionObserver ??= Observer;
  window.scrollTo = () => undefined;
  Element.prototype.scrollIntoView ??= () => undefined;
  // jsdom computes no layout, so all elements of the page are treated as displayed.
  Element.prototype.getClientRects = function () {
    return (this.isConnected ? [this.getBoundingClientRect()] : []) as unknown as DOMRectList;
  };
  Element.prototype.hasPointerCapture ??= () => false;
  Element.prototype.setPointerCapture ??= () => undefined;
  Element.prototype.releasePointerCapture ??= () => undefined;
  Element.prototype.checkVisibility ??= () => true;
  URL.createObjectURL ??= () => "blob:test";
  URL.revokeObjectURL ??= () => undefined;
  HTMLMediaElement.prototype.play = async () => undefined;
  HTMLMediaElement.prototype.pause = () => undefined;
}
