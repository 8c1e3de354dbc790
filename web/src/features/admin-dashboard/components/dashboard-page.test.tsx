import { screen } from "@testing-library/react";
import { http, HttpResponse } from "msw";
import { setupServer } from "msw/node";
import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import { DashboardPage } from "@/features/admin-dashboard/components/dashboard-page";
import { ownerAuth, testOwner } from "@/test/owner";
import { renderApp, testBoot } from "@/test/render";

const server = setupServer();
beforeAll(() => server.listen({ onUnhandledFrame: "error" }));
afterEach(() => server.resetHandlers());
afterAll(() => server.close());

function answer(counts: Record<string, number | null>) {
  server.use(
    http.head(`${testBoot.apiUrl}/rest/v1/:table`, ({ params, request }) => {
      const unread = new URL(request.url).searchParams.get("status") === "eq.new";
      const count = unread ? (counts.unread ?? 0) : counts[String(params.table)];
      return count === null || count === undefined
        ? new HttpResponse(null, { status: 500 })
        : new HttpResponse(null, { headers: { "content-range": `*/${count}` } });
    }),
  );
  renderApp(<DashboardPage />, { owner: testOwner(), auth: ownerAuth });
}

it("shows four counts that link to their pages", async () => {
  answer({ products: 22, cover_images: 3, reviews: 9, contact_submissions: 14 });
  const links = [
    ["22 Products", "/admin/products"],
    ["3 Cover Images", "/admin/cover-images"],
    ["9 Reviews", "/admin/reviews"],
    ["14 Contact Messages", "/admin/contact-messages"],
  ] as const;
  for (const [name, to] of links) {
    expect(await screen.findByRole("link", { name })).toHaveAttribute("href", to);
  }
  expect(screen.queryByText("Before the first visitors")).not.toBeInTheDocument();
});

it("says how many messages are unread, and nothing when none is", async () => {
  answer({ products: 22, cover_images: 3, reviews: 9, contact_submissions: 14, unread: 2 });
  expect(
    await screen.findByRole("link", { name: /^14\s+2 unread\s+Contact Messages$/ }),
  ).toBeInTheDocument();
});

it("says which count is not available and shows the others", async () => {
  answer({ products: 22, cover_images: 3, reviews: null, contact_submissions: 14 });
  expect(await screen.findByRole("link", { name: /Not available\s*Reviews/ })).toBeInTheDocument();
  expect(await screen.findByRole("link", { name: "22 Products" })).toBeInTheDocument();
});

it("gives the owner of an empty site a list of first steps", async () => {
  answer({ products: 0, cover_images: 0, reviews: 2, contact_submissions: 0 });
  expect(await screen.findByRole("link", { name: "Add the first product" })).toHaveAttribute(
    "href",
    "/admin/products",
  );
  expect(
    screen.getByRole("link", { name: "Upload a cover for the home page" }),
  ).toBeInTheDocument();
  expect(screen.queryByRole("link", { name: "Add the first review" })).not.toBeInTheDocument();
});
