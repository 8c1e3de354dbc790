import { useSyncExternalStore } from "react";
import { useBoot, type Boot, type SiteTexts } from "@/lib/boot";

// What the owner has saved since the page was loaded; keyed by the boot object, of which a page has exactly one.
const saved = new WeakMap<Boot, SiteTexts>();
const listeners = new Set<() => void>();

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** What the owner says about the site: as the page was loaded with, or as saved in this tab since. */
export function useSite(): SiteTexts {
  const boot = useBoot();
  return useSyncExternalStore(subscribe, () => saved.get(boot) ?? boot.site);
}

/** Shows saved settings at once in the tab that saved them; every other page reads them when it is loaded. */
export function replaceSite(boot: Boot, site: SiteTexts): void {
  saved.set(boot, site);
  for (const listener of listeners) listener();
}
