import { screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { expect, test, vi } from "vitest";
// The dialog is imported first, so that no test waits while it is compiled.
import "@/features/artworks/components/artwork-dialog";
import { FeaturedStrip } from "@/features/artworks/components/featured-strip";
import { aProduct } from "@/test/a-product";
import { answerRequests } from "@/test/answer-requests";
import { renderApp } from "@/test/render";

test("S2-home-2: shows the featured works, newest first, below the trusted-by line", async () => {
  const requests = answerRequests(() => ({ json: [aProduct({ title: "Romãs" })] }));
  renderApp(<FeaturedStrip onEnquire={vi.fn()} />);
  await userEvent.click(await screen.findByRole("link", { name: /Romãs/ }));
  expect(await screen.findByRole("dialog", { name: "Romãs" })).toBeVisible();
  expect(requests.map(({ path, query }) => [path, Object.fromEntries(query)])).toEqual([
    ["/rest/v1/products", { select: "*,media", is_featured: "eq.true", order: "created_at.desc" }],
  ]);
});

test("shows its heading while the works load", () => {
  answerRequests(() => ({ json: [] }));
  renderApp(<FeaturedStrip onEnquire={vi.fn()} />, { language: "pt" });
  expect(
    screen.getByRole("heading", { name: "A confiança de mais de 500 clientes" }),
  ).toBeVisible();
});

test("renders nothing without featured works", async () => {
  answerRequests(() => ({ json: [] }));
  const { container } = renderApp(<FeaturedStrip onEnquire={vi.fn()} />);
  await waitFor(() => expect(container).toBeEmptyDOMElement());
});

test("a failure is logged and nothing is shown", async () => {
  vi.mocked(console.error).mockImplementation(() => undefined);
  answerRequests(() => ({ status: 500, json: { message: "broken" } }));
  const { container } = renderApp(<FeaturedStrip onEnquire={vi.fn()} />);
  await waitFor(() => expect(container).toBeEmptyDOMElement());
  expect(console.error).toHaveBeenCalledWith(
    "The featured works could not be loaded",
    expect.objectContaining({ message: "broken" }),
  );
  vi.mocked(console.error).mockClear();
});
