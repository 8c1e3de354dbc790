import { screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { expect, test, vi } from "vitest";
import { ReviewsSection } from "@/features/reviews/components/reviews-section";
import type { Review } from "@/lib/types";
import { answerRequests } from "@/test/answer-requests";
import { renderApp } from "@/test/render";

const review: Review = {
  id: "r1",
  client_name: "Luísa",
  location: "Évora",
  message: "Three weeks from first call to the last coat.",
  image_url: null,
  is_active: true,
  display_order: 1,
  created_at: "2026-11-20T10:00:00Z",
};

test("S2-home-3: shows active reviews in order; a click opens the whole text, and Escape closes it", async () => {
  const requests = answerRequests(() => ({ json: [review] }));
  renderApp(<ReviewsSection />);
  const card = await screen.findByRole("button", { name: /Luísa/ });
  expect(within(card).getByText("“Three weeks from first call to the last coat.”")).toHaveClass(
    "line-clamp-4",
  );
  expect(within(card).getByText("L")).toBeInTheDocument();
  await userEvent.click(card);
  const dialog = await screen.findByRole("dialog", { name: "Review by Luísa" });
  expect(within(dialog).getByText("Évora")).toBeVisible();
  await userEvent.keyboard("{Escape}");
  await waitFor(() => expect(screen.queryByRole("dialog")).toBeNull());
  await waitFor(() => expect(card).toHaveFocus());
  expect(requests.map(({ path, query }) => [path, Object.fromEntries(query)])).toEqual([
    ["/rest/v1/reviews", { select: "*,media", is_active: "eq.true", order: "display_order.asc" }],
  ]);
});

test("S2-home-3: has its anchor and Portuguese texts", async () => {
  answerRequests(() => ({ json: [review] }));
  const { container } = renderApp(<ReviewsSection />, { language: "pt" });
  expect(await screen.findByRole("heading", { name: "Nas suas próprias palavras" })).toBeVisible();
  expect(container.querySelector("#testimonials")).not.toBeNull();
  expect(screen.getByText("«Three weeks from first call to the last coat.»")).toBeVisible();
});

test("hidden while loading and when there are none", async () => {
  const requests = answerRequests(() => ({ json: [] }));
  const { container } = renderApp(<ReviewsSection />);
  expect(container.firstElementChild).not.toBeVisible();
  expect(container).toHaveTextContent("");
  await waitFor(() => expect(container).toBeEmptyDOMElement());
  expect(requests).toHaveLength(1);
});

test("hidden, with a logged error, when they cannot be loaded", async () => {
  vi.mocked(console.error).mockImplementation(() => undefined);
  answerRequests(() => ({ status: 500, json: { message: "broken" } }));
  const { container } = renderApp(<ReviewsSection />);
  await waitFor(() => expect(console.error).toHaveBeenCalled());
  expect(container).toBeEmptyDOMElement();
  vi.mocked(console.error).mockClear();
});

test("S9-texts: a review is in the language of the page; on an English page a review in Portuguese only is marked", async () => {
  answerRequests(() => ({
    json: [
      { ...review, message_pt: "Três semanas." },
      { ...review, id: "r2", message: "Fine." },
    ],
  }));
  const { unmount } = renderApp(<ReviewsSection />, { language: "pt" });
  expect(await screen.findByText("«Três semanas.»")).not.toHaveAttribute("lang");
  // The row has no text in Portuguese, so its text may be in either language.
  expect(screen.getByText("«Fine.»")).not.toHaveAttribute("lang");
  unmount();

  answerRequests(() => ({ json: [{ ...review, message: "", message_pt: "Três semanas." }] }));
  renderApp(<ReviewsSection />);
  await userEvent.click(await screen.findByText("“Três semanas.”"));
  const dialog = await screen.findByRole("dialog");
  for (const text of screen.getAllByText("“Três semanas.”"))
    expect(text).toHaveAttribute("lang", "pt");
  expect(within(dialog).getByText("“Três semanas.”")).toBeVisible();
});
