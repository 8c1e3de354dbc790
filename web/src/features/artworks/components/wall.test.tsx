import { act, screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { Route, Routes } from "react-router";
import { expect, test, vi } from "vitest";
// The dialog is loaded on demand; here beforehand, so that no test waits while it is being compiled.
import "@/features/artworks/components/artwork-dialog";
import { GalleryPage } from "@/features/artworks/components/gallery-page";
import type { Product } from "@/lib/types";
import { aProduct } from "@/test/a-product";
import { answerRequests } from "@/test/answer-requests";
import { renderApp } from "@/test/render";

const idOf = (n: number) => `00000000-0000-4000-8000-${String(n).padStart(12, "0")}`;

/** A card's name goes on with its caption. */
const opens = (n: number) => new RegExp(`^Open Work ${n}(?!\\d)`);

/** Answers parts of a long list as the server does; `answer` may step in. */
function show(
  total: number,
  { path = "/gallery/all", fails = () => false }: { path?: string; fails?: () => boolean } = {},
) {
  const wall = { total };
  const work = (n: number): Product => aProduct({ id: idOf(n), title: `Work ${n}` });
  const requests = answerRequests(({ query, headers }) => {
    const one = query.get("id");
    if (one) {
      const n = Number(one.slice(-12));
      return { json: n <= wall.total ? [work(n)] : [] };
    }
    const [from = 0, to = 0] = (headers.get("Range") ?? "").split("-").map(Number);
    if (from > 0 && fails()) return { status: 500, json: { message: "broken" } };
    const end = Math.min(to + 1, wall.total);
    return {
      status: 206,
      headers: { "Content-Range": `${from}-${end - 1}/${wall.total}` },
      json: Array.from({ length: end - from }, (_, n) => work(from + n + 1)),
    };
  });
  const observer = observeBlocks();
  renderApp(
    <Routes>
      <Route path="/gallery/:type" element={<GalleryPage type="all" onAsk={vi.fn()} />} />
    </Routes>,
    { path },
  );
  const ranges = () => requests.map(({ headers }) => headers.get("Range"));
  return { wall, requests, ranges, ...observer };
}

/** Stands in for the browser's sense of what is near the screen. */
function observeBlocks() {
  let told: IntersectionObserverCallback | undefined;
  class Near {
    constructor(callback: IntersectionObserverCallback) {
      told = callback;
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
        told?.(
          [{ target, isIntersecting } as unknown as IntersectionObserverEntry],
          {} as IntersectionObserver,
        );
      }),
  };
}

vi.mock("@/features/artworks/components/gallery-filters", () => ({ GalleryFilters: () => null }));

test("of 5,000 works only those near the screen are asked for and drawn", async () => {
  const { ranges, requests, near } = show(5000);
  await screen.findByRole("link", { name: opens(1) });
  expect(ranges()).toEqual(["0-47"]);
  expect(requests[0]!.headers.get("Prefer")).toBe("count=exact");
  expect(screen.getAllByRole("listitem")).toHaveLength(12);
  expect(screen.getAllByRole("listitem")[11]).toHaveAttribute("aria-posinset", "12");
  expect(screen.getAllByRole("listitem")[11]).toHaveAttribute("aria-setsize", "5000");
  expect(screen.getByRole("status")).toHaveTextContent("Works on this wall: 5000");

  near(416, true);
  expect(screen.getByRole("group", { name: "Loading artworks…" })).toBeInTheDocument();
  expect(await screen.findByRole("link", { name: opens(5000) })).toBeInTheDocument();
  expect(ranges()).toEqual(["0-47", "4992-5039"]);

  near(0, false);
  expect(screen.queryByRole("link", { name: opens(1) })).toBeNull();
  expect(screen.getAllByRole("listitem")).toHaveLength(8);
});

test("blocks of one page share its request", async () => {
  const { ranges, near } = show(100);
  await screen.findByRole("link", { name: opens(1) });
  for (const block of [1, 2, 3]) near(block, true);
  expect(await screen.findByRole("link", { name: opens(48) })).toBeInTheDocument();
  expect(ranges()).toEqual(["0-47"]);
});

