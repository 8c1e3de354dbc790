import { http, HttpResponse } from "msw";
import { setupServer } from "msw/node";
import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import { ConflictError, updateIfUnchanged } from "@/lib/editing/update-if-unchanged";
import type { CoverImage, Product } from "@/lib/types";
import { testOwner } from "@/test/owner";
import { testBoot } from "@/test/render";

const rest = `${testBoot.apiUrl}/rest/v1`;
const server = setupServer();

beforeAll(() => server.listen({ onUnhandledFrame: "error" }));
afterEach(() => server.resetHandlers());
afterAll(() => server.close());

/** Serves one row of a table, which another save has changed since the form was loaded. */
function serve(table: string, row: { updated_at?: string | null }) {
  server.use(
    http.patch(`${rest}/${table}`, ({ request }) => {
      const expected = new URL(request.url).searchParams.get("updated_at");
      return HttpResponse.json(expected === `eq.${row.updated_at}` ? [row] : []);
    }),
    http.get(`${rest}/${table}`, () => HttpResponse.json(row)),
  );
}

const loadedAt = "2026-01-02T00:00:00+00:00";
const savedAt = "2026-01-03T00:00:00.25+00:00";
const work = (published_at: string | null, updated_at = savedAt) =>
  ({ id: "w1", title: "Onda", published_at, updated_at }) as Product;
const draft = work(null, loadedAt);

it.each([
  ["the server's time", savedAt, "now"],
  [
    "a time that the server writes differently",
    "2999-06-01T09:00:00+00:00",
    "2999-06-01T09:00:00.000Z",
  ],
])(
  "A-prod-15: a work that has %s already is saved again without a conflict",
  async (_, stored, sent) => {
    const row = work(stored);
    serve("products", row);
    await expect(
      updateIfUnchanged(testOwner(), "products", draft, { published_at: sent }),
    ).resolves.toEqual(row);
  },
);

it.each([
  ["was scheduled", work("2999-06-01T09:00:00+00:00"), draft, "now"],
  ["was hidden", work(null), work("2999-06-01T09:00:00+00:00", loadedAt), "now"],
  ["has another time", work("2999-06-02T09:00:00+00:00"), draft, "2999-06-01T09:00:00.000Z"],
])("A-prod-15: publishing a work that %s meanwhile is a conflict", async (_, row, base, sent) => {
  serve("products", row);
  await expect(
    updateIfUnchanged(testOwner(), "products", base, { published_at: sent }),
  ).rejects.toThrow(ConflictError);
});

it("A-prod-15: the times of a cover that the server has already are saved again without a conflict", async () => {
  const base = { id: "c1", visible_from: null, updated_at: loadedAt } as CoverImage;
  const row = { ...base, visible_from: "2999-06-01T09:00:00+00:00", updated_at: savedAt };
  serve("cover_images", row);
  const change = { visible_from: "2999-06-01T09:00:00.000Z" };
  await expect(updateIfUnchanged(testOwner(), "cover_images", base, change)).resolves.toEqual(row);
});

it("A-prod-15: alternative texts are the same in any order of the pictures", async () => {
  const row = {
    ...draft,
    alt_texts: { "/a.jpg": { en: "A" }, "/b.jpg": { en: "B" } },
    updated_at: savedAt,
  };
  serve("products", row);
  const change = { alt_texts: { "/b.jpg": { en: "B" }, "/a.jpg": { en: "A" } } };
  await expect(updateIfUnchanged(testOwner(), "products", draft, change)).resolves.toEqual(row);
});
