import { act, fireEvent, screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { delay, http, HttpResponse } from "msw";
import { setupServer } from "msw/node";
import { useLocation } from "react-router";
import { afterAll, afterEach, beforeAll, beforeEach, expect, it, vi } from "vitest";
import { ProductsPage } from "@/features/admin-products/components/products-page";
import type { Boot } from "@/lib/boot";
import { draftName, deleteDraft } from "@/lib/drafts";
import type { Product } from "@/lib/types";
import { pngFile } from "@/test/files";
import { ownerAuth, testOwner } from "@/test/owner";
import { renderApp, testBoot } from "@/test/render";
import { collectToasts } from "@/test/toasts";

const fileUrl = (name: string) =>
  `${testBoot.apiUrl}/storage/v1/object/public/product-images/${name}`;

const product: Product = {
  id: "p1",
  title: "Limoeiro",
  description: null,
  artwork_type: "oil",
  image_url: fileUrl("main.jpg"),
  image_gallery: [fileUrl("a.jpg"), fileUrl("b.jpg")],
  video_gallery: [],
  is_featured: false,
  in_stock: true,
  dimensions: null,
  medium: null,
  creation_date: "2024-05-20",
  tags: [],
  is_customizable: false,
  seo_meta_title: null,
  seo_meta_desc: null,
  price: 0,
  created_at: "2026-01-02T03:04:05Z",
};

const products = `${testBoot.apiUrl}/rest/v1/products`;
const calls: { what: string; body: unknown }[] = [];
const queries: URLSearchParams[] = [];
let stored: Product;
const record =
  (what: string) =>
  async ({ request }: { request: Request }) => {
    calls.push({ what, body: JSON.parse((await request.text()) || "null") });
    if (what === "insert") return HttpResponse.json([{ id: "p9" }], { status: 201 });
    return what === "update"
      ? HttpResponse.json([{ ...product, updated_at: "2026-01-03T00:00:00Z" }])
      : new HttpResponse(null, { status: 204 });
  };
const server = setupServer(
  http.get(products, ({ request }) => {
    const search = new URL(request.url).searchParams;
    queries.push(search);
    // Answers the query whether another work uses a removed file: none does.
    if (search.get("select") === "id") return HttpResponse.json([]);
    return request.headers.get("accept")?.includes("pgrst.object")
      ? HttpResponse.json(stored)
      : HttpResponse.json([product]);
  }),
  http.post(products, record("insert")),
  http.patch(products, record("update")),
  http.delete(products, record("delete")),
  http.delete(`${testBoot.apiUrl}/storage/v1/object/product-images`, async ({ request }) => {
    calls.push({ what: "remove files", body: await request.json() });
    return HttpResponse.json([]);
  }),
);

beforeAll(() => server.listen({ onUnhandledFrame: "error" }));
beforeEach(() => {
  calls.length = 0;
  queries.length = 0;
  deleteDraft(draftName("owner", "products"));
  stored = product;
});
afterEach(() => server.resetHandlers());
afterAll(() => server.close());

async function open(path = "/admin/products", boot: Partial<Boot> = {}) {
  const user = userEvent.setup();
  const toasts = collectToasts();
  renderApp(
    <>
      <ProductsPage />
      <CurrentUrl />
    </>,
    { owner: testOwner(), auth: ownerAuth, path, boot },
  );
  await screen.findAllByText("Limoeiro");
  return { user, toasts };
}

function CurrentUrl() {
  const { search } = useLocation();
  return <output data-testid="address">{search}</output>;
}

const titles = (toasts: { title: string; description?: string }[]) =>
  toasts.map(({ title, description }) => description ?? title);

it("requests fifty works, newest first, and their total number", async () => {
  await open();
  expect(Object.fromEntries(queries[0]!)).toEqual({
    select: "*,media,updated_at,is_published",
    order: "created_at.desc.nullslast",
    offset: "0",
    limit: "50",
  });
});

it("A-prod-switch: Featured and In stock are switches in the table, and their changes can be undone", async () => {
  const { user, toasts } = await open();
  const inTable = (name: string) => within(screen.getByRole("table")).getByRole("switch", { name });
  const featured = inTable("Featured: Limoeiro");
  expect(featured).not.toBeChecked();
  featured.focus();
  await user.keyboard(" ");
  await waitFor(() => expect(calls).toEqual([{ what: "update", body: { is_featured: true } }]));
  await waitFor(() => expect(titles(toasts)).toEqual(["Works changed: 1"]));
  act(() => toasts[0]!.action!.onClick());
  await waitFor(() => expect(calls.at(-1)!.body).toEqual({ is_featured: false }));
  await user.click(inTable("In stock: Limoeiro"));
  await waitFor(() => expect(calls.at(-1)!.body).toEqual({ in_stock: false }));
});

it("A-prod-switch: a switch shows its new value immediately, and the old one again if saving fails", async () => {
  server.use(
    http.patch(products, async () => {
      await delay(20);
      return HttpResponse.json({ message: "no" }, { status: 500 });
    }),
  );
  const { user, toasts } = await open();
  const inStock = within(screen.getByRole("table")).getByRole("switch", {
    name: "In stock: Limoeiro",
  });
  await user.click(inStock);
  await waitFor(() => expect(inStock).not.toBeChecked());
  await waitFor(() => expect(titles(toasts)).toEqual(["The works could not be changed."]));
  await waitFor(() => expect(inStock).toBeChecked());
});

it("A-history-undo: Undo of a switch changes nothing if the switch was changed since", async () => {
  server.use(
    http.patch(products, async ({ request }) => {
      calls.push({ what: "update", body: await request.json() });
      return HttpResponse.json([{ id: "p1", is_featured: true }]);
    }),
  );
  const { user, toasts } = await open();
  await user.click(
    within(screen.getByRole("table")).getByRole("switch", { name: "Featured: Limoeiro" }),
  );
  await waitFor(() => expect(titles(toasts)).toEqual(["Works changed: 1"]));
  // The work, which is read again, is not featured: another owner has changed it.
  act(() => toasts[0]!.action!.onClick());
  await waitFor(() =>
    expect(titles(toasts)[1]).toBe("It has been changed in the meantime. Please look at it again."),
  );
  expect(calls).toEqual([{ what: "update", body: { is_featured: true } }]);
});

it("searches, filters and sorts on the server, by the URL", async () => {
  const { user } = await open("/admin/products?lang=pt&type=oil");
  const last = () => Object.fromEntries(queries.at(-1)!);
  expect(last()).toMatchObject({ artwork_type: "eq.oil" });
  await user.type(screen.getByRole("searchbox", { name: "Search" }), "sea");
  await waitFor(() => expect(last().or).toContain('title.ilike."%sea%"'));
  await user.selectOptions(screen.getByRole("combobox", { name: "Show" }), "Featured");
  await user.click(within(screen.getByRole("table")).getByRole("button", { name: "Title" }));
  await waitFor(() =>
    expect(last()).toMatchObject({
      artwork_type: "eq.oil",
      is_featured: "eq.true",
      order: "title.asc.nullslast",
    }),
  );
  expect(screen.getByTestId("address")).toHaveTextContent(
    "?lang=pt&type=oil&q=sea&show=featured&sort=title",
  );
  expect(screen.getByRole("columnheader", { name: "Title" })).toHaveAttribute(
    "aria-sort",
    "ascending",
  );
});

it("A-visible-2: marks drafts and scheduled works, and filters by them", async () => {
  server.use(
    http.get(products, ({ request }) => {
      queries.push(new URL(request.url).searchParams);
      return HttpResponse.json([
        product,
        { ...product, id: "p2", title: "Onda", published_at: null, is_published: false },
        {
          ...product,
          id: "p3",
          title: "Cais",
          published_at: new Date(2999, 11, 1, 9, 30).toISOString(),
          is_published: false,
        },
      ]);
    }),
  );
  const { user } = await open();
  const rows = within(screen.getByRole("table")).getAllByRole("rowheader");
  expect(rows.map((row) => row.textContent)).toEqual([
    "Limoeiro",
    "OndaDraft",
    "CaisScheduled 1 Dec 2999, 09:30",
  ]);
  const show = screen.getByRole("combobox", { name: "Show" });
  await user.selectOptions(show, "Drafts");
  await waitFor(() => expect(queries.at(-1)!.get("published_at")).toBe("is.null"));
  await user.selectOptions(show, "Scheduled");
  await waitFor(() => expect(queries.at(-1)!.get("is_published")).toBe("eq.false"));
  expect(queries.at(-1)!.get("published_at")).toBe("not.is.null");
});

it("A-visible-1 A-visible-2: hides a published work, and the toast's Undo publishes it again", async () => {
  server.use(
    http.patch(products, async ({ request }) => {
      const body = (await request.json()) as Partial<Product>;
      calls.push({ what: "update", body });
      return HttpResponse.json([{ ...product, ...body, updated_at: "2026-01-03T00:00:00Z" }]);
    }),
    http.get(products, () =>
      HttpResponse.json([{ ...product, published_at: "2026-01-02T03:04:05Z", is_published: true }]),
    ),
  );
  const { user, toasts } = await open();
  await user.click(screen.getAllByRole("button", { name: "Edit Limoeiro" })[0]!);
  const choice = await screen.findByRole("combobox", { name: "Who sees it" });
  expect(choice).toHaveValue("published");
  expect(choice).toHaveAccessibleDescription("Everyone sees it on the site.");

  await user.selectOptions(choice, "Scheduled");
  const time = screen.getByLabelText("Date and time");
  expect(time).toHaveAccessibleDescription(/^In your time zone: /);
  fireEvent.change(time, { target: { value: "2020-01-01T10:00" } });
  await user.click(screen.getByRole("button", { name: "Save changes" }));
  await waitFor(() => expect(time).toBeInvalid());
  expect(time).toHaveAccessibleDescription(/Choose a date and time that are still to come/);
  expect(calls).toEqual([]);

  await user.selectOptions(choice, "Draft");
  await user.click(screen.getByRole("button", { name: "Save changes" }));
  await waitFor(() => expect(titles(toasts)).toEqual(["Product updated"]));
  expect(calls.at(-1)).toMatchObject({ what: "update", body: { published_at: null } });
  toasts[0]!.action!.onClick();
  await waitFor(() =>
    expect(calls.at(-1)).toEqual({
      what: "update",
      body: { published_at: "2026-01-02T03:04:05Z" },
    }),
  );
});

it("shows that nothing matches, with a link to all works", async () => {
  const { user } = await open();
  server.use(http.get(products, () => HttpResponse.json([])));
  await user.selectOptions(screen.getByRole("combobox", { name: "Artwork type" }), "Mural");
  expect(await screen.findByText("No work matches this search.")).toBeInTheDocument();
  server.resetHandlers();
  await user.click(screen.getByRole("button", { name: "Show all works" }));
  expect(await screen.findAllByText("Limoeiro")).not.toHaveLength(0);
  expect(screen.getByTestId("address")).toHaveTextContent("");
});

it("changes the page in the URL", async () => {
  server.use(
    http.get(products, ({ request }) => {
      queries.push(new URL(request.url).searchParams);
      return HttpResponse.json([product], { headers: { "content-range": "0-49/2000" } });
    }),
  );
  const { user } = await open();
  expect(screen.getByText("1–50 of 2000")).toBeInTheDocument();
  expect(screen.getByRole("button", { name: "Previous" })).toBeDisabled();
  await user.click(screen.getByRole("button", { name: "Next" }));
  await waitFor(() => expect(queries.at(-1)!.get("offset")).toBe("50"));
  expect(screen.getByTestId("address")).toHaveTextContent("?page=2");
  expect(screen.getByText("51–100 of 2000")).toBeInTheDocument();
});

it("duplicates a work with copies of its files, so that deleting one work keeps the other's files", async () => {
  const copied: { sourceKey: string; destinationKey: string }[] = [];
  server.use(
    http.post(`${testBoot.apiUrl}/storage/v1/object/copy`, async ({ request }) => {
      copied.push((await request.json()) as (typeof copied)[number]);
      return HttpResponse.json({ Key: "k" });
    }),
  );
  const { user, toasts } = await open();
  await user.click(screen.getAllByRole("button", { name: "Duplicate Limoeiro" })[0]!);
  expect(screen.getByRole("textbox", { name: "Title" })).toHaveValue("Copy of Limoeiro");
  expect(copied).toEqual([]); // files are copied when the copy is saved
  await user.click(screen.getByRole("button", { name: "Save" }));
  await waitFor(() => expect(titles(toasts)).toEqual(["Product created"]));
  expect(copied.map(({ sourceKey }) => sourceKey)).toEqual(["main.jpg", "a.jpg", "b.jpg"]);
  const [main, ...gallery] = copied.map(({ destinationKey }) => fileUrl(destinationKey));
  expect(calls).toEqual([
    {
      what: "insert",
      body: expect.objectContaining({
        title: "Copy of Limoeiro",
        artwork_type: "oil",
        image_url: main,
        image_gallery: gallery,
        price: 0,
      }),
    },
  ]);
});

it("A-prod-14: keeps a file that another work uses", async () => {
  server.use(
    http.get(products, ({ request }) =>
      HttpResponse.json(
        new URL(request.url).searchParams.get("select") === "id" ? [{ id: "p2" }] : [product],
      ),
    ),
  );
  const { user, toasts } = await open();
  await user.click(screen.getAllByRole("button", { name: "Edit Limoeiro" })[0]!);
  const first = screen.getByRole("listitem", { name: "Gallery images, 1 of 2" });
  await user.click(within(first).getByRole("button", { name: "Remove" }));
  await user.click(screen.getByRole("button", { name: "Save changes" }));
  await waitFor(() => expect(titles(toasts)).toEqual(["Product updated"]));
  expect(calls.map(({ what }) => what)).toEqual(["update"]);
});

it("reports a conflict with both versions, and overwrites only after confirmation", async () => {
  stored = { ...product, title: "Limoeiro bravo", updated_at: "2026-01-05T00:00:00Z" };
  const seen: (string | null)[] = [];
  server.use(
    http.patch(products, async ({ request }) => {
      const at = new URL(request.url).searchParams.get("updated_at");
      seen.push(at);
      calls.push({ what: "update", body: await request.json() });
      return HttpResponse.json(at === `eq.${stored.updated_at}` ? [stored] : []);
    }),
  );
  const { user, toasts } = await open();
  await user.click(screen.getAllByRole("button", { name: "Edit Limoeiro" })[0]!);
  await user.type(screen.getByRole("textbox", { name: "Title" }), " manso");
  await user.click(screen.getByRole("button", { name: "Save changes" }));
  const question = await screen.findByRole("alertdialog", { name: "There is a newer version" });
  expect(within(question).getByText("Limoeiro bravo")).toBeInTheDocument();
  expect(within(question).getByText("Limoeiro manso")).toBeInTheDocument();
  expect(toasts).toEqual([]);

  await user.click(within(question).getByRole("button", { name: "Keep editing" }));
  expect(screen.getByRole("textbox", { name: "Title" })).toHaveValue("Limoeiro manso");
  await user.click(screen.getByRole("button", { name: "Save changes" }));
  await user.click(await screen.findByRole("button", { name: "Save mine anyway" }));
  await waitFor(() => expect(titles(toasts)).toEqual(["Product updated"]));
  expect(seen).toEqual(["is.null", "is.null", "eq.2026-01-05T00:00:00Z"]);
});

it("loads the newer version after a conflict if the owner chooses it", async () => {
  stored = { ...product, title: "Limoeiro bravo", updated_at: "2026-01-05T00:00:00Z" };
  server.use(http.patch(products, () => HttpResponse.json([])));
  const { user } = await open();
  await user.click(screen.getAllByRole("button", { name: "Edit Limoeiro" })[0]!);
  await user.type(screen.getByRole("textbox", { name: "Title" }), " manso");
  await user.click(screen.getByRole("button", { name: "Save changes" }));
  await user.click(await screen.findByRole("button", { name: "Use the newer version" }));
  await waitFor(() =>
    expect(screen.getByRole("textbox", { name: "Title" })).toHaveValue("Limoeiro bravo"),
  );
});

it("A-draft-1: restores a draft after a reload, until it is saved or discarded", async () => {
  const view = async () => {
    const rendered = renderApp(<ProductsPage />, { owner: testOwner(), auth: ownerAuth });
    await screen.findAllByText("Limoeiro");
    return rendered;
  };
  const user = userEvent.setup();
  const first = await view();
  await user.click(screen.getAllByRole("button", { name: "Edit Limoeiro" })[0]!);
  await user.type(screen.getByRole("textbox", { name: "Title" }), " manso");
  first.unmount();

  const second = await view();
  expect(await screen.findByRole("textbox", { name: "Title" })).toHaveValue("Limoeiro manso");
  expect(screen.getByText(/^Draft of \d\d:\d\d restored/)).toBeInTheDocument();
  await user.keyboard("{Escape}");
  await user.click(screen.getByRole("button", { name: "Close without saving" }));
  second.unmount();

  await view();
  expect(screen.queryByRole("dialog")).not.toBeInTheDocument();
});

it("A-draft-1: while the files of a restored draft are checked, its form takes no text and cannot be cancelled", async () => {
  const view = async () => {
    const rendered = renderApp(<ProductsPage />, { owner: testOwner(), auth: ownerAuth });
    await screen.findAllByText("Limoeiro");
    return rendered;
  };
  const user = userEvent.setup();
  let answer = () => {};
  const mayAnswer = new Promise<void>((resolve) => (answer = resolve));
  const checked: string[] = [];
  server.use(
    http.head(fileUrl(":name"), async ({ params }) => {
      checked.push(String(params.name));
      await mayAnswer;
      return new HttpResponse(null, { status: params.name === "a.jpg" ? 404 : 200 });
    }),
    http.post(`${testBoot.apiUrl}/storage/v1/object/copy`, () => HttpResponse.json({ Key: "k" })),
  );
  const first = await view();
  await user.click(screen.getAllByRole("button", { name: "Duplicate Limoeiro" })[0]!);
  await user.type(screen.getByRole("textbox", { name: "Title" }), "!");
  first.unmount();

  await view();
  const title = await screen.findByRole("textbox", { name: "Title" });
  await user.click(screen.getByRole("button", { name: "Save" }));
  await waitFor(() => expect(checked).toEqual(["main.jpg"]));
  expect(screen.getByRole("button", { name: "Cancel" })).toBeDisabled();
  expect(title.closest("[inert]")).not.toBeNull();
  answer();
  await waitFor(() => expect(screen.queryByRole("dialog")).not.toBeInTheDocument());
  expect(checked).toEqual(["main.jpg", "a.jpg", "b.jpg"]);
  // The file that is gone is not saved.
  expect(calls).toMatchObject([{ what: "insert", body: { title: "Copy of Limoeiro!" } }]);
  expect(calls[0]!.body).toHaveProperty("image_gallery.length", 1);
});

it("A-prod-type: a new work begins with the first type of the gallery", async () => {
  const gallery = { ...testBoot.site.gallery, types: ["acrylic" as const, "mural" as const] };
  const { user } = await open("/admin/products", { site: { ...testBoot.site, gallery } });
  await user.click(screen.getByRole("button", { name: "Add Product" }));
  const dialog = within(screen.getByRole("dialog"));
  expect(dialog.getByLabelText("Artwork type")).toHaveValue("acrylic");
});

it("A-prod-5: marks oil as not in the gallery and shows the date of creation", async () => {
  await open();
  const table = screen.getByRole("table");
  expect(within(table).getByText("Not in gallery")).toBeInTheDocument();
  expect(within(table).getByText("20 May 2024")).toBeInTheDocument();
});

it("A-prod-6 A-prod-7 A-prod-8: requires a title and focuses it, and saves a new work with price 0", async () => {
  const { user, toasts } = await open();
  await user.click(screen.getByRole("button", { name: "Add Product" }));
  await user.click(screen.getByRole("button", { name: "Save" }));
  const title = screen.getByRole("textbox", { name: "Title" });
  await waitFor(() => expect(title).toHaveAccessibleDescription("Title is required"));
  expect(title).toHaveFocus();
  expect(calls).toEqual([]);

  await user.type(title, "Mar largo");
  expect(title).toHaveAccessibleDescription("English");
  await user.type(screen.getByRole("textbox", { name: "Tags" }), "sea, wall");
  await user.click(screen.getByRole("button", { name: "Save" }));
  await waitFor(() => expect(titles(toasts)).toEqual(["Product created"]));
  expect(calls).toHaveLength(1);
  expect(calls[0]).toMatchObject({
    what: "insert",
    body: { title: "Mar largo", tags: ["sea", "wall"], price: 0, in_stock: true },
  });
  await waitFor(() => expect(screen.queryByRole("dialog")).not.toBeInTheDocument());
});

it("keeps the form open and shows a toast when saving fails", async () => {
  const { user, toasts } = await open();
  server.use(http.patch(products, () => HttpResponse.json({ message: "no" }, { status: 500 })));
  await user.click(screen.getAllByRole("button", { name: "Edit Limoeiro" })[0]!);
  await user.type(screen.getByRole("textbox", { name: "Title" }), "!");
  await user.click(screen.getByRole("button", { name: "Save changes" }));
  await waitFor(() => expect(titles(toasts)).toEqual(["There was an error saving the product."]));
  expect(screen.getByRole("textbox", { name: "Title" })).toHaveValue("Limoeiro!");
});

it("A-prod-9: a new work whose response was lost is stored once, with what was typed last", async () => {
  const rows = new Map<string, Product>();
  const idOf = (request: Request) => new URL(request.url).searchParams.get("id")?.slice(3) ?? "";
  server.use(
    http.post(products, async ({ request }) => {
      const row = (await request.json()) as Product;
      if (rows.has(row.id)) return HttpResponse.json([], { status: 201 });
      const now = "2026-01-03T00:00:00.25+00:00"; // the server's time, which replaces "now"
      rows.set(row.id, { ...row, published_at: now, created_at: now, updated_at: now });
      return HttpResponse.error();
    }),
    http.get(products, ({ request }) =>
      request.headers.get("accept")?.includes("pgrst.object")
        ? HttpResponse.json(rows.get(idOf(request)))
        : HttpResponse.json([product]),
    ),
    http.patch(products, async ({ request }) => {
      calls.push({ what: "update", body: await request.json() });
      return new HttpResponse(null, { status: 204 });
    }),
  );
  const { user, toasts } = await open();
  await user.click(screen.getByRole("button", { name: "Add Product" }));
  await user.type(screen.getByRole("textbox", { name: "Title" }), "Onda");
  await user.click(screen.getByRole("button", { name: "Save" }));
  await waitFor(() => expect(titles(toasts)).toEqual(["There was an error saving the product."]));
  await user.type(screen.getByRole("textbox", { name: "Title" }), "!");
  await user.click(screen.getByRole("button", { name: "Save" }));
  await waitFor(() => expect(titles(toasts)[1]).toBe("Product created"));
  expect(rows.size).toBe(1);
  expect(calls).toEqual([{ what: "update", body: { title: "Onda!" } }]);
});

it("A-prod-11: asks before closing only if there are unsaved changes", async () => {
  const { user } = await open();
  await user.click(screen.getAllByRole("button", { name: "Edit Limoeiro" })[0]!);
  await user.keyboard("{Escape}");
  expect(screen.queryByRole("dialog")).not.toBeInTheDocument();

  await user.click(screen.getAllByRole("button", { name: "Edit Limoeiro" })[0]!);
  await user.type(screen.getByRole("textbox", { name: "Title" }), "!");
  await user.keyboard("{Escape}");
  await user.click(screen.getByRole("button", { name: "Keep editing" }));
  expect(screen.getByRole("textbox", { name: "Title" })).toHaveValue("Limoeiro!");

  await user.click(screen.getByRole("button", { name: "Cancel" }));
  await user.click(screen.getByRole("button", { name: "Close without saving" }));
  expect(screen.queryByRole("dialog")).not.toBeInTheDocument();
  expect(calls).toEqual([]);
});

it("A-prod-8 A-prod-14: removes the file of a removed picture only after the row is saved without it", async () => {
  const { user, toasts } = await open();
  await user.click(screen.getAllByRole("button", { name: "Edit Limoeiro" })[0]!);
  const first = screen.getByRole("listitem", { name: "Gallery images, 1 of 2" });
  await user.click(within(first).getByRole("button", { name: "Remove" }));
  expect(calls).toEqual([]);
  await user.click(screen.getByRole("button", { name: "Save changes" }));
  await waitFor(() => expect(calls.map(({ what }) => what)).toEqual(["update", "remove files"]));
  expect(calls[0]!.body).toMatchObject({ image_gallery: [fileUrl("b.jpg")] });
  expect(calls[1]!.body).toMatchObject({ prefixes: ["a.jpg"] });
  expect(titles(toasts)).toEqual(["Product updated"]);
});

it("A-prod-14: shows a toast if the row was saved but a file could not be deleted", async () => {
  const { user, toasts } = await open();
  server.use(
    http.delete(`${testBoot.apiUrl}/storage/v1/object/product-images`, () =>
      HttpResponse.json({ statusCode: "500", message: "no" }, { status: 400 }),
    ),
  );
  await user.click(screen.getAllByRole("button", { name: "Edit Limoeiro" })[0]!);
  await user.click(
    within(screen.getByRole("group", { name: "Main image" })).getByRole("button", {
      name: "Remove",
    }),
  );
  await user.click(screen.getByRole("button", { name: "Save changes" }));
  await waitFor(() =>
    expect(titles(toasts)).toEqual([
      "Product updated",
      "Failed to remove image. Please try again.",
    ]),
  );
});

it("A-prod-main: exchanges the main picture with one of the gallery, and keeps the focus there", async () => {
  const { user, toasts } = await open();
  await user.click(screen.getAllByRole("button", { name: "Edit Limoeiro" })[0]!);
  const gallery = within(screen.getByRole("group", { name: "Gallery images" }));
  await user.click(gallery.getAllByRole("button", { name: "Make this the main picture" })[1]!);
  expect(gallery.getAllByRole("listitem")[1]).toContainElement(
    document.activeElement as HTMLElement,
  );
  await user.click(screen.getByRole("button", { name: "Save changes" }));
  await waitFor(() => expect(titles(toasts)).toEqual(["Product updated"]));
  // No file is removed: all of them are still in use.
  expect(calls).toEqual([
    {
      what: "update",
      body: expect.objectContaining({
        image_url: fileUrl("b.jpg"),
        image_gallery: [fileUrl("a.jpg"), fileUrl("main.jpg")],
      }),
    },
  ]);
});

it("A-prod-main: files of the gallery whose upload has failed stay when another picture becomes the main picture", async () => {
  server.use(
    http.post(`${window.location.origin}/storage/v1/object/product-images/:name`, () =>
      HttpResponse.json({ statusCode: "413", message: "no" }, { status: 400 }),
    ),
  );
  const { user } = await open("/admin/products", { apiUrl: window.location.origin });
  await user.click(screen.getAllByRole("button", { name: "Edit Limoeiro" })[0]!);
  const gallery = within(screen.getByRole("group", { name: "Gallery images" }));
  await user.upload(
    screen.getByRole("dialog").querySelectorAll<HTMLInputElement>("input[type=file]")[1]!,
    pngFile("cais.png"),
  );
  await gallery.findByRole("button", { name: "Try again" });
  await user.click(gallery.getAllByRole("button", { name: "Make this the main picture" })[0]!);
  expect(gallery.getAllByRole("listitem")).toHaveLength(3);
  expect(gallery.getByRole("button", { name: "Try again" })).toBeInTheDocument();
});

it("saves the order set by the arrow buttons, and keeps the focus on the button", async () => {
  const { user } = await open();
  await user.click(screen.getAllByRole("button", { name: "Edit Limoeiro" })[0]!);
  const first = screen.getByRole("listitem", { name: "Gallery images, 1 of 2" });
  const right = within(first).getByRole("button", { name: "Move right" });
  await user.click(right);
  expect(right).toHaveFocus();
  expect(right).toHaveAttribute("aria-disabled", "true");
  expect(screen.getByText("2 of 2")).toHaveAttribute("role", "status");
  await user.click(screen.getByRole("button", { name: "Save changes" }));
  await waitFor(() =>
    expect(calls[0]?.body).toMatchObject({
      image_gallery: [fileUrl("b.jpg"), fileUrl("a.jpg")],
    }),
  );
  expect(calls).toHaveLength(1);
});

it("A-prod-8 A-prod-10: deletes after a confirmation with this text, in which Cancel has the focus", async () => {
  const { user, toasts } = await open();
  await user.click(screen.getAllByRole("button", { name: "Delete Limoeiro" })[0]!);
  expect(screen.getByRole("alertdialog")).toHaveAccessibleDescription(
    "Are you sure you want to delete this product? This action cannot be undone.",
  );
  expect(screen.getByRole("button", { name: "Cancel" })).toHaveFocus();
  await user.click(screen.getByRole("button", { name: "Delete" }));
  await waitFor(() => expect(titles(toasts)).toEqual(["Product deleted"]));
  expect(calls.map(({ what }) => what)).toEqual(["delete"]);
});

it("removes a deleted work from the page before the list is loaded again, so that nothing requests its pictures", async () => {
  const { user, toasts } = await open();
  let load = () => {};
  const loaded = new Promise<void>((done) => (load = done));
  server.use(
    http.get(products, async () => {
      await loaded;
      return HttpResponse.json([]);
    }),
  );
  await user.click(screen.getAllByRole("button", { name: "Delete Limoeiro" })[0]!);
  await user.click(screen.getByRole("button", { name: "Delete" }));
  await waitFor(() =>
    // Also behind the dialog.
    expect(screen.queryAllByRole("button", { name: "Delete Limoeiro", hidden: true })).toEqual([]),
  );
  expect(toasts).toEqual([]);
  load();
  await waitFor(() => expect(titles(toasts)).toEqual(["Product deleted"]));
});

it("A-history-undo: the toast's Undo brings a deleted work back with its files, and into its series", async () => {
  const files: unknown[] = [];
  const pairs: unknown[] = [];
  const pair = { id: "x", series_id: "s1", product_id: "p1", position: "b" };
  server.use(
    http.post(`${testBoot.apiUrl}/rest/v1/rpc/get_history`, async ({ request }) => {
      const { table } = (await request.json()) as { table: string };
      return HttpResponse.json([
        {
          id: table === "products" ? 2 : 1,
          row_id: "p1",
          action: "delete",
          actor: null,
          changed_at: "2026-01-02T00:00:00Z",
          row_before:
            table === "products" ? product : { pairs: [pair, { ...pair, series_id: "gone" }] },
          replaced_files: [],
        },
      ]);
    }),
    http.get(`${testBoot.apiUrl}/rest/v1/series`, () => HttpResponse.json([{ id: "s1" }])),
    http.post(`${testBoot.apiUrl}/rest/v1/series_works`, async ({ request }) => {
      pairs.push(await request.json());
      return new HttpResponse(null, { status: 201 });
    }),
    http.post(`${testBoot.apiUrl}/rest/v1/rpc/restore_files`, async ({ request }) => {
      files.push(await request.json());
      return HttpResponse.json({ missing: [fileUrl("b.jpg")] });
    }),
  );
  const { user, toasts } = await open();
  await user.click(screen.getAllByRole("button", { name: "Delete Limoeiro" })[0]!);
  await user.click(screen.getByRole("button", { name: "Delete" }));
  await waitFor(() => expect(toasts).toHaveLength(1));
  toasts[0]!.action!.onClick();
  await waitFor(() =>
    expect(toasts[1]).toMatchObject({
      title: "Limoeiro is back",
      description: "Files that no longer exist: 1",
    }),
  );
  expect(files).toEqual([{ urls: [fileUrl("main.jpg"), fileUrl("a.jpg"), fileUrl("b.jpg")] }]);
  expect(pairs).toEqual([[pair]]); // the pair of a deleted series is not restored
  expect(calls.at(-1)).toMatchObject({
    what: "insert",
    body: { id: "p1", title: "Limoeiro", image_gallery: [fileUrl("a.jpg")] },
  });
});

it("shows a toast when a deletion fails", async () => {
  const { user, toasts } = await open();
  server.use(http.delete(products, () => HttpResponse.json({ message: "no" }, { status: 500 })));
  await user.click(screen.getAllByRole("button", { name: "Delete Limoeiro" })[0]!);
  await user.click(screen.getByRole("button", { name: "Delete" }));
  await waitFor(() => expect(titles(toasts)).toEqual(["There was an error deleting the product."]));
});

it("A-prod-16: refreshes the public lists after a change", async () => {
  const user = userEvent.setup();
  collectToasts();
  const { queryClient } = renderApp(<ProductsPage />, { owner: testOwner(), auth: ownerAuth });
  const invalidate = vi.spyOn(queryClient, "invalidateQueries");
  await screen.findAllByText("Limoeiro");
  await user.click(screen.getAllByRole("button", { name: "Delete Limoeiro" })[0]!);
  await user.click(screen.getByRole("button", { name: "Delete" }));
  await waitFor(() => expect(invalidate).toHaveBeenCalledWith({ queryKey: ["products"] }));
});

it("offers a retry when the list cannot be loaded, and Add when it is empty", async () => {
  let answer = () => HttpResponse.json({ message: "no" }, { status: 500 });
  server.use(http.get(products, () => answer()));
  const user = userEvent.setup();
  renderApp(<ProductsPage />, { owner: testOwner(), auth: ownerAuth });
  expect(await screen.findByText("This page could not be loaded.")).toBeInTheDocument();
  answer = () => HttpResponse.json([]) as never;
  await user.click(screen.getByRole("button", { name: "Try again" }));
  expect(await screen.findByText("No products yet. Add the first one.")).toBeInTheDocument();
  expect(screen.getAllByRole("button", { name: "Add Product" })).toHaveLength(2);
});

it("makes drafts from dropped pictures only for admins", async () => {
  const toasts = collectToasts();
  const { container } = renderApp(<ProductsPage />, {
    owner: testOwner(),
    auth: { ...ownerAuth, role: null },
  });
  await screen.findAllByText("Limoeiro");
  const dataTransfer = { types: ["Files"], files: [pngFile("a.png")], dropEffect: "none" };
  fireEvent.drop(container.querySelector("[data-drop]")!, { dataTransfer });
  expect(toasts).toMatchObject([
    { title: "Unauthorized", description: "Only admin users can upload images." },
  ]);
  expect(screen.queryByRole("region", { name: "Drafts" })).not.toBeInTheDocument();
});
