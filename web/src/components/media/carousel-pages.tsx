import { useState } from "react";
import type { LaterPages } from "@/components/media/carousel-later-pages";
import type { RowsPage } from "@/lib/backend";
import type { CarouselSlides } from "@/lib/carousel-query";

type CarouselPagesProps<Row> = CarouselSlides<Row> & {
  first: RowsPage<Row>;
  /** The selected slide. */
  selected: number;
  /** The component of later pages, once it has loaded (useCarousel). */
  LaterPages: typeof LaterPages | undefined;
};

/**
 * The slides of a carousel with any number of rows, as list items. The server renders those of the first page. Once the
 * code of later pages has loaded, every row has a slide. A slide stays empty until the carousel comes near and its page is
 * requested.
 */
export function CarouselPages<Row extends { id: string }>({
  first: { rows, total },
  selected,
  LaterPages: Later,
  ...slides
}: CarouselPagesProps<Row>) {
  // Slides stay rendered after the carousel has moved back, because one of them may have the focus.
  const [furthest, setFurthest] = useState(0);
  if (selected > furthest) setFurthest(selected);

  return (
    <>
      {rows.map((row) => (
        <li key={row.id} className={slides.className}>
          {slides.renderRow(row)}
        </li>
      ))}
      {Later && total > rows.length && <Later {...slides} total={total} furthest={furthest} />}
    </>
  );
}
