import { queryOptions } from "@tanstack/react-query";
import type { PublicBackend } from "@/lib/backend";
import { QUERY_STALE_MS } from "@/lib/constants";
import type { GalleryFilter } from "@/lib/gallery-settings";
import type { Product, Series } from "@/lib/types";
import { typeConditions } from "@/features/artworks/api/type-conditions";
import { ARTWORKS_PER_PAGE, type ArtworksPage } from "@/features/artworks/paging";

// This file has the queries of series (works that the owner shows together): the list of series, one series, and its works.

/** The id of a series, for requests, and its slug, for URLs. */
export type SeriesName = Pick<Series, "id" | "slug">;
/** The columns of a series for the row of links to series above the gallery. */
export type SeriesEntry = Pick<
  Series,
  "id" | "slug" | "title" | "title_pt" | "image_url" | "types" | "media"
>;

// The keys of the queries below. They are not in lib/query-keys.ts, because the home page loads that file and does not need them.
// internal/pages/series.go makes the same keys.
export const seriesKeys = {
  list: (filter: GalleryFilter) => ["series", "gallery", filter] as const,
  one: (slug: string) => ["series", "one", slug] as const,
  works: (filter: GalleryFilter, slug: string) => ["products", "series", filter, slug] as const,
};

/** A series with its texts, for its page. */
type SeriesPage = SeriesEntry & Pick<Series, "text" | "text_pt">;

/** The maximum number of series in the row above the gallery. */
const LISTED_SERIES = 60;

/** The query of the series that contain a visible work of the filter, in the owner's order. */
export function seriesListQuery(backend: PublicBackend, filter: GalleryFilter) {
  const { types } = backend.boot.site.gallery;
  return queryOptions({
    queryKey: seriesKeys.list(filter),
    queryFn: ({ signal }): Promise<SeriesEntry[]> =>
      backend.read(
        "series",
        {
          select: "id,slug,title,title_pt,image_url,types,media",
          // The column has the types of the series' visible works. It must overlap with the shown types (ov), or contain the
          // filter's type (cs).
          types: filter === "all" ? `ov.{${types.join()}}` : `cs.{${filter}}`,
          order: "position.asc",
          limit: String(LISTED_SERIES),
        },
        signal,
      ),
    staleTime: QUERY_STALE_MS,
  });
}

/** The query of one series by its slug. The data are null if visitors see no series with this slug. */
export function seriesQuery(backend: PublicBackend, slug: string) {
  return queryOptions({
    queryKey: seriesKeys.one(slug),
    queryFn: async ({ signal }): Promise<SeriesPage | null> => {
      const [found] = await backend.read(
        "series",
        {
          select: "id,slug,title,title_pt,text,text_pt,image_url,types,media",
          slug: `eq.${slug}`,
        },
        signal,
      );
      return found ?? null;
    },
  });
}

/**
 * The query of one page of the works of a series, in the order of the series. The first request reads the ids of the works,
 * and the second request reads the works.
 */
export function seriesWorksQuery(
  backend: PublicBackend,
  filter: GalleryFilter,
  { id, slug }: SeriesName,
  page: number,
) {
  return queryOptions({
    queryKey: [...seriesKeys.works(filter, slug), page] as const,
    queryFn: async ({ signal }): Promise<ArtworksPage> => {
      const pairs = await backend.readRange(
        "series_works",
        [
          ["select", "product_id"],
          ["series_id", `eq.${id}`],
          ...typeConditions(backend, filter),
          ["order", "position.asc"],
        ],
        { from: page * ARTWORKS_PER_PAGE, count: ARTWORKS_PER_PAGE },
        signal,
      );
      const ids = pairs.rows.map(({ product_id }) => product_id);
      const works = new Map<string, Product>();
      if (ids.length > 0) {
        const query = { select: "*,media", id: `in.(${ids.join()})` };
        for (const work of await backend.read("products", query, signal)) works.set(work.id, work);
      }
      // A work that was hidden between the two requests is left out.
      return { rows: ids.flatMap((one) => works.get(one) ?? []), total: pairs.total };
    },
    staleTime: QUERY_STALE_MS,
  });
}
