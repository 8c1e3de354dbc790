import { act, screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { Route, Routes } from "react-router";
import { expect, test, vi } from "vitest";
// The dialog is imported first, so that no test waits while it is compiled.
import "@/features/artworks/components/artwork-dialog";
import { GalleryPage } from "@/features/artworks/components/gallery-page";
import type { Product } from "@/lib/types";
import { aProduct } from "@/test/a-product";
import { answerRequests, type SeenRequest } from "@/test/answer-requests";
import { renderApp } from "@/test/render";

const idOf = (n: number) => `00000000-0000-4000-8000-${String(n).padStart(12, "0")}`;

/** A card's accessible name begins with its title; the caption follows. */
const cardName = (n: number) => new RegExp(`^Open Work ${n}(?!\\d)`);

/**
 * Renders the gallery. Responds to requests for ranges of a long list as the server does, unless `answer` returns a
 * response.
 */
function renderGrid(
  total: number,
  { path = "/gallery/all", fails = () => false }: { path?: string; fails?: () => boolean } = {},
) {
  const gallery = { total };
  const work = (n: number): Product => aProduct({ id: idOf(n), title: `Work ${n}` });
  const requests: SeenRequest[] = []; // the requests for works
  answerRequests((request) => {
    if (request.path === "/rest/v1/series") return { json: [] };
    requests.push(request);
    const { query, headers } = request;
    const one = query.get("id");
    if (one) {
      const n = Number(one.slice(-12));
      return { json: n <= gallery.total ? [work(n)] : [] };
    }
    const [from = 0, to = 0] = (headers.get("Range") ?? "").split("-").map(Number);
    if (from > 0 && fails()) return { status: 500, json: { message: "broken" } };
    const end = Math.min(to + 1, gallery.total);
    return {
      status: 206,
      headers: { "Content-Range": `${from}-${end - 1}/${gallery.total}` },
      json: Array.from({ length: end - from }, (_, n) => work(from + n + 1)),
    };
  });
  const observer = observeBlocks();
  renderApp(
    <Routes>
      <Route path="/gallery/:type" element={<GalleryPage type="all" onEnquire={vi.fn()} />} />
    </Routes>,
    { path },
  );
  const ranges = () => requests.map(({ headers }) => headers.get("Range"));
  return { gallery, requests, ranges, ...observer };
}

/** Replaces the browser's IntersectionObserver. */
function observeBlocks() {
  let notifyObserver: IntersectionObserverCallback | undefined;
  class Near {
    constructor(callback: IntersectionObserverCallback) {
      notifyObserver = callback;
    }
    observe() {}
    unobserve() {}
    disconnect() {}
  }
  vi.stubGlobal("IntersectionObserver", Near);
  return {
    near: (block: number, isIntersecting: boolean) =>
      act(() => {
        const target = screen.getByRole("list", { name: "" }).children[block]!;
        notifyObserver?.(
          [{ target, isIntersecting } as unknown as IntersectionObserverEntry],
          {} as IntersectionObserver,
        );
      }),
  };
}

vi.mock("@/features/artworks/components/gallery-filters", () => ({ GalleryFilters: () => null }));

test("of 5,000 works only those near the viewport are requested and rendered", async () => {
  const { ranges, requests, near } = renderGrid(5000);
  await screen.findByRole("link", { name: cardName(1) });
  expect(ranges()).toEqual(["0-47"]);
  expect(requests[0]!.headers.get("Prefer")).toBe("count=exact");
  expect(screen.getAllByRole("listitem")).toHaveLength(12);
  expect(screen.getAllByRole("listitem")[11]).toHaveAttribute("aria-posinset", "12");
  expect(screen.getAllByRole("listitem")[11]).toHaveAttribute("aria-setsize", "5000");
  expect(screen.getByRole("status")).toHaveTextContent("Works on this wall: 5000");

  near(416, true);
  expect(screen.getByRole("group", { name: "Loading artworks…" })).toBeInTheDocument();
  expect(await screen.findByRole("link", { name: cardName(5000) })).toBeInTheDocument();
  expect(ranges()).toEqual(["0-47", "4992-5039"]);

  near(0, false);
  expect(screen.queryByRole("link", { name: cardName(1) })).toBeNull();
  expect(screen.getAllByRole("listitem")).toHaveLength(8);
});

test("the blocks of one page share one request", async () => {
  const { ranges, near } = renderGrid(100);
  await screen.findByRole("link", { name: cardName(1) });
  for (const block of [1, 2, 3]) near(block, true);
  expect(await screen.findByRole("link", { name: cardName(48) })).toBeInTheDocument();
  expect(ranges()).toEqual(["0-47"]);
});

test("a block that contains the focus stays rendered until the focus leaves it", async () => {
  const { near } = renderGrid(100);
  const card = await screen.findByRole("link", { name: cardName(3) });
  act(() => card.focus());
  near(0, false);
  expect(card).toHaveFocus();
  act(() => card.blur());
  expect(screen.queryByRole("link", { name: cardName(3) })).toBeNull();
});

test("the blocks next to the focus are rendered, wherever the page is scrolled", async () => {
  renderGrid(100);
  const card = await screen.findByRole("link", { name: cardName(12) });
  expect(screen.queryByRole("link", { name: cardName(13) })).toBeNull();
  act(() => card.focus());
  await userEvent.tab();
  const next = screen.getByRole("link", { name: cardName(13) });
  expect(next).toHaveFocus();
  expect(screen.getByRole("link", { name: cardName(25) })).toBeInTheDocument();
  expect(screen.queryByRole("link", { name: cardName(37) })).toBeNull();
});

test("Shift+Tab into works that are loading focuses the last one once they have loaded", async () => {
  const { near } = renderGrid(100);
  await screen.findByRole("link", { name: cardName(1) });
  near(8, true);
  // The page of this work was not requested: the page below has the works 97 to 100.
  act(() => screen.getByRole("group", { name: "Loading artworks…" }).focus());
  await waitFor(() => expect(screen.getByRole("link", { name: cardName(97) })).toHaveFocus());
  await userEvent.tab({ shift: true });
  await waitFor(() => expect(screen.getByRole("link", { name: cardName(96) })).toHaveFocus());
});

test("Tab into works that are loading focuses the first one once they have loaded", async () => {
  const { near } = renderGrid(100);
  await screen.findByRole("link", { name: cardName(1) });
  near(4, true);
  const waiting = screen.getByRole("group", { name: "Loading artworks…" });
  act(() => waiting.focus());
  await waitFor(() => expect(screen.getByRole("link", { name: cardName(49) })).toHaveFocus());
});

test("a page that fails to load shows an error in its place, with a retry that moves the focus to the works", async () => {
  let broken = true;
  const { near } = renderGrid(100, { fails: () => broken });
  await screen.findByRole("link", { name: cardName(1) });
  near(4, true);
  expect(await screen.findByText("The gallery could not be loaded.")).toBeInTheDocument();
  expect(screen.getByRole("link", { name: cardName(1) })).toBeInTheDocument();
  broken = false;
  await userEvent.click(screen.getByRole("button", { name: "Try again" }));
  await waitFor(() => expect(screen.getByRole("link", { name: cardName(49) })).toHaveFocus());
});

test("a changed total number of works refetches the gallery", async () => {
  const { gallery, near } = renderGrid(100);
  await screen.findByRole("link", { name: cardName(1) });
  gallery.total = 130;
  near(4, true);
  await waitFor(() =>
    expect(screen.getAllByRole("listitem")[0]).toHaveAttribute("aria-setsize", "130"),
  );
});

test("a URL with the id of a work that is not loaded fetches the work and opens its dialog", async () => {
  const { requests } = renderGrid(5000, { path: `/gallery/all?art=${idOf(4321)}` });
  const dialog = await screen.findByRole("dialog", { name: "Work 4321" });
  expect(within(dialog).getByText("Digital Painting")).toBeVisible();
  expect(requests).toHaveLength(2);
  expect(requests[1]!.query.get("id")).toBe(`eq.${idOf(4321)}`);
  expect(requests[1]!.query.getAll("artwork_type")).toEqual(["not.in.(oil,acrylic)"]);
});

test.each([idOf(9999), "nobody"])("a URL with an unknown work opens no dialog: %s", async (id) => {
  const { requests } = renderGrid(5000, { path: `/gallery/all?art=${id}` });
  await screen.findByRole("link", { name: cardName(1) });
  await waitFor(() => expect(requests).toHaveLength(id === "nobody" ? 1 : 2));
  expect(screen.queryByRole("dialog")).toBeNull();
});

test("a long gallery has a link that skips it", async () => {
  renderGrid(49);
  const skip = await screen.findByRole("link", { name: "Skip the works" });
  const end = document.querySelector(skip.getAttribute("href")!);
  expect(end).toHaveTextContent("End of the gallery");
  expect(end).toHaveAttribute("tabindex", "-1");
});

test("a short gallery has no skip link", async () => {
  renderGrid(48);
  await screen.findByRole("link", { name: cardName(1) });
  expect(screen.queryByRole("link", { name: "Skip the works" })).toBeNull();
});
