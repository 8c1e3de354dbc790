import { useEffect } from "react";
import useEmblaCarousel from "embla-carousel-react";
import { LaterPages } from "@/components/media/carousel-later-pages";
import { CAROUSEL_DURATION } from "@/lib/constants";

export type EmblaOptions = NonNullable<Parameters<typeof useEmblaCarousel>[0]>;
export type Embla = NonNullable<ReturnType<typeof useEmblaCarousel>[1]>;

const siteOptions: EmblaOptions = {
  align: "start",
  containScroll: "trimSnaps",
  duration: CAROUSEL_DURATION,
  // Slides change without animation if the visitor prefers reduced motion.
  breakpoints: { "(prefers-reduced-motion: reduce)": { duration: 0 } },
};

export type CarouselDriverProps = {
  /** The element that clips the slides. */
  viewport: HTMLElement;
  /** Replace those of the site. */
  options: EmblaOptions;
  onChange(embla: Embla | undefined): void;
};

/**
 * Attaches the carousel library embla to a rendered carousel; renders nothing itself. It is in a chunk of its own,
 * because embla is half as large as the code of the home page. `onChange` receives embla's API, and undefined on unmount.
 */
export function CarouselDriver({ viewport, options, onChange }: CarouselDriverProps) {
  const [ref, embla] = useEmblaCarousel({ ...siteOptions, ...options });
  useEffect(() => ref(viewport), [ref, viewport]);
  useEffect(() => {
    onChange(embla);
    return () => onChange(undefined);
  }, [onChange, embla]);
  // Embla scrolls to a focused slide only within 10 ms after the Tab key, which is too short on a busy machine.
  useEffect(() => {
    if (!embla) return;
    const root = embla.rootNode();
    const scrollToFocus = () => {
      const target = document.activeElement;
      if (!target?.matches(":focus-visible")) return;
      const slide = embla.slideNodes().findIndex((node) => node.contains(target));
      const [targetBox, rootBox] = [target.getBoundingClientRect(), root.getBoundingClientRect()];
      if (slide < 0 || (targetBox.left >= rootBox.left - 1 && targetBox.right <= rootBox.right + 1))
        return;
      root.scrollLeft = 0; // undoes the browser's own scrolling, which embla does not know of
      embla.scrollTo(
        embla.internalEngine().slideRegistry.findIndex((group) => group.includes(slide)),
        true, // without animation
      );
    };
    scrollToFocus(); // a slide that got the focus before embla had loaded
    root.addEventListener("focusin", scrollToFocus);
    return () => root.removeEventListener("focusin", scrollToFocus);
  }, [embla]);
  return null;
}

/** What useCarousel loads. Later pages come with embla: what adds slides after embla has started makes it start anew. */
export const carouselCode = { CarouselDriver, LaterPages };
