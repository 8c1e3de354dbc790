import { ChevronLeft, ChevronRight } from "lucide-react";
import { IconButton } from "@/components/ui/icon-button";
import { cn } from "@/lib/cn";
import { useT } from "@/lib/i18n";

/** In which directions the carousel can move, and functions that move it. Pass the result of useCarousel. */
type CarouselArrowsProps = {
  canPrev: boolean;
  canNext: boolean;
  prev(): void;
  next(): void;
  className?: string;
};

/**
 * The previous and next buttons of a carousel. At an end of the carousel a button is aria-disabled instead of disabled,
 * because a disabled button loses the focus.
 */
export function CarouselArrows({ canPrev, canNext, prev, next, className }: CarouselArrowsProps) {
  const t = useT();
  if (!canPrev && !canNext) return null;
  return (
    <div className={cn("flex gap-2", className)}>
      <IconButton
        label={t("carousel.previous")}
        aria-disabled={!canPrev || undefined}
        onClick={canPrev ? prev : undefined}
      >
        <ChevronLeft aria-hidden="true" size={20} strokeWidth={1.75} />
      </IconButton>
      <IconButton
        label={t("carousel.next")}
        aria-disabled={!canNext || undefined}
        onClick={canNext ? next : undefined}
      >
        <ChevronRight aria-hidden="true" size={20} strokeWidth={1.75} />
      </IconButton>
    </div>
  );
}
