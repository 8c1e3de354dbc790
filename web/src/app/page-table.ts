import type { QueryFunction, QueryKey } from "@tanstack/react-query";
import {
  featuredArtworkQuery,
  featuredProductsQuery,
} from "@/features/artworks/api/get-featured-products";
import { artworksPageQuery } from "@/features/artworks/api/get-artworks-page";
import { seriesListQuery } from "@/features/artworks/api/get-series";
import { artworkQuery } from "@/features/artworks/api/get-artwork";
import { coversQuery } from "@/features/hero/api/get-covers";
import { reviewsQuery } from "@/features/reviews/api/get-reviews";
import type { PublicBackend } from "@/lib/backend";
import { ARTWORK_TYPES } from "@/lib/constants";
import { DEFAULT_GALLERY, type GalleryFilter } from "@/lib/gallery-settings";

// This file makes the page table: the paths of all pages, and the queries whose data the server puts into each page. The build
// writes the table into the page manifest, a JSON file that the server reads. A new page needs an entry in pageTable. For a page of
// the admin area, its path in ADMIN_PATHS is enough.

/**
 * A query whose data the server puts into the page, so that the first render makes no request: the key in the query cache
 * and the REST request that the query function makes.
 */
type PageQuery = {
  key: QueryKey;
  table: string;
  /** The query string of the request, not percent-encoded. */
  query: string;
  /**
   * The number of rows, if the query reads a range. The data of such a query are { rows, total }, where `total` counts all rows
   * that match.
   */
  limit?: number;
};

/** A page of the site, as the page manifest describes it to the server. */
export type Page = {
  path: string;
  /** A pattern of further paths that show this page, in the router's syntax. `/gallery/:type?` matches /gallery and /gallery/x. */
  pattern?: string;
  /** Whether the server renders the HTML of this page. */
  serverRendered: boolean;
  /** Source paths of the modules that must load before the first render. */
  modules: string[];
  /** The filter that selects the works of the page, as a query string of PostgREST. Undefined for pages without works. */
  works?: string;
  queries: PageQuery[];
  /**
   * The query of the work whose id is in ?art= of the URL, with ART in place of the id. Its data are the work's row, or null.
   * Undefined for pages that do not read ?art=.
   */
  work?: PageQuery;
};

/** The placeholder that the server replaces by the id of a work. */
export const ART = ":art";

/** The options of useQuery (TanStack Query) that this file needs. */
type QueryOptions = { queryKey: QueryKey; queryFn?: unknown };

const FILTERS: readonly GalleryFilter[] = ["all", ...ARTWORK_TYPES];

/**
 * Returns the key and the request of a query. It calls the query function with a backend that records the request instead of
 * sending it, so that the page table cannot differ from what the pages request.
 */
function recordRequest(makeOptions: (backend: PublicBackend) => QueryOptions): PageQuery {
  let recorded: Omit<PageQuery, "key"> | undefined;
  function record(table: string, query: object, range?: { count: number }): Promise<never> {
    const entries = (Array.isArray(query) ? query : Object.entries(query)) as [string, string][];
    // No value needs escaping, and the server's JavaScript engine has no URLSearchParams.
    recorded = {
      table,
      query: entries.map(([name, value]) => `${name}=${value}`).join("&"),
      limit: range?.count,
    };
    return new Promise(() => undefined); // never resolves: nobody uses the result
  }
  // The default settings. The server replaces the parts of the request that the owner's settings change
  // (internal/pages/site_pages.go).
  const boot = { site: { gallery: DEFAULT_GALLERY } };
  const backend = { boot, read: record, readRange: record, invoke: record } satisfies Record<
    keyof PublicBackend,
    unknown
  >;
  // "as never": the functions of this backend have simpler types than those of PublicBackend.
  const { queryKey, queryFn } = makeOptions(backend as never);
  void (queryFn as QueryFunction)({ queryKey } as never);
  if (!recorded) throw new Error(`The query ${JSON.stringify(queryKey)} makes no request`);
  return { key: queryKey, ...recorded };
}

/** The condition of a query: its parameters without `select` and `order`. `select` is the first one, so slice(1) removes an "&". */
const conditionOf = ({ query }: PageQuery) =>
  query.replaceAll(/(^|&)(select|order)=[^&]*/g, "").slice(1);

const ADMIN_PATHS = [
  "/admin",
  "/admin/auth",
  "/admin/products",
  "/admin/series",
  "/admin/reviews",
  "/admin/cover-images",
  "/admin/contact-messages",
  "/admin/contact-messages/board",
  "/admin/settings",
  "/admin/account",
  "/admin/guide",
];

/**
 * All pages of the site. The build writes them into the page manifest, which internal/pages reads
 * (vite.server.config.ts).
 */
export function pageTable(): Page[] {
  return [
    {
      path: "/",
      serverRendered: true,
      modules: [],
      works: conditionOf(recordRequest((backend) => featuredProductsQuery(backend, 0))),
      queries: [
        recordRequest(coversQuery),
        recordRequest((backend) => featuredProductsQuery(backend, 0)),
        recordRequest((backend) => reviewsQuery(backend, 0)),
      ],
      work: recordRequest((backend) => featuredArtworkQuery(backend, ART)),
    },
    ...FILTERS.map((filter) => ({
      path: `/gallery/${filter}`,
      pattern: filter === "all" ? "/gallery/:type?" : undefined,
      serverRendered: true,
      modules: ["src/app/routes/public/gallery.tsx"],
      works: conditionOf(recordRequest((backend) => artworksPageQuery(backend, filter, 0))),
      queries: [
        recordRequest((backend) => artworksPageQuery(backend, filter, 0)),
        recordRequest((backend) => seriesListQuery(backend, filter)),
      ],
      work: recordRequest((backend) => artworkQuery(backend, filter, ART)),
    })),
    {
      path: "/politica-privacidade",
      serverRendered: true,
      modules: ["src/app/routes/public/privacy.tsx", "src/locales/privacy.json"],
      queries: [],
    },
    ...ADMIN_PATHS.map((path) => ({ path, serverRendered: false, modules: [], queries: [] })),
  ];
}
