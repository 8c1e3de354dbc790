import { useEffect, useState } from "react";
import { HERO_PREPARE_MS } from "@/lib/constants";
import type { HeroState } from "@/features/hero/hero-machine";

/**
 * The prepared slides of the hero: those whose picture or still (the picture of a video until it plays) has to load. A slide that is
 * prepared stays prepared.
 * - From the start: the first and the selected slide.
 * - After the page has loaded: the next slide shortly before it is due, or both neighbours once the visitor uses the hero (`isUsed`).
 * Shortly before the carousel moves by itself, `loadDriver` is called to load the code that moves the carousel.
 */
export function usePreparedSlides(
  { slides, index, dwell, dwellLeft, dwellSince }: HeroState,
  pageLoaded: boolean,
  isUsed: boolean,
  loadDriver: () => void,
): ReadonlySet<number> {
  // A dwell time is the time for which a picture is shown. Each has a number (HeroState.dwell). This is the number of the dwell time
  // whose end is near; null before the first end.
  const [endingDwell, setEndingDwell] = useState<number | null>(null);
  // Prepares the next slide HERO_PREPARE_MS before the dwell time is over.
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
  const extended = new Set([...prepared, ...needed]);
  setPrepared(extended);
  return extended;
}
