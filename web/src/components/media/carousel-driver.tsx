import { useEffect } from "react";
import useEmblaCarousel from "embla-carousel-react";
import { LaterPages } from "@/components/media/carousel-later-pages";
import { CAROUSEL_DURATION } from "@/lib/constants";

/** The options of the carousel library embla. */
export type EmblaOptions = NonNullable<Parameters<typeof useEmblaCarousel>[0]>;
/** The API of a running carousel of embla. */
export type Embla = NonNullable<ReturnType<typeof useEmblaCarousel>[1]>;

/** The options that all carousels of the site share. */
const siteOptions: EmblaOptions = {
  align: "start",
  containScroll: "trimSnaps",
  duration: CAROUSEL_DURATION,
  // Slides change without animation if the visitor prefers reduced motion.
  breakpoints: { "(prefers-reduced-motion: reduce)": { duration: 0 } },
};

/** The props of CarouselDriver. */
export type CarouselDriverProps = {
  /** The element that clips the slides. */
  viewport: HTMLElement;
  /** Further options of this carousel. They override siteOptions. */
  options: EmblaOptions;
  onChange(embla: Embla | undefined): void;
};

/**
 * Attaches the carousel library embla to a rendered carousel. Renders nothing itself. It is in a chunk of its own, because embla is
 * half as large as the code of the home page. `onChange` is called with embla's API, and with undefined at unmount.
 */
export function CarouselDriver({ viewport, options, onChange }: CarouselDriverProps) {
  const [emblaRef, embla] = useEmblaCarousel({ ...siteOptions, ...options });
  // Starts embla on the rendered element.
  useEffect(() => emblaRef(viewport), [emblaRef, viewport]);
  // Reports embla to the carousel. The carousel cannot call the hook itself, because embla loads later.
  useEffect(() => {
    onChange(embla);
    return () => onChange(undefined);
  }, [onChange, embla]);
  // Embla itself scrolls to a focused slide only within 10 ms after the Tab key. That is too short on a busy machine.
  useEffect(() => {
    if (!embla) return;
    const root = embla.rootNode();
    const onFocus = () => scrollToFocus(embla);
    onFocus(); // a slide may have received the focus before embla had loaded
    root.addEventListener("focusin", onFocus);
    return () => root.removeEventListener("focusin", onFocus);
  }, [embla]);
  return null;
}

/** Scrolls to the slide with the keyboard focus, unless the focused element is visible or not in the carousel. */
function scrollToFocus(embla: Embla) {
  const focused = document.activeElement;
  if (!focused?.matches(":focus-visible")) return;
  const slide = embla.slideNodes().findIndex((node) => node.contains(focused));
  if (slide < 0) return;
  const viewport = embla.rootNode();
  const { left, right } = focused.getBoundingClientRect();
  const visible = viewport.getBoundingClientRect();
  if (left >= visible.left - 1 && right <= visible.right + 1) return; // 1 CSS pixel for rounding
  viewport.scrollLeft = 0; // undoes the browser's own scrolling: embla does not know of it
  const snap = embla.internalEngine().slideRegistry.findIndex((slides) => slides.includes(slide));
  embla.scrollTo(snap, true); // true: without animation
}

/**
 * What useCarousel loads. The code of later pages loads together with the driver, because embla restarts when slides are
 * added.
 */
export const carouselCode = { CarouselDriver, LaterPages };
