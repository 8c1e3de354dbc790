import { useEffect } from "react";
import useEmblaCarousel from "embla-carousel-react";

export type EmblaOptions = NonNullable<Parameters<typeof useEmblaCarousel>[0]>;
export type Embla = NonNullable<ReturnType<typeof useEmblaCarousel>[1]>;
export type CarouselDriverProps = {
  viewport: HTMLElement;
  options: EmblaOptions;
  onChange(embla: Embla | undefined): void;
};

/** Draws nothing: ties embla, which is half of the home page's own weight, to a carousel that is already there. */
export function CarouselDriver({ viewport, options, onChange }: CarouselDriverProps) {
  const [ref, embla] = useEmblaCarousel(options);
  useEffect(() => ref(viewport), [ref, viewport]);
  useEffect(() => {
    onChange(embla);
    return () => onChange(undefined);
  }, [onChange, embla]);
  // Embla follows the Tab key only when the focus comes within 10 ms of it, which a busy machine misses.
  useEffect(() => {
    if (!embla) return;
    const root = embla.rootNode();
    const follow = ({ target }: FocusEvent) => {
      if (!(target instanceof Element) || !target.matches(":focus-visible")) return;
      const slide = embla.slideNodes().findIndex((node) => node.contains(target));
      const [card, frame] = [target.getBoundingClientRect(), root.getBoundingClientRect()];
      if (slide < 0 || (card.left >= frame.left - 1 && card.right <= frame.right + 1)) return;
      root.scrollLeft = 0; // the browser's own attempt
      embla.scrollTo(
        embla.internalEngine().slideRegistry.findIndex((group) => group.includes(slide)),
        true,
      );
    };
    root.addEventListener("focusin", follow);
    return () => root.removeEventListener("focusin", follow);
  }, [embla]);
  return null;
}
