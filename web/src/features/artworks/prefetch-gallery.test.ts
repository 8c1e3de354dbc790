import { fireEvent } from "@testing-library/react";
import { afterEach, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { publicBackend } from "@/lib/backend";
import { makeQueryClient } from "@/lib/query-client";
import { artworksPageQuery } from "@/features/artworks/api/get-artworks-page";
import { prefetchGallery } from "@/features/artworks/prefetch-gallery";
import { answerRequests, type SeenRequest } from "@/test/answer-requests";
import { testBoot } from "@/test/render";

const backend = publicBackend(testBoot);
const queryClient = makeQueryClient();
let requests: SeenRequest[];

// The document has one listener, as on the site.
beforeAll(() => prefetchGallery(queryClient, backend));

beforeEach(() => {
  requests = []; // the requests for works
  answerRequests((request) => {
    if (request.path === "/rest/v1/products") requests.push(request);
    return { headers: { "Content-Range": "*/0" }, json: [] };
  });
});
afterEach(async () => {
  await queryClient.cancelQueries();
  queryClient.clear();
});

function addLink(href: string): HTMLElement {
  document.body.innerHTML = `<a href="${href}"><span>Somewhere</span></a>`;
  return document.querySelector("span")!;
}

const requestedTypes = () => requests.map(({ query }) => query.getAll("artwork_type").at(-1));

test.each([
  ["pointer", fireEvent.pointerOver],
  ["focus", fireEvent.focusIn],
  ["finger", fireEvent.touchStart],
])("a %s on a link prefetches its works once, and the page uses them", async (_, approach) => {
  const on = addLink("/gallery/mural?lang=pt");
  approach(on);
  approach(on);
  await vi.waitFor(() => expect(queryClient.isFetching()).toBe(0));
  approach(on);
  expect(requestedTypes()).toEqual(["eq.mural"]);
  expect(requests[0]!.headers.get("Range")).toBe("0-47");
  await queryClient.ensureQueryData(artworksPageQuery(backend, "mural", 0));
  expect(requests).toHaveLength(1);
});

test("P-near-once: prefetches all works for each link to them, once while they are fresh", async () => {
  for (const path of ["/gallery", "/gallery/all", "/gallery/sculpture"]) {
    fireEvent.pointerOver(addLink(path));
    await vi.waitFor(() => expect(queryClient.isFetching()).toBe(0));
  }
  expect(requestedTypes()).toEqual(["not.in.(oil,acrylic)"]);
  await queryClient.invalidateQueries({ queryKey: ["products"] });
  fireEvent.pointerOver(addLink("/gallery"));
  await vi.waitFor(() => expect(requests).toHaveLength(2));
});

test.each([
  "/",
  "/politica-privacidade",
  "/Gallery/mural",
  "/gallery/mural/more",
  "/gallery/mural?art=0b0c1c4e-7f7a-4d0e-9c55-3f1d1e0e6a01",
  "https://elsewhere.example/gallery/mural",
])("P-near-once: prefetches nothing for %s", (href) => {
  fireEvent.pointerOver(addLink(href));
  expect(queryClient.isFetching()).toBe(0);
});

test("P-near-once: prefetches nothing with the Save-Data setting", () => {
  vi.stubGlobal("navigator", { connection: { saveData: true } });
  fireEvent.pointerOver(addLink("/gallery/mural"));
  expect(queryClient.isFetching()).toBe(0);
  vi.stubGlobal("navigator", { connection: { saveData: false } });
  fireEvent.pointerOver(addLink("/gallery/mural"));
  expect(queryClient.isFetching()).toBe(2); // the works and the series
});
