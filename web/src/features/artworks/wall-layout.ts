import { cn } from "@/lib/cn";
import { column, hangSizes, type HangLayout } from "@/features/artworks/hang-layout";

const cards = hangSizes(
  ["(min-width:80rem)", "(min-width:64rem)", "(min-width:40rem)"],
  [4, 3, 2],
  (count) => `${column}/${count}`,
);

/** In rows: a square from sm on, natural height in one column. */
export const wall: HangLayout = {
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
  held: {
    box: "max-sm:h-[min(100cqw/var(--ratio),74svh)] sm:h-[100cqw]",
    work: "absolute bottom-0 left-0 h-auto max-h-full w-auto max-w-full",
    missing: "absolute bottom-0 left-0 max-sm:w-[min(62%,80cqw/var(--ratio),59svh)] sm:w-[62%]",
  },
  // A little less than it hangs: nobody sees three in a hundred, and most phones get the next smaller file.
  sizes: (ratio) => [...cards(ratio), ["", `calc(.97*min(${column},74svh*${ratio}))`]],
};
