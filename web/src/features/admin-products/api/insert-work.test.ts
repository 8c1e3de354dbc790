import { http, HttpResponse } from "msw";
import { setupServer } from "msw/node";
import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import { insertWork } from "@/features/admin-products/api/insert-work";
import { formValues, productPayload } from "@/features/admin-products/schema";
import type { Visibility } from "@/features/admin-products/visibility";
import { ConflictError } from "@/lib/editing/update-if-unchanged";
import type { Product } from "@/lib/types";
import { testOwner } from "@/test/owner";
import { testBoot } from "@/test/render";

const products = `${testBoot.apiUrl}/rest/v1/products`;
const now = "2026-01-03T00:00:00.25+00:00";
/** The stored work. An insert does not replace it. */
let stored: Product | undefined;
let changes: Partial<Product>[] = [];

const server = setupServer(
  http.post(products, async ({ request }) => {
    if (stored) return HttpResponse.json([], { status: 201 });
    const row = (await request.json()) as Product;
    stored = { ...row, created_at: now, updated_at: now };
    if (row.published_at === "now") stored.published_at = now;
    return HttpResponse.json([{ id: row.id }], { status: 201 });
  }),
  http.get(products, () => HttpResponse.json(stored)),
  http.patch(products, async ({ request }) => {
    changes.push((await request.json()) as Partial<Product>);
    return new HttpResponse(null, { status: 204 });
  }),
);

beforeAll(() => server.listen({ onUnhandledFrame: "error" }));
afterEach(() => {
  stored = undefined;
  changes = [];
});
afterAll(() => server.close());

const payload = (title: string, visibility: Visibility) =>
  productPayload(
    { ...formValues(null), title, visibility },
    { image_url: null, image_gallery: [], video_gallery: [] },
  );

it.each([
  ["nothing", payload("Onda", "published"), payload("Onda", "published"), []],
  ["a title", payload("Onda", "draft"), payload("Maré", "draft"), [{ title: "Maré" }]],
  [
    "a work that becomes a draft",
    payload("Onda", "published"),
    payload("Onda", "draft"),
    [{ published_at: null }],
  ],
  [
    "a draft that is published",
    payload("Onda", "draft"),
    payload("Onda", "published"),
    [{ published_at: "now" }],
  ],
])(
  "A-bulk-100: a second insert of a work stores what has changed: %s",
  async (_, first, second, changed) => {
    const owner = testOwner();
    expect((await insertWork(owner, "p1", first)).error).toBeNull();
    expect((await insertWork(owner, "p1", second)).error).toBeNull();
    expect(changes).toEqual(changed);
  },
);

it("A-bulk-100: a second insert of a work that was changed since then changes nothing", async () => {
  const owner = testOwner();
  await insertWork(owner, "p1", payload("Onda", "published"));
  // The owner completes the work in the list and hides it.
  const complete = { description: "Longe da costa.", is_featured: true, published_at: null };
  stored = { ...stored!, ...complete, updated_at: "2026-01-04T00:00:00+00:00" };
  await expect(insertWork(owner, "p1", payload("Onda", "published"))).rejects.toThrow(
    ConflictError,
  );
  expect(changes).toEqual([]);
});
