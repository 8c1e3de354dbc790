import { screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { http, HttpResponse } from "msw";
import { setupServer } from "msw/node";
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from "vitest";
import { CoversPage } from "@/features/admin-covers/components/covers-page";
import type { CoverImage } from "@/lib/types";
import { ownerAuth, testOwner } from "@/test/owner";
import { renderApp } from "@/test/render";
import { collectToasts } from "@/test/toasts";

const apiUrl = window.location.origin;
const covers = `${apiUrl}/rest/v1/cover_images`;
const products = `${apiUrl}/rest/v1/products`;
const url = (bucket: string, name: string) =>
  `${apiUrl}/storage/v1/object/public/${bucket}/${name}`;

const works = ["Onda", "Maré", "Cais"].map((title, n) => ({
  id: `w${n}`,
  title,
  image_url: url("product-images", `${n}.JPG`),
  is_published: n !== 2,
}));
let row: CoverImage;
let added: CoverImage[];
const calls: { what: string; body: unknown }[] = [];
const searches: URLSearchParams[] = [];
const server = setupServer(
  http.get(covers, ({ request }) =>
    HttpResponse.json(
      request.headers.get("accept")?.includes("pgrst.object") ? row : [row, ...added],
    ),
  ),
  http.get(products, ({ request }) => {
    const search = new URL(request.url).searchParams;
    searches.push(search);
    const text = search.get("or");
    const found = works.filter(({ title }) => !text || text.includes(`%${title}%`));
    const total = text ? found.length : 120;
    return HttpResponse.json(found, {
      headers: { "content-range": found.length ? `0-${found.length - 1}/${total}` : "*/0" },
    });
  }),
  http.post(`${apiUrl}/storage/v1/object/copy`, async ({ request }) => {
    const body = (await request.json()) as { sourceKey: string };
    calls.push({ what: "copy", body });
    return HttpResponse.json({ Id: "1", Key: "k" });
  }),
  http.patch(covers, async ({ request }) => {
    const change = (await request.json()) as Partial<CoverImage>;
    calls.push({ what: "update", body: change });
    row = { ...row, ...change };
    return HttpResponse.json([row]);
  }),
  http.post(covers, async ({ request }) => {
    const inserted = (await request.json()) as CoverImage[];
    calls.push({ what: "insert", body: inserted });
    added.push(...inserted);
    return new HttpResponse(null, { status: 201 });
  }),
  http.delete(covers, ({ request }) => {
    calls.push({ what: "delete", body: new URL(request.url).searchParams.get("id") });
    return new HttpResponse(null, { status: 204 });
  }),
  http.post(`${apiUrl}/rest/v1/rpc/reorder_covers`, async ({ request }) => {
    calls.push({ what: "order", body: ((await request.json()) as { ids: string[] }).ids });
    return new HttpResponse(null, { status: 204 });
  }),
);

beforeAll(() => server.listen({ onUnhandledFrame: "error" }));
beforeEach(() => {
  calls.length = 0;
  searches.length = 0;
  added = [];
  row = {
    id: "c1",
    image_url: url("cover-images", "c.mp4"),
    title: "Costa",
    description: null,
    media_type: "video",
    video_thumbnail_url: url("cover-images", "c.mp4"),
    is_active: true,
    display_order: 1,
  };
});
afterEach(() => server.resetHandlers());
afterAll(() => server.close());

async function open(button: string) {
  const user = userEvent.setup();
  const toasts = collectToasts();
  renderApp(<CoversPage />, { owner: testOwner(apiUrl), auth: ownerAuth, boot: { apiUrl } });
  await screen.findByRole("heading", { name: "Costa" });
  await user.click(screen.getByRole("button", { name: button }));
  const dialog = screen.getByRole("dialog", { name: "Choose from works" });
  await within(dialog).findByRole("button", { name: "Choose Onda" });
  return { user, toasts, dialog };
}

/** The names of the copies, in order. */
const copies = () =>
  calls
    .filter(({ what }) => what === "copy")
    .map(({ body }) => body as { destinationKey: string; sourceKey: string });

it("A-cov-13: a cover gets a copy of the picture of a work with two presses, and its own picture back by the toast", async () => {
  const before = { ...row };
  const { user, toasts } = await open("Choose from works for Costa");
  await user.click(screen.getByRole("button", { name: "Choose Maré" }));
  await waitFor(() => expect(toasts).toHaveLength(1));
  expect(toasts[0]).toMatchObject({ title: "Cover image updated successfully" });
  expect(screen.queryByRole("dialog")).not.toBeInTheDocument();
  const [copy] = copies();
  expect(copy).toMatchObject({
    bucketId: "product-images",
    sourceKey: "1.JPG",
    destinationBucket: "cover-images",
  });
  expect(copy!.destinationKey).toMatch(/^[0-9a-f-]{36}\.jpg$/);
  expect(calls[1]).toEqual({
    what: "update",
    body: {
      image_url: url("cover-images", copy!.destinationKey),
      media_type: "image",
      video_thumbnail_url: null,
    },
  });
  calls.length = 0;
  toasts[0]!.action!.onClick();
  await waitFor(() => expect(toasts).toHaveLength(2));
  expect(calls).toEqual([
    {
      what: "update",
      body: {
        image_url: before.image_url,
        media_type: "video",
        video_thumbnail_url: before.video_thumbnail_url,
      },
    },
  ]);
});

it("A-cov-13: a failed copy changes nothing, and the dialog stays open", async () => {
  server.use(
    http.post(`${apiUrl}/storage/v1/object/copy`, () =>
      HttpResponse.json({ statusCode: "413", message: "The store is full" }, { status: 400 }),
    ),
  );
  const { user, toasts } = await open("Choose from works for Costa");
  await user.click(screen.getByRole("button", { name: "Choose Maré" }));
  await waitFor(() =>
    expect(toasts).toMatchObject([{ title: "Error", description: "The store is full" }]),
  );
  expect(calls).toEqual([]);
  expect(screen.getByRole("dialog")).toBeInTheDocument();
});

it("A-cov-14: several works become covers in the order of the choice, also from another search, and the toast removes them again", async () => {
  const { user, toasts, dialog } = await open("Choose from works");
  const add = () => within(dialog).getByRole("button", { name: /^Add as covers/ });
  expect(add()).toBeDisabled();
  await user.click(within(dialog).getByRole("button", { name: "Choose Cais" }));
  await user.click(within(dialog).getByRole("button", { name: "Choose Onda" }));
  await user.type(within(dialog).getByRole("searchbox", { name: "Search" }), "Maré");
  await waitFor(() =>
    expect(within(dialog).queryByRole("button", { name: /Onda/ })).not.toBeInTheDocument(),
  );
  await user.click(within(dialog).getByRole("button", { name: "Choose Maré" }));
  expect(within(dialog).getByRole("button", { name: "Maré, chosen as number 3" })).toHaveAttribute(
    "aria-pressed",
    "true",
  );
  await user.clear(within(dialog).getByRole("searchbox", { name: "Search" }));
  const onda = await within(dialog).findByRole("button", { name: "Onda, chosen as number 2" });
  await user.click(onda);
  expect(within(dialog).getByRole("button", { name: "Choose Onda" })).toBeInTheDocument();
  expect(add()).toHaveAccessibleName("Add as covers (2)");
  await user.click(add());
  await waitFor(() => expect(toasts).toMatchObject([{ title: "Covers added: 2" }]));
  expect(copies().map(({ sourceKey }) => sourceKey)).toEqual(["2.JPG", "1.JPG"]);
  expect(calls.at(-1)).toMatchObject({
    what: "insert",
    body: [
      { title: "Cais", display_order: 2, media_type: "image", is_active: true },
      { title: "Maré", display_order: 3 },
    ],
  });
  calls.length = 0;
  toasts[0]!.action!.onClick();
  await waitFor(() => expect(toasts).toHaveLength(2));
  expect(calls).toEqual([
    { what: "delete", body: `in.(${added.map(({ id }) => id).join()})` },
    { what: "order", body: [] },
  ]);
});

it("A-cov-14: covers whose response was lost are not added again, and their pictures are not copied again", async () => {
  server.use(
    http.post(
      covers,
      async ({ request }) => {
        added.push(...((await request.json()) as CoverImage[]));
        return HttpResponse.error();
      },
      { once: true },
    ),
  );
  const { user, toasts, dialog } = await open("Choose from works");
  await user.click(within(dialog).getByRole("button", { name: "Choose Cais" }));
  await user.click(within(dialog).getByRole("button", { name: "Add as covers (1)" }));
  await waitFor(() => expect(toasts).toMatchObject([{ title: "Error" }]));
  await user.click(within(dialog).getByRole("button", { name: "Choose Onda" }));
  await user.click(within(dialog).getByRole("button", { name: "Add as covers (2)" }));
  await waitFor(() => expect(toasts[1]).toMatchObject({ title: "Covers added: 2" }));
  expect(added.map(({ title, display_order }) => [title, display_order])).toEqual([
    ["Cais", 2],
    ["Onda", 3],
  ]);
  expect(copies().map(({ sourceKey }) => sourceKey)).toEqual(["2.JPG", "0.JPG"]);
});

it("A-cov-14: works with a picture are requested newest first, in pages, and can be searched", async () => {
  const { user, dialog } = await open("Choose from works");
  expect(Object.fromEntries(searches[0]!)).toMatchObject({
    order: "created_at.desc",
    offset: "0",
    limit: "50",
  });
  expect(searches[0]!.getAll("image_url")).toEqual(["not.is.null", "neq."]);
  await user.click(within(dialog).getByRole("button", { name: "Next" }));
  await waitFor(() => expect(searches.at(-1)!.get("offset")).toBe("50"));
  await user.type(within(dialog).getByRole("searchbox", { name: "Search" }), "nothing");
  expect(await within(dialog).findByText("No work matches this search.")).toBeInTheDocument();
  expect(searches.at(-1)!.get("offset")).toBe("0");
});

it("A-cov-14: arrow keys move from picture to picture, and Tab leaves the pictures", async () => {
  const { user, dialog } = await open("Choose from works");
  const button = (title: string) => within(dialog).getByRole("button", { name: `Choose ${title}` });
  await user.click(within(dialog).getByRole("searchbox", { name: "Search" }));
  await user.tab();
  expect(button("Onda")).toHaveFocus();
  await user.keyboard("{ArrowRight}");
  expect(button("Maré")).toHaveFocus();
  await user.keyboard("{End}");
  expect(button("Cais")).toHaveFocus();
  await user.keyboard("{ArrowRight}{Home}{ArrowLeft}");
  expect(button("Onda")).toHaveFocus();
  await user.keyboard("{Enter}");
  expect(within(dialog).getByRole("button", { name: "Onda, chosen as number 1" })).toHaveFocus();
  await user.tab();
  expect(within(dialog).getByRole("button", { name: "Next" })).toHaveFocus();
});

it("A-cov-14: marks works that are not published, and says when no work has a picture", async () => {
  const { user, dialog } = await open("Choose from works");
  expect(within(dialog).getAllByText("Not published")).toHaveLength(1);
  server.use(
    http.get(products, () => HttpResponse.json([], { headers: { "content-range": "*/0" } })),
  );
  await user.click(within(dialog).getByRole("button", { name: "Next" }));
  expect(await within(dialog).findByText("No work has a picture yet.")).toBeInTheDocument();
});
