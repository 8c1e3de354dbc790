import { useCallback, useLayoutEffect, useRef, useState } from "react";
import { cn } from "@/lib/cn";
import type { GalleryFilter } from "@/lib/constants";
import { useT } from "@/lib/i18n";
import type { Product } from "@/lib/types";
import { WallBlock } from "@/features/artworks/components/wall-block";
import { Nearness } from "@/features/artworks/hooks/use-near";
import { useWallPlace } from "@/features/artworks/hooks/use-wall-place";
import { useWidth } from "@/features/artworks/hooks/use-width";
import { blocksOf, WORKS_PER_PAGE } from "@/features/artworks/paging";

type WallProps = {
  filter: GalleryFilter;
  total: number;
  onOpen(product: Product): void;
  onChanged(): void;
  /** Another wall takes this one's place. */
  onGone(hadFocus: boolean): void;
};

/**
 * All works, of which only those near the screen are drawn and asked for. Every other block keeps its
 * place by its height, so the scroll bar tells the truth and the foot of the page is within reach.
 */
export function Wall({ filter, total, onOpen, onChanged, onGone }: WallProps) {
  const t = useT();
  const list = useRef<HTMLDivElement>(null);
  const [nearness] = useState(() => new Nearness());
  const width = useWidth(list);
  useWallPlace(list);
  // The same function throughout, so that blocks that did not change are not drawn again.
  const latest = useRef(onOpen);
  useLayoutEffect(() => {
    latest.current = onOpen;
  });
  // While its elements are still in the page, because with them the focus goes too.
  useLayoutEffect(() => {
    const element = list.current;
    return () => onGone(!!element?.contains(document.activeElement));
  }, [onGone]);
  const open = useCallback((product: Product) => latest.current(product), []);
  const long = total > WORKS_PER_PAGE;
  // Scrolling follows the Tab key at its own pace: the blocks around the focus are drawn whatever is on the screen.
  const [focused, setFocused] = useState<number | null>(null);

  return (
    <>
      {long && (
        <a
          href="#wall-end"
          className={cn(
            "btn btn-primary absolute top-0 left-0 z-10 not-focus-visible:sr-only",
            "focus-visible:-translate-y-1/2",
          )}
        >
          {t("gallery.skip")}
        </a>
      )}
      <div
        ref={list}
        role="list"
        onBlur={({ currentTarget, relatedTarget }) => {
          if (!currentTarget.contains(relatedTarget)) setFocused(null);
        }}
        className="flex flex-col gap-y-(--wall-gap)"
      >
        {Array.from({ length: blocksOf(total) }, (_, block) => (
          <WallBlock
            key={block}
            filter={filter}
            block={block}
            total={total}
            width={width}
            nearness={nearness}
            nearFocus={focused !== null && Math.abs(block - focused) <= 1}
            onFocused={setFocused}
            onOpen={open}
            onChanged={onChanged}
          />
        ))}
      </div>
      {long && (
        <p id="wall-end" tabIndex={-1} className="sr-only">
          {t("gallery.end")}
        </p>
      )}
    </>
  );
}
