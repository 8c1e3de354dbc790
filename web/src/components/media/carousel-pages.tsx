import { useState } from "react";
import type { LaterPages } from "@/components/media/carousel-later-pages";
import type { RowsPage } from "@/lib/backend";
import type { CarouselSlides } from "@/lib/carousel-query";

type CarouselPagesProps<Row> = CarouselSlides<Row> & {
  /** The first page: the rows of the first request, and the number of rows in all pages. */
  first: RowsPage<Row>;
  /** The index of the selected slide. */
  selected: number;
  /** The component of later pages, once it has loaded (useCarousel). */
  LaterPages: typeof LaterPages | undefined;
};

/**
 * The slides of a carousel with any number of rows, as list items. The server renders the slides of the first page. Once the
 * code of later pages has loaded, every row has a slide. The slides of a page are empty until the carousel comes near and
 * requests the page.
 */
export function CarouselPages<Row extends { id: string }>({
  first: { rows, total },
  selected,
  LaterPages: Later,
  ...slides
}: CarouselPagesProps<Row>) {
  // The largest index that was selected. Slides stay rendered after the carousel has moved back, because one of them may have
  // the focus.
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
