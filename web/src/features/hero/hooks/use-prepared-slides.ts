import { useEffect, useState } from "react";
import { HERO_PREPARE_MS } from "@/lib/constants";
import type { HeroState } from "@/features/hero/hero-machine";

/**
 * The slides whose picture or still has to load. From the start these are the first and the selected slide. After the page
 * has loaded they include the next slide shortly before it is due, and both neighbours as soon as the visitor is at the hero
 * (`isUsed`). A slide that has been prepared stays so. `loadDriver` is called when the carousel will soon move by itself.
 */
export function usePreparedSlides(
  { slides, index, dwell, dwellLeft, dwellSince }: HeroState,
  pageLoaded: boolean,
  isUsed: boolean,
  loadDriver: () => void,
): ReadonlySet<number> {
  // The dwell whose end is near.
  const [endingDwell, setEndingDwell] = useState<number | null>(null);
  useEffect(() => {
    if (dwellSince === null || dwellLeft === null) return;
    const timer = setTimeout(() => {
      setEndingDwell(dwell);
      loadDriver();
    }, dwellLeft - HERO_PREPARE_MS);
    return () => clearTimeout(timer);
  }, [dwell, dwellLeft, dwellSince, loadDriver]);

  const [prepared, setPrepared] = useState<ReadonlySet<number>>(() => new Set([0]));
  const needed = [index];
  if (pageLoaded) {
    if (isUsed || endingDwell === dwell) needed.push((index + 1) % slides.length);
    if (isUsed) needed.push((index + slides.length - 1) % slides.length);
  }
  if (needed.every((slide) => prepared.has(slide))) return prepared;
  const more = new Set([...prepared, ...needed]);
  setPrepared(more);
  return more;
}
