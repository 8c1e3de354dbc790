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
  return null;
}
