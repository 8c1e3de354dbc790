import { expect, test } from "vitest";
import { ART, pageTable } from "@/app/page-table";
import { seriesKeys } from "@/features/artworks/api/get-series";
import { queryKeys } from "@/lib/query-keys";

test("P-drawn-data: the table has the keys and requests of the pages' own queries", () => {
  const pages = new Map(pageTable().map((page) => [page.path, page]));
  expect(pages.get("/")?.queries.map(({ key }) => key)).toEqual([
    queryKeys.covers.active,
    [...queryKeys.products.featured, 0],
    [...queryKeys.reviews.active, 0],
  ]);
  expect(pages.get("/")?.queries.map(({ limit }) => limit)).toEqual([undefined, 12, 12]);
  expect(pages.get("/")?.work).toEqual({
    key: queryKeys.products.featuredArtwork(ART),
    table: "products",
    query: `select=*,media&is_featured=eq.true&order=created_at.desc&id=eq.${ART}`,
    limit: undefined,
  });
  const mural = pages.get("/gallery/mural");
  const query =
    "select=*,media&artwork_type=not.in.(oil,acrylic)&order=created_at.desc&artwork_type=eq.mural";
  expect(mural?.queries).toEqual([
    { key: queryKeys.products.galleryPage("mural", 0), table: "products", query, limit: 48 },
    {
      key: seriesKeys.list("mural"),
      table: "series",
      query:
        "select=id,slug,title,title_pt,image_url,types,media&types=cs.{mural}&order=position.asc&limit=60",
      limit: undefined,
    },
  ]);
  expect(mural?.work).toEqual({
    key: queryKeys.products.galleryArtwork("mural", ART),
    table: "products",
    query: `${query}&id=eq.${ART}`,
    limit: undefined,
  });
  expect(mural?.works).toBe("artwork_type=not.in.(oil,acrylic)&artwork_type=eq.mural");
  expect(pages.get("/")?.works).toBe("is_featured=eq.true");
  expect(pages.get("/admin/settings")?.serverRendered).toBe(false);
});
