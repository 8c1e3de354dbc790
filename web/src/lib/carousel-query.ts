import type { ReactNode } from "react";
import type { QueryFunction, QueryKey } from "@tanstack/react-query";
import type { PublicBackend, RowsPage } from "@/lib/backend";
import { CAROUSEL_PAGE } from "@/lib/constants";
import type { Tables } from "@/lib/types";

/** The query of one page of a carousel's rows. */
export type CarouselQuery<Row> = { queryKey: QueryKey; queryFn: QueryFunction<RowsPage<Row>> };

/**
 * How the slides of a carousel are requested and rendered. A page has the rows of one request, at most CAROUSEL_PAGE. The functions
 * must stay the same at each render, because the components of later pages are memoized.
 */
export type CarouselSlides<Row> = {
  /** The query key of each page without its last part, which is the number of the page. */
  queryKey: QueryKey;
  /** Makes the query of a page; pages are counted from 0. */
  query(backend: PublicBackend, page: number): CarouselQuery<Row>;
  /** Classes of a slide. */
  className: string;
  renderRow(row: Row): ReactNode;
  /** Renders what a slide shows while its row loads. By default it is a grey block. */
  renderPlaceholder?(index: number): ReactNode;
};

/**
 * Makes the query of one page of the rows of `table` that match `query`. `page` is the number of the page, from 0. `key` is the query
 * key without that number.
 */
export function carouselQuery<Table extends keyof Tables>(
  backend: PublicBackend,
  table: Table,
  query: Record<string, string>,
  key: QueryKey,
  page: number,
): CarouselQuery<Tables[Table]["Row"]> {
  const range = { from: page * CAROUSEL_PAGE, count: CAROUSEL_PAGE };
  return {
    queryKey: [...key, page],
    queryFn: ({ signal }) => backend.readRange(table, query, range, signal),
  };
}
