import {
  useCallback,
  useEffect,
  useRef,
  useState,
  type ComponentType,
  type KeyboardEvent,
} from "react";
import { CAROUSEL_DURATION, MAX_DOTS } from "@/lib/constants";
import { cn } from "@/lib/cn";
import type { CarouselDriverProps, Embla, EmblaOptions } from "@/components/media/carousel-driver";

type Position = { selected: number; snaps: number; canPrev: boolean; canNext: boolean };

const start: Position = { selected: 0, snaps: 0, canPrev: false, canNext: false };

/**
 * Embla with the site's settings, loaded once there is something to move; what is pressed before is done
 * when it arrives. Draw `driver` anywhere. `embla` is the raw API for pointer events and the like.
 */
export function useCarousel(options: EmblaOptions = {}) {
  const [viewport, viewportRef] = useState<HTMLElement | null>(null);
  const [Driver, setDriver] = useState<ComponentType<CarouselDriverProps> | null>(null);
  const [embla, setEmbla] = useState<Embla | undefined>(undefined);
  const [position, setPosition] = useState(start);
  const owed = useRef(0);

  const load = useCallback(() => {
    import("@/components/media/carousel-driver").then(
      ({ CarouselDriver }) => setDriver(() => CarouselDriver),
      // The first slide stays; the next press tries again.
      (error: unknown) => console.error("The carousel could not be loaded", error),
    );
  }, []);
  const wanted = viewport !== null;
  useEffect(() => {
    if (wanted) load();
  }, [wanted, load]);

  useEffect(() => {
    if (!embla) return;
    const read = () =>
      setPosition({
        selected: embla.selectedScrollSnap(),
        snaps: embla.scrollSnapList().length,
        canPrev: embla.canScrollPrev(),
        canNext: embla.canScrollNext(),
      });
    for (; owed.current > 0; owed.current--) embla.scrollNext();
    for (; owed.current < 0; owed.current++) embla.scrollPrev();
    read();
    embla.on("select", read).on("reInit", read);
    return () => {
      embla.off("select", read).off("reInit", read);
    };
  }, [embla]);

  const move = useCallback(
    (by: 1 | -1) => {
      if (embla) return by === 1 ? embla.scrollNext() : embla.scrollPrev();
      owed.current += by;
      load();
    },
    [embla, load],
  );
  const prev = useCallback(() => move(-1), [move]);
  const next = useCallback(() => move(1), [move]);

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

  const driver = Driver && viewport && (
    <Driver
      viewport={viewport}
      options={{
        align: "start",
        containScroll: "trimSnaps",
        duration: CAROUSEL_DURATION,
        // With less motion wanted, carousels jump.
        breakpoints: { "(prefers-reduced-motion: reduce)": { duration: 0 } },
        ...options,
      }}
      onChange={setEmbla}
    />
  );
  return { viewportRef, driver, embla, ...position, prev, next, onKeyDown };
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
