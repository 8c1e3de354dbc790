import { cn } from "@/lib/cn";
import { contentWidth, cardSizes, type CardLayout } from "@/features/artworks/card-layout";

const columnSizes = cardSizes(
  ["(min-width:80rem)", "(min-width:64rem)", "(min-width:40rem)"],
  [4, 3, 2],
  (count) => `${contentWidth}/${count}`,
);

/** The cards of the gallery. In several columns the boxes are square. In one column, on phones, a card is as high as its work. */
export const galleryLayout: CardLayout = {
  box: "sm:h-[100cqw]",
  work: cn(
    "block h-auto max-sm:w-[min(100%,74svh*var(--ratio))]",
    "sm:absolute sm:bottom-0 sm:left-0 sm:max-h-full sm:w-auto sm:max-w-full",
  ),
  known: cn(
    "block h-auto max-sm:w-[min(100%,74svh*var(--ratio))]",
    "sm:absolute sm:bottom-0 sm:left-0 sm:w-[min(100%,100cqw*var(--ratio),var(--px))]",
  ),
  missing: "w-[62%] sm:absolute sm:bottom-0 sm:left-0",
  reserved: {
    box: "max-sm:h-[min(100cqw/var(--ratio),74svh)] sm:h-[100cqw]",
    work: "absolute bottom-0 left-0 h-auto max-h-full w-auto max-w-full",
    missing: "absolute bottom-0 left-0 max-sm:w-[min(62%,80cqw/var(--ratio),59svh)] sm:w-[62%]",
  },
  // The width for one column is 3 % less than the displayed width, with which most phones load a smaller file. The difference is not
  // visible.
  sizes: (ratio) => [...columnSizes(ratio), ["", `calc(.97*min(${contentWidth},74svh*${ratio}))`]],
};
