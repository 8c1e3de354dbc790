import { act, fireEvent, screen, waitFor } from "@testing-library/react";
import { http, HttpResponse } from "msw";
import { setupServer } from "msw/node";
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from "vitest";
import { ProductsPage } from "@/features/admin-products/components/products-page";
import { orderAfter } from "@/lib/place-of";
import type { MoveArgs } from "@/lib/types";
import { ownerAuth, testOwner } from "@/test/owner";
import { renderApp, testBoot } from "@/test/render";
import { collectToasts } from "@/test/toasts";

const rest = `${testBoot.apiUrl}/rest/v1`;
/** The ids of all works in the owner's order. The first letter of an id is that of the work's type. */
let order: string[];

const workOf = (id: string) => ({
  id,
  title: `Work ${id}`,
  artwork_type: id.startsWith("m") ? "mural" : "digital",
  image_url: null,
  image_gallery: [],
  video_gallery: [],
  is_featured: false,
  in_stock: true,
});

const server = setupServer(
  http.get(`${rest}/products`, ({ request }) => {
    const search = new URL(request.url).searchParams;
    const type = search.get("artwork_type")?.replace("eq.", "");
    const ids = /^in\.\((.*)\)$/.exec(search.get("id") ?? "")?.[1]?.split(",");
    return HttpResponse.json(
      order
        .map(workOf)
        .filter(
          ({ id, artwork_type }) => (!type || artwork_type === type) && (!ids || ids.includes(id)),
        ),
    );
  }),
  http.post(`${rest}/rpc/move_work`, async ({ request }) => {
    order = orderAfter(order, (await request.json()) as MoveArgs);
    return new HttpResponse(null, { status: 204 });
  }),
);

beforeAll(() => server.listen({ onUnhandledFrame: "error" }));
beforeEach(() => {
  order = ["d1", "d2", "m1", "m2", "m3"];
});
afterEach(() => server.resetHandlers());
afterAll(() => server.close());

/** Opens the wall with the murals only, and moves the first one one place further. */
async function moveFirstMural() {
  const toasts = collectToasts();
  renderApp(<ProductsPage />, {
    owner: testOwner(),
    auth: ownerAuth,
    path: "/admin/products?as=wall&sort=manual&type=mural",
  });
  const mural = await screen.findByRole("button", { name: "Select Work m1" });
  expect(screen.queryByRole("button", { name: "Select Work d1" })).not.toBeInTheDocument();
  fireEvent.keyDown(mural, { key: "ArrowRight", altKey: true });
  await waitFor(() => expect(toasts).toMatchObject([{ title: "Order saved" }]));
  expect(order).toEqual(["d1", "d2", "m2", "m1", "m3"]);
  return { toasts, undo: () => act(() => toasts[0]!.action!.onClick()) };
}

it("A-wall-drag: Undo on a filtered wall puts a work back behind the works that the wall does not show", async () => {
  const { toasts, undo } = await moveFirstMural();
  undo();
  await waitFor(() => expect(toasts[1]).toMatchObject({ title: "The change is undone" }));
  expect(order).toEqual(["d1", "d2", "m1", "m2", "m3"]);
});

it("A-history-undo: Undo of a move changes nothing if works were moved since", async () => {
  const { toasts, undo } = await moveFirstMural();
  order = ["m1", "d1", "d2", "m2", "m3"]; // another owner moves the work
  undo();
  await waitFor(() =>
    expect(toasts[1]).toMatchObject({
      description: "It has been changed in the meantime. Please look at it again.",
    }),
  );
  expect(order).toEqual(["m1", "d1", "d2", "m2", "m3"]);
});

it("A-wall-drag: a wall without filters sends a move without reading the order first", async () => {
  const toasts = collectToasts();
  const { queryClient } = renderApp(<ProductsPage />, {
    owner: testOwner(),
    auth: ownerAuth,
    path: "/admin/products?as=wall&sort=manual",
  });
  const work = await screen.findByRole("button", { name: "Select Work d1" });
  await waitFor(() => expect(queryClient.isFetching()).toBe(0));
  const requests: string[] = [];
  // These handlers only record the requests, and the usual ones answer them.
  server.use(
    http.get(`${rest}/products`, () => void requests.push("read")),
    http.post(`${rest}/rpc/move_work`, () => void requests.push("move")),
  );
  fireEvent.keyDown(work, { key: "ArrowRight", altKey: true });
  await waitFor(() => expect(toasts).toMatchObject([{ title: "Order saved" }]));
  expect(requests[0]).toBe("move");
  expect(order).toEqual(["d2", "d1", "m1", "m2", "m3"]);
});

it("a key that moves nothing does not take the focus later, from the search field", async () => {
  renderApp(<ProductsPage />, {
    owner: testOwner(),
    auth: ownerAuth,
    path: "/admin/products?as=wall&sort=manual",
  });
  const first = await screen.findByRole("button", { name: "Select Work d1" });
  first.focus();
  for (const altKey of [false, true]) {
    fireEvent.keyDown(first, { key: "ArrowLeft", altKey });
    const search = screen.getByRole("searchbox");
    search.focus();
    order = order.filter((id) => id !== "m3" && !(altKey && id === "m2"));
    fireEvent.change(search, { target: { value: altKey ? "mural" : "work" } });
    await waitFor(() =>
      expect(
        screen.queryByRole("button", { name: altKey ? "Select Work m2" : "Select Work m3" }),
      ).not.toBeInTheDocument(),
    );
    expect(search).toHaveFocus();
    first.focus();
  }
});
