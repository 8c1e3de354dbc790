import { useCallback, useEffect, useRef, useState, type KeyboardEvent } from "react";
import { MAX_DOTS } from "@/lib/constants";
import { cn } from "@/lib/cn";
import { whenVisitorMoves } from "@/lib/visitor-moves";
import type { carouselCode, Embla, EmblaOptions } from "@/components/media/carousel-driver";

/**
 * The index of the selected snap point (a position at which the carousel stops), the number of snap points, and the directions in
 * which the carousel can move.
 */
type Position = { selected: number; snaps: number; canPrev: boolean; canNext: boolean };

const initialPosition: Position = { selected: 0, snaps: 0, canPrev: false, canNext: false };

/**
 * The state and functions of a carousel, whose slides the library embla moves. The caller sets `viewportRef` on the element that
 * clips the slides. The caller also renders `driver`, which runs embla and shows nothing. Embla loads when the visitor first interacts
 * with the page, or when `load` is called. Until embla has loaded, `embla` (its API) and `LaterPages` (for CarouselPages) are
 * undefined. Steps by button or key are counted until then, and made afterwards.
 */
export function useCarousel(options: EmblaOptions = {}) {
  const [viewport, viewportRef] = useState<HTMLElement | null>(null);
  const [code, setCode] = useState<typeof carouselCode>();
  const [embla, setEmbla] = useState<Embla | undefined>(undefined);
  const [position, setPosition] = useState(initialPosition);
  // The number of steps forward minus steps back that were made before embla has loaded.
  const pendingSteps = useRef(0);

  const load = useCallback(() => {
    import("@/components/media/carousel-driver").then(
      (module) => setCode(module.carouselCode),
      // The carousel stays at its first slide. The next step attempts to load embla again.
      (error: unknown) => console.error("The carousel could not be loaded", error),
    );
  }, []);
  const mounted = viewport !== null;
  // Embla is not needed before the visitor interacts with the page.
  useEffect(() => {
    if (mounted) void whenVisitorMoves().then(load);
  }, [mounted, load]);

  // Makes the pending steps once embla has loaded, and follows the position of embla.
  useEffect(() => {
    if (!embla) return;
    const updatePosition = () =>
      setPosition({
        selected: embla.selectedScrollSnap(),
        snaps: embla.scrollSnapList().length,
        canPrev: embla.canScrollPrev(),
        canNext: embla.canScrollNext(),
      });
    for (; pendingSteps.current > 0; pendingSteps.current--) embla.scrollNext();
    for (; pendingSteps.current < 0; pendingSteps.current++) embla.scrollPrev();
    updatePosition();
    embla.on("select", updatePosition).on("reInit", updatePosition);
    return () => {
      embla.off("select", updatePosition).off("reInit", updatePosition);
    };
  }, [embla]);

  const move = useCallback(
    (by: 1 | -1) => {
      if (embla) return by === 1 ? embla.scrollNext() : embla.scrollPrev();
      pendingSteps.current += by;
      load();
    },
    [embla, load],
  );
  const prev = useCallback(() => move(-1), [move]);
  const next = useCallback(() => move(1), [move]);

  /** Handles the left and right arrow keys; set it on the element around viewport and buttons. */
  const onKeyDown = useCallback(
    (event: KeyboardEvent<HTMLElement>) => {
      if (event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
      const target = event.target as HTMLElement;
      // In these elements the arrow keys seek or move the caret.
      if (target.closest("video, input, textarea, select")) return;
      if (event.key === "ArrowLeft") prev();
      else if (event.key === "ArrowRight") next();
      else return;
      event.preventDefault();
    },
    [prev, next],
  );

  const driver = code && viewport && (
    <code.CarouselDriver viewport={viewport} options={options} onChange={setEmbla} />
  );
  const LaterPages = code?.LaterPages;
  return { viewportRef, driver, LaterPages, embla, load, ...position, prev, next, onKeyDown };
}

/** A decorative row of at most MAX_DOTS squares that shows the approximate position of the carousel. */
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
            "ease-soft h-2 transition-[width,background-color] duration-200",
            index === active ? "bg-indigo w-8" : "bg-edge w-2",
          )}
        />
      ))}
    </div>
  );
}
