import { useEffect } from "react";
import useEmblaCarousel from "embla-carousel-react";

// Later pages come with embla: what adds slides after embla has started makes it start anew.
export { LaterPages } from "@/components/media/carousel-later-pages";

export type EmblaOptions = NonNullable<Parameters<typeof useEmblaCarousel>[0]>;
export type Embla = NonNullable<ReturnType<typeof useEmblaCarousel>[1]>;
export type CarouselDriverProps = {
  /** The element that clips the slides. */
  viewport: HTMLElement;
  options: EmblaOptions;
  onChange(embla: Embla | undefined): void;
};

/**
 * Attaches the carousel library embla to a rendered carousel; renders nothing itself. It is in a chunk of its own,
 * because embla is half as large as the code of the home page. `onChange` receives embla's API, and undefined on unmount.
 */
export function CarouselDriver({ viewport, options, onChange }: CarouselDriverProps) {
  const [ref, embla] = useEmblaCarousel(options);
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
