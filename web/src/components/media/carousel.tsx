import { useCallback, useEffect, useState, type KeyboardEvent } from "react";
import useEmblaCarousel from "embla-carousel-react";
import { CAROUSEL_DURATION, MAX_DOTS } from "@/lib/constants";
import { cn } from "@/lib/cn";

type EmblaOptions = NonNullable<Parameters<typeof useEmblaCarousel>[0]>;
type Position = { selected: number; snaps: number; canPrev: boolean; canNext: boolean };

const start: Position = { selected: 0, snaps: 0, canPrev: false, canNext: false };

/** Embla with the site's settings. `embla` is the raw API for pointer events and the like. */
export function useCarousel(options: EmblaOptions = {}) {
  const [viewportRef, embla] = useEmblaCarousel({
    align: "start",
    containScroll: "trimSnaps",
    duration: CAROUSEL_DURATION,
    // With less motion wanted, carousels jump.
    breakpoints: { "(prefers-reduced-motion: reduce)": { duration: 0 } },
    ...options,
  });
  const [position, setPosition] = useState(start);

  useEffect(() => {
    if (!embla) return;
    const read = () =>
      setPosition({
        selected: embla.selectedScrollSnap(),
        snaps: embla.scrollSnapList().length,
        canPrev: embla.canScrollPrev(),
        canNext: embla.canScrollNext(),
      });
    read();
    embla.on("select", read).on("reInit", read);
    return () => {
      embla.off("select", read).off("reInit", read);
    };
  }, [embla]);

  const prev = useCallback(() => embla?.scrollPrev(), [embla]);
  const next = useCallback(() => embla?.scrollNext(), [embla]);

  /** Left and right arrow keys; put it on the element around viewport and controls. */
  const onKeyDown = useCallback(
    (event: KeyboardEvent<HTMLElement>) => {
      if (event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
      const on = event.target as HTMLElement;
      // There the arrows already mean something: seek, or move the caret.
      if (on.closest("video, input, textarea, select")) return;
      if (event.key === "ArrowLeft") prev();
      else if (event.key === "ArrowRight") next();
      else return;
      event.preventDefault();
    },
    [prev, next],
  );

  return { viewportRef, embla, ...position, prev, next, onKeyDown };
}

/** Decoration only: at most five squares that show roughly where the carousel stands. */
export function Dots({
  selected,
  count,
  className,
}: {
  selected: number;
  count: number;
  className?: string;
}) {
  const dots = Math.min(count, MAX_DOTS);
  if (dots < 2) return null;
  const active = count > dots ? Math.round((selected / (count - 1)) * (dots - 1)) : selected;
  return (
    <div aria-hidden="true" className={cn("flex items-center gap-2", className)}>
      {Array.from({ length: dots }, (_, index) => (
        <span
          key={index}
          className={cn(
            "ease-cal h-2 transition-[width,background-color] duration-200",
            index === active ? "bg-anil w-8" : "bg-edge w-2",
          )}
        />
      ))}
    </div>
  );
}