test("a block that holds the focus stays until the focus leaves", async () => {
  const { near } = show(100);
  const card = await screen.findByRole("link", { name: opens(3) });
  act(() => card.focus());
  near(0, false);
  expect(card).toHaveFocus();
  act(() => card.blur());
  expect(screen.queryByRole("link", { name: opens(3) })).toBeNull();
});

test("the blocks beside the focus are drawn, however far the scrolling is behind", async () => {
  show(100);
  const card = await screen.findByRole("link", { name: opens(12) });
  expect(screen.queryByRole("link", { name: opens(13) })).toBeNull();
  act(() => card.focus());
  await userEvent.tab();
  const next = screen.getByRole("link", { name: opens(13) });
  expect(next).toHaveFocus();
  expect(screen.getByRole("link", { name: opens(25) })).toBeInTheDocument();
  expect(screen.queryByRole("link", { name: opens(37) })).toBeNull();
});

test("coming from below, the keyboard goes on to the last of the works on their way", async () => {
  const { near } = show(100);
  await screen.findByRole("link", { name: opens(1) });
  near(8, true);
  // Its page has not been asked for: the one below holds 97 to 100.
  act(() => screen.getByRole("group", { name: "Loading artworks…" }).focus());
  await waitFor(() => expect(screen.getByRole("link", { name: opens(97) })).toHaveFocus());
  await userEvent.tab({ shift: true });
  await waitFor(() => expect(screen.getByRole("link", { name: opens(96) })).toHaveFocus());
});

test("the keyboard waits on works that are on their way, and goes on to the first of them", async () => {
  const { near } = show(100);
  await screen.findByRole("link", { name: opens(1) });
  near(4, true);
  const waiting = screen.getByRole("group", { name: "Loading artworks…" });
  act(() => waiting.focus());
  await waitFor(() => expect(screen.getByRole("link", { name: opens(49) })).toHaveFocus());
});

test("a part that fails says so where it would hang, and can be tried again", async () => {
  let broken = true;
  const { near } = show(100, { fails: () => broken });
  await screen.findByRole("link", { name: opens(1) });
  near(4, true);
  expect(await screen.findByText("The gallery could not be loaded.")).toBeInTheDocument();
  expect(screen.getByRole("link", { name: opens(1) })).toBeInTheDocument();
  broken = false;
  act(() => screen.getByRole("button", { name: "Try again" }).click());
  expect(await screen.findByRole("link", { name: opens(49) })).toBeInTheDocument();
});

test("a wall that grew meanwhile is built anew", async () => {
  const { wall, near } = show(100);
  await screen.findByRole("link", { name: opens(1) });
  wall.total = 130;
  near(4, true);
  await waitFor(() =>
    expect(screen.getAllByRole("listitem")[0]).toHaveAttribute("aria-setsize", "130"),
  );
});

test("the address of a work that is not loaded yet opens its dialog by fetching that one", async () => {
  const { requests } = show(5000, { path: `/gallery/all?art=${idOf(4321)}` });
  const dialog = await screen.findByRole("dialog", { name: "Work 4321" });
  expect(within(dialog).getByText("Digital Painting")).toBeVisible();
  expect(requests).toHaveLength(2);
  expect(requests[1]!.query.get("id")).toBe(`eq.${idOf(4321)}`);
  expect(requests[1]!.query.getAll("artwork_type")).toEqual(["not.in.(oil,acrylic)"]);
});

test.each([idOf(9999), "nobody"])("an address of no work opens nothing: %s", async (id) => {
  const { requests } = show(5000, { path: `/gallery/all?art=${id}` });
  await screen.findByRole("link", { name: opens(1) });
  await waitFor(() => expect(requests).toHaveLength(id === "nobody" ? 1 : 2));
  expect(screen.queryByRole("dialog")).toBeNull();
});

test("a long wall can be skipped by keyboard; a short one has no such link", async () => {
  show(49);
  const skip = await screen.findByRole("link", { name: "Skip the works" });
  const end = document.querySelector(skip.getAttribute("href")!);
  expect(end).toHaveTextContent("End of the gallery");
  expect(end).toHaveAttribute("tabindex", "-1");
});

test("no skip link for few works", async () => {
  show(48);
  await screen.findByRole("link", { name: opens(1) });
  expect(screen.queryByRole("link", { name: "Skip the works" })).toBeNull();
});
