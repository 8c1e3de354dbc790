import { QueryClient } from "@tanstack/react-query";
import { screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { http, HttpResponse } from "msw";
import { setupServer } from "msw/node";
import { Link, Route, Routes } from "react-router";
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from "vitest";
import { deleteProducts } from "@/features/admin-products/api/delete-product";
import { ProductsPage } from "@/features/admin-products/components/products-page";
import { Toaster } from "@/components/ui/toaster";
import type { Product } from "@/lib/types";
import { pngFile } from "@/test/files";
import { ownerAuth, testOwner } from "@/test/owner";
import { renderApp } from "@/test/render";
import { resumableUploads } from "@/test/resumable";

// The page's own origin, as in production: uploads to another origin would need a preflight request.
const apiUrl = window.location.origin;
const products = `${apiUrl}/rest/v1/products`;
const bucket = `${apiUrl}/storage/v1/object/product-images`;

let rows: Product[];
/** The ids in each request for a deletion. */
let deletions: string[][];
const idsOf = (request: Request) =>
  /^in\.\((.*)\)$/.exec(new URL(request.url).searchParams.get("id")!)![1]!.split(",");

const server = setupServer(
  http.get(products, () => HttpResponse.json(rows)),
  http.post(products, async ({ request }) => {
    const row = (await request.json()) as Product;
    rows.push(row);
    return HttpResponse.json([{ id: row.id }], { status: 201 });
  }),
  http.delete(products, ({ request }) => {
    const ids = idsOf(request);
    deletions.push(ids);
    rows = rows.filter(({ id }) => !ids.includes(id));
    return new HttpResponse(null, { status: 204 });
  }),
  http.post(`${bucket}/:name`, () => HttpResponse.json({ Id: "1", Key: "k" })),
  ...resumableUploads(apiUrl, () => undefined),
);

beforeAll(() => server.listen({ onUnhandledFrame: "error" }));
beforeEach(() => {
  rows = [];
  deletions = [];
});
afterEach(() => server.resetHandlers());
afterAll(() => server.close());

/** Saves works made from `count` pictures together, and opens another page. */
async function saveAll(count: number) {
  const user = userEvent.setup();
  const { container } = renderApp(
    <>
      <Routes>
        <Route
          path="/"
          element={
            <>
              <ProductsPage />
              <Link to="/other">Leave</Link>
            </>
          }
        />
        <Route path="/other" element="Another page" />
      </Routes>
      <Toaster />
    </>,
    { owner: testOwner(apiUrl), auth: ownerAuth, boot: { apiUrl } },
  );
  await screen.findByText("No products yet. Add the first one.");
  const input = container.querySelector<HTMLInputElement>("input[type=file][multiple]")!;
  await user.upload(
    input,
    Array.from({ length: count }, (_, n) => pngFile(`${n}.png`)),
  );
  await user.click(await screen.findByRole("button", { name: "Save all" }));
  expect(await screen.findByText(`Products created: ${count}`)).toBeInTheDocument();
  await user.click(screen.getByRole("link", { name: "Leave" }));
  expect(screen.getByText("Another page")).toBeInTheDocument();
  return { undo: async () => user.click(screen.getByRole("button", { name: "Undo" })) };
}

it("A-history-undo: the toast about works that were saved together deletes them, also from another page", async () => {
  const { undo } = await saveAll(3);
  const saved = rows.map(({ id }) => id);
  await undo();
  expect(await screen.findByText("Products removed again: 3")).toBeInTheDocument();
  expect(screen.getByText("They are in “Recently deleted” below the list.")).toBeInTheDocument();
  expect(deletions).toEqual([saved]);
});

it("deleteProducts names at most two hundred works in a request, so that its URL stays short", async () => {
  const ids = Array.from({ length: 201 }, (_, n) => `p${n}`);
  await deleteProducts(testOwner(apiUrl), new QueryClient(), ids);
  expect(deletions.map(({ length }) => length)).toEqual([200, 1]);
  expect(deletions.flat()).toEqual(ids);
});

it("A-history-undo: works that cannot be deleted stay, and a toast says so", async () => {
  const { undo } = await saveAll(2);
  server.use(http.delete(products, () => HttpResponse.json({ message: "no" }, { status: 500 })));
  await undo();
  expect(await screen.findByText("The change could not be undone.")).toBeInTheDocument();
  await waitFor(() => expect(rows).toHaveLength(2));
});
