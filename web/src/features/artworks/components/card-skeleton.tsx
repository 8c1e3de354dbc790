import { Skeleton } from "@/components/ui/skeleton";
import { cn } from "@/lib/cn";

/** Sizes of the placeholders. Cards use them in turn, by their index. */
const shapes = ["h-[92%] w-[66%]", "h-[46%] w-full", "h-[80%] w-[78%]", "h-full w-[70%]"];
/** Aspect ratios of the placeholders in a gallery of one column. There a card is as high as its work. */
const columnShapes = ["aspect-2/1", "aspect-4/5", "aspect-square"];

type CardSkeletonProps = { index: number; layout: "strip" | "grid" };

/** The placeholder of an artwork card, with the height of a card, so that nothing moves when the works have loaded. */
export function CardSkeleton({ index, layout }: CardSkeletonProps) {
  const shape = shapes[index % shapes.length];
  return (
    <div aria-hidden="true" className="@container">
      <div className="w-[calc(100%-var(--card-gap))]">
        {layout === "grid" && (
          <Skeleton className={cn("sm:hidden", columnShapes[index % columnShapes.length])} />
        )}
        <div
          className={cn(
            "relative items-end",
            layout === "strip" ? "flex h-(--strip-height)" : "flex max-sm:h-0 sm:h-[100cqw]",
          )}
        >
          <Skeleton className={cn(shape, layout === "grid" && "max-sm:hidden")} />
          <span className="bg-divider absolute top-full right-[calc(-1*var(--card-gap))] left-0 h-px" />
        </div>
        {/* The height of a caption of two lines, so that the rows below do not shift. */}
        <div className="h-[calc(21px+3.2125rem)] pt-[22px]">
          <Skeleton className="h-[18px] w-3/5" />
          <Skeleton className="mt-2 h-[14px] w-2/5" />
        </div>
      </div>
    </div>
  );
}
