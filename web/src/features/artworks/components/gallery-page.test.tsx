import { screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { Route, Routes, useLocation, useNavigate } from "react-router";
import { describe, expect, test, vi } from "vitest";
// The dialog is imported first, so that no test waits while it is compiled.
import "@/features/artworks/components/artwork-dialog";
import { GalleryPage } from "@/features/artworks/components/gallery-page";
import { parseFilter } from "@/features/artworks/gallery-filter";
import type { Boot, Language } from "@/lib/boot";
import { DEFAULT_GALLERY } from "@/lib/gallery-settings";
import type { Product } from "@/lib/types";
import { aProduct } from "@/test/a-product";
import { answerRequests, type SeenRequest } from "@/test/answer-requests";
import { renderApp, testBoot } from "@/test/render";

const works = [
  aProduct({
    id: "a",
    title: "Telhados",
    artwork_type: "watercolour",
    medium: "Watercolour on paper",
  }),
  aProduct({ id: "b", title: "Sol", artwork_type: "mural", description: "A wall without sun." }),
];

function CurrentUrl() {
  const { pathname, search } = useLocation();
  const navigate = useNavigate();
  return (
    <>
      <output>{pathname + search}</output>
      <button onClick={() => void navigate(-1)}>Back</button>
    </>
  );
}

function renderGallery(
  path: string,
  rows: Product[] | Error = works,
  language: Language = "en",
  boot: Partial<Boot> = {},
) {
  const requests: SeenRequest[] = []; // the requests for works
  answerRequests((request) => {
    if (request.path === "/rest/v1/series") return { json: [] };
    requests.push(request);
    const { query } = request;
    if (rows instanceof Error) return { status: 500, json: { message: "broken" } };
    const only = query.getAll("artwork_type").find((filter) => filter.startsWith("eq."));
    return { json: rows.filter((row) => !only || only === `eq.${row.artwork_type}`) };
  });
  const onEnquire = vi.fn();
  const page = <GalleryRoute onEnquire={onEnquire} />;
  renderApp(
    <Routes>
      <Route path="/gallery" element={page} />
      <Route path="/gallery/:type" element={page} />
    </Routes>,
    { path, language, boot },
  );
  return { requests, onEnquire };
}

function GalleryRoute({ onEnquire }: { onEnquire(product: Product): void }) {
  const { pathname } = useLocation();
  return (
    <>
      <GalleryPage type={pathname.split("/")[2]} onEnquire={onEnquire} />
      <CurrentUrl />
    </>
  );
}

const currentUrl = () => document.querySelector("output")?.textContent;

test("an unknown type shows all works", () => {
  const { types } = DEFAULT_GALLERY;
  expect(parseFilter(undefined, types)).toBe("all");
  expect(parseFilter("oil", types)).toBe("all");
  expect(parseFilter("fresco", types)).toBe("all");
  expect(parseFilter("mural", types)).toBe("mural");
  expect(parseFilter("oil", ["oil"])).toBe("oil");
  expect(parseFilter("mural", ["oil"])).toBe("all");
});

describe("the request", () => {
  test("omits oil and acrylic, newest first", async () => {
    const { requests } = renderGallery("/gallery/all");
    await screen.findByRole("link", { name: /Telhados/ });
    expect(requests).toHaveLength(1);
    expect(requests[0]!.path).toBe("/rest/v1/products");
    expect(requests[0]!.query.getAll("artwork_type")).toEqual(["not.in.(oil,acrylic)"]);
    expect(requests[0]!.query.get("order")).toBe("created_at.desc");
    expect(requests[0]!.query.get("select")).toBe("*,media");
  });

  test("is filtered by the type of the route", async () => {
    const { requests } = renderGallery("/gallery/mural");
    await screen.findByRole("link", { name: /Sol/ });
    expect(screen.queryByRole("link", { name: /Telhados/ })).toBeNull();
    expect(requests[0]!.query.getAll("artwork_type")).toContain("eq.mural");
  });
});

describe("S2-gallery-choice: the owner's choices", () => {
  const boot: Partial<Boot> = {
    site: {
      ...testBoot.site,
      gallery: { types: ["oil", "mural"], order: "position.asc", hideEmpty: true },
    },
    empty: ["mural"],
  };

  test("decide the types and the order in the request", async () => {
    const { requests } = renderGallery("/gallery/oil", works, "en", boot);
    await screen.findByText("Nothing hangs on this wall yet.");
    expect(requests[0]!.query.getAll("artwork_type")).toEqual([
      "not.in.(digital,watercolour,acrylic)",
      "eq.oil",
    ]);
    expect(requests[0]!.query.get("order")).toBe("position.asc");
  });

  test("decide the filter buttons", async () => {
    renderGallery("/gallery/digital", works, "en", boot);
    const filters = within(screen.getByRole("navigation", { name: "Filter by type" }));
    expect(filters.getAllByRole("link").map((link) => link.textContent)).toEqual(["All", "Oil"]);
    expect(filters.getByRole("link", { name: "All" })).toHaveAttribute("aria-current", "page");
    expect(await screen.findByRole("link", { name: /Telhados/ })).toHaveAttribute(
      "href",
      "/?art=a", // a watercolour, a type that is not in the gallery
    );
  });
});

test("S2-gallery-1: shows a loading message, then the works with their captions", async () => {
  renderGallery("/gallery/all");
  expect(screen.getByText("Loading artworks…")).toBeVisible();
  const card = await screen.findByRole("link", { name: /Open Telhados/ });
  expect(within(card).getByText("Watercolour on paper")).toBeVisible();
  expect(screen.queryByText("Loading artworks…")).toBeNull();
});

test("the filters are links, the current one is marked, and loaded works stay visible", async () => {
  renderGallery("/gallery/whatever");
  await screen.findByRole("link", { name: /Telhados/ });
  const filters = within(screen.getByRole("navigation", { name: "Filter by type" }));
  expect(filters.getByRole("link", { name: "All" })).toHaveAttribute("aria-current", "page");
  await userEvent.click(filters.getByRole("link", { name: "Mural" }));
  expect(currentUrl()).toBe("/gallery/mural");
  expect(screen.queryByText("Loading artworks…")).toBeNull();
  expect(screen.getAllByRole("link", { name: /^Open/ })).toHaveLength(1);
  await waitFor(() =>
    expect(filters.getByRole("link", { name: "Mural" })).toHaveAttribute("aria-current"),
  );
});

test("a change of the filter moves the focus from a work to the filter; Back does not", async () => {
  renderGallery("/gallery/all");
  (await screen.findByRole("link", { name: /Open Sol/ })).focus();
  const mural = screen.getByRole("link", { name: "Mural" });
  mural.click();
  await waitFor(() => expect(mural).toHaveFocus());
  expect(screen.queryByRole("link", { name: /Open Telhados/ })).toBeNull();
  screen.getByRole("link", { name: /Open Sol/ }).focus();
  screen.getByText("Back").click();
  await screen.findByRole("link", { name: /Open Telhados/ });
  expect(document.body).toHaveFocus();
});

describe("the dialog", () => {
  test("opens with the clicked work, has its own URL, and Back closes it", async () => {
    renderGallery("/gallery/all?lang=pt");
    await userEvent.click(await screen.findByRole("link", { name: /Open Sol/ }));
    const dialog = await screen.findByRole("dialog", { name: "Sol" });
    expect(within(dialog).getByText("A wall without sun.")).toBeVisible();
    expect(within(dialog).queryByRole("button", { name: "Next" })).toBeNull();
    expect(currentUrl()).toBe("/gallery/all?lang=pt&art=b");
    screen.getByText("Back").click();
    await waitFor(() => expect(screen.queryByRole("dialog")).toBeNull());
    expect(currentUrl()).toBe("/gallery/all?lang=pt");
  });

  test("returns the focus to the card", async () => {
    renderGallery("/gallery/all");
    const card = await screen.findByRole("link", { name: /Open Sol/ });
    await userEvent.click(card);
    await screen.findByRole("dialog");
    await userEvent.keyboard("{Escape}");
    await waitFor(() => expect(card).toHaveFocus());
    expect(currentUrl()).toBe("/gallery/all");
  });

  test("opens by its URL; closing it removes the work from the URL", async () => {
    renderGallery("/gallery/watercolour?art=a");
    await userEvent.click(
      within(await screen.findByRole("dialog", { name: "Telhados" })).getByRole("button", {
        name: "Close",
      }),
    );
    await waitFor(() => expect(screen.queryByRole("dialog")).toBeNull());
    expect(currentUrl()).toBe("/gallery/watercolour");
  });

  test("ignores an unknown id", async () => {
    renderGallery("/gallery/all?art=nobody");
    await screen.findByRole("link", { name: /Open Sol/ });
    expect(screen.queryByRole("dialog")).toBeNull();
  });

  test("starts an enquiry about the work", async () => {
    const { onEnquire } = renderGallery("/gallery/all?art=b");
    await userEvent.click(await screen.findByRole("button", { name: "Ask about this work" }));
    expect(onEnquire).toHaveBeenCalledWith(works[1]);
  });

  test("shows position and arrows for several pictures", async () => {
    const many = aProduct({
      id: "c",
      title: "Mar",
      image_gallery: ["http://backend.test/mar-2.jpg"],
    });
    renderGallery("/gallery/all?art=c", [many]);
    const dialog = within(await screen.findByRole("dialog", { name: "Mar" }));
    expect(dialog.getByText("1 of 2")).toBeInTheDocument();
    expect(dialog.getByRole("button", { name: "Next" })).toBeEnabled();
    expect(dialog.getByRole("button", { name: "Previous" })).toBeEnabled();
  });
});

test("an empty filter links to all works", async () => {
  renderGallery("/gallery/digital");
  expect(await screen.findByText("Nothing hangs on this wall yet.")).toBeVisible();
  expect(screen.getByRole("link", { name: "See all paintings" })).toHaveAttribute(
    "href",
    "/gallery/all",
  );
});

test("a failure shows an error with a retry, which has the focus again after another failure", async () => {
  const { requests } = renderGallery("/gallery/all", new Error("down"), "pt");
  expect(await screen.findByText("Não foi possível carregar a galeria.")).toBeVisible();
  await userEvent.click(screen.getByRole("button", { name: "Tentar de novo" }));
  await waitFor(() => expect(requests).toHaveLength(2));
  await waitFor(() => expect(screen.getByRole("button", { name: "Tentar de novo" })).toHaveFocus());
});
