import { screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { Route, Routes, useLocation } from "react-router";
import { expect, test, vi } from "vitest";
// The dialog is imported first, so that no test waits while it is compiled.
import "@/features/artworks/components/artwork-dialog";
import { GalleryPage } from "@/features/artworks/components/gallery-page";
import type { Language } from "@/lib/boot";
import type { Series } from "@/lib/types";
import { aProduct } from "@/test/a-product";
import { answerRequests, type SeenRequest } from "@/test/answer-requests";
import { renderApp } from "@/test/render";

const light: Series = {
  id: "00000000-0000-4000-8000-0000000000a1",
  slug: "light-on-lime",
  title: "Light on lime",
  title_pt: null,
  text: "What the sun does.",
  text_pt: "O que o sol faz.",
  cover_id: null,
  position: "a",
  is_published: true,
  created_at: "2026-01-01T00:00:00Z",
  types: ["mural"],
  image_url: null,
};
const workId = (name: string) => `00000000-0000-4000-8000-00000000000${name}`;
const works = ["a", "b", "c"].map((name) =>
  aProduct({ id: workId(name), title: `Work ${name}`, artwork_type: "mural" }),
);
/** The works of the series in its order. */
const inSeries = ["c", "a"].map(workId);

function renderGallery(path: string, language: Language = "en") {
  const requests: SeenRequest[] = answerRequests(({ path: table, query }) => {
    const range = (rows: unknown[]) => ({
      status: 206,
      headers: { "Content-Range": `0-${rows.length - 1}/${rows.length}` },
      json: rows,
    });
    if (table === "/rest/v1/series") {
      const slug = query.get("slug");
      return { json: slug === null || slug === `eq.${light.slug}` ? [light] : [] };
    }
    if (table === "/rest/v1/series_works")
      return range(inSeries.map((product_id) => ({ product_id })));
    const ids = query.get("id");
    return ids ? { json: works.filter(({ id }) => ids.includes(id)) } : range(works);
  });
  renderApp(
    <Routes>
      <Route path="/gallery/:type" element={<Gallery />} />
    </Routes>,
    { path, language },
  );
  return requests;
}

function Gallery() {
  const { pathname } = useLocation();
  return <GalleryPage type={pathname.split("/")[2]} onEnquire={vi.fn()} />;
}

const titles = () =>
  screen
    .getAllByRole("listitem")
    .flatMap((item) => /Open (Work \w)/.exec(item.textContent)?.[1] ?? []);

test("S2-series-row S2-series-page: the row links to a series, whose page shows its works in order, and a filter leads back to the gallery", async () => {
  const requests = renderGallery("/gallery/mural");
  const row = within(await screen.findByRole("navigation", { name: "Series" }));
  expect(requests.find(({ path }) => path === "/rest/v1/series")!.query.get("types")).toBe(
    "cs.{mural}",
  );
  await userEvent.click(row.getByRole("link", { name: "Light on lime" }));
  expect(await screen.findByRole("heading", { name: "Light on lime", level: 1 })).toBeVisible();
  await waitFor(() => expect(titles()).toEqual(["Work c", "Work a"]));
  expect(await screen.findByText("What the sun does.")).toBeVisible();
  expect(row.getByRole("link", { name: "Light on lime" })).toHaveAttribute("aria-current", "page");
  const pairs = requests.find(({ path }) => path === "/rest/v1/series_works")!;
  expect(pairs.query.get("series_id")).toBe(`eq.${light.id}`);
  expect(pairs.query.getAll("artwork_type")).toEqual(["not.in.(oil,acrylic)", "eq.mural"]);
  expect(pairs.headers.get("Range")).toBe("0-47");
  await waitFor(() => expect(document.title).toBe("Light on lime · Gallery · Alvor"));
  const filters = within(screen.getByRole("navigation", { name: "Filter by type" }));
  await userEvent.click(filters.getByRole("link", { name: "All" }));
  expect(await screen.findByRole("heading", { name: "Gallery", level: 1 })).toBeVisible();
  expect(titles()).toEqual(["Work a", "Work b", "Work c"]);
});

test("S2-route-9: the URL of a work opens it also over the page of a series that does not have it", async () => {
  renderGallery(`/gallery/mural?series=light-on-lime&art=${workId("b")}`);
  expect(await screen.findByRole("dialog", { name: "Work b" })).toBeVisible();
  expect(
    screen.queryByText("This link leads to a work that is no longer in the gallery."),
  ).toBeNull();
});

test("S2-series-language: a title without a translation is marked with its language", async () => {
  renderGallery("/gallery/all?series=light-on-lime", "pt");
  expect(await screen.findByRole("heading", { name: "Light on lime" })).toHaveAttribute(
    "lang",
    "en",
  );
  expect(await screen.findByText("O que o sol faz.")).not.toHaveAttribute("lang");
});

test.each(["nobody", "Not a slug"])(
  "S2-series-missing: the URL of an unknown series shows the gallery and a notice: %s",
  async (slug) => {
    renderGallery(`/gallery/all?series=${encodeURIComponent(slug)}`);
    expect(
      await screen.findByText("This link leads to a series that is not in the gallery."),
    ).toBeVisible();
    expect(screen.getByRole("heading", { name: "Gallery", level: 1 })).toBeVisible();
    await waitFor(() => expect(titles()).toEqual(["Work a", "Work b", "Work c"]));
  },
);
