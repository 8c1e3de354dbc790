import { Skeleton } from "@/components/ui/skeleton";
import { cn } from "@/lib/cn";

/** Works to come, of mixed shapes, already standing on the rail. */
const shapes = ["h-[92%] w-[66%]", "h-[46%] w-full", "h-[80%] w-[78%]", "h-full w-[70%]"];
/** In one column the box has the work's own shape, and the work fills it. */
const columnShapes = ["aspect-2/1", "aspect-4/5", "aspect-square"];

type RailSkeletonProps = { index: number; layout: "strip" | "wall" };

export function RailSkeleton({ index, layout }: RailSkeletonProps) {
  const shape = shapes[index % shapes.length];
  return (
    <div aria-hidden="true" className="@container">
      <div className="w-[calc(100%-var(--hang-gap))]">
        {layout === "wall" && (
          <Skeleton className={cn("sm:hidden", columnShapes[index % columnShapes.length])} />
        )}
        <div
          className={cn(
            "relative items-end",
            layout === "strip" ? "flex h-(--strip-height)" : "flex max-sm:h-0 sm:h-[100cqw]",
          )}
        >
          <Skeleton className={cn(shape, layout === "wall" && "max-sm:hidden")} />
          <span className="bg-rail absolute top-full right-[calc(-1*var(--hang-gap))] left-0 h-px" />
        </div>
        {/* As high as a caption of two single lines, so that the rows below stay where they are. */}
        <div className="h-[calc(21px+3.2125rem)] pt-[22px]">
          <Skeleton className="h-[18px] w-3/5" />
          <Skeleton className="mt-2 h-[14px] w-2/5" />
        </div>
      </div>
    </div>
  );
}
