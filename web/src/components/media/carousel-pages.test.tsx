import { useEffect, useState } from "react";
import { fireEvent, screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { renderToString } from "react-dom/server";
import { expect, test, vi } from "vitest";
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { LaterPages } from "@/components/media/carousel-later-pages";
import { CarouselPages } from "@/components/media/carousel-pages";
import { BootProvider } from "@/lib/boot";
import { carouselQuery } from "@/lib/carousel-query";
import { LanguageProvider } from "@/lib/i18n";
import type { PublicBackend } from "@/lib/backend";
import type { Product } from "@/lib/types";
import { aProduct } from "@/test/a-product";
import { answerRequests } from "@/test/answer-requests";
import { renderApp, testBoot } from "@/test/render";

const key = ["products", "featured"];
const query = (backend: PublicBackend, page: number) =>
  carouselQuery(backend, "products", { select: "*" }, key, page);
const works = (from: number, count: number) =>
  Array.from({ length: count }, (_, n) => aProduct({ id: `w${from + n}`, title: `${from + n}` }));
const renderRow = (work: Product) => <button type="button">Work {work.title}</button>;
const renderPlaceholder = () => <span>…</span>;

/** Slides below a number field, which selects one. */
function Carousel({ total = 40 }) {
  const [selected, setSelected] = useState(0);
  const [loaded, setLoaded] = useState<typeof LaterPages>();
  useEffect(() => setLoaded(() => LaterPages), []);
  return (
    <>
      <input
        type="number"
        aria-label="Selected"
        onChange={(event) => setSelected(event.target.valueAsNumber)}
      />
      <ul>
        <CarouselPages
          first={{ rows: works(0, Math.min(12, total)), total }}
          selected={selected}
          LaterPages={loaded}
          queryKey={key}
          query={query}
          className="slide"
          renderRow={renderRow}
          renderPlaceholder={renderPlaceholder}
        />
      </ul>
    </>
  );
}

const select = (slide: number) =>
  fireEvent.change(screen.getByLabelText("Selected"), { target: { value: slide } });

/** Answers with the requested range of `total` works. Returns the ranges. */
function answerRanges(total = 40) {
  const ranges: string[] = [];
  answerRequests(({ headers }) => {
    const range = headers.get("range")!;
    ranges.push(range);
    const [from, to] = range.split("-").map(Number) as [number, number];
    return {
      json: works(from, Math.min(to, total - 1) - from + 1),
      headers: { "Content-Range": `${range}/${total}` },
    };
  });
  return ranges;
}

const shown = () => screen.queryAllByRole("button").map((button) => button.textContent);

test("S4-carousel-2: the server renders only the first page", () => {
  const html = renderToString(
    <BootProvider value={testBoot}>
      <LanguageProvider initial="en">
        <QueryClientProvider client={new QueryClient()}>
          <Carousel total={1000} />
        </QueryClientProvider>
      </LanguageProvider>
    </BootProvider>,
  );
  expect(html.match(/<li/g)).toHaveLength(12);
  expect(html.match(/<button/g)).toHaveLength(12);
});

test("S4-carousel-2: a page is requested when the carousel comes near it; slides keep their elements and stay rendered", async () => {
  const ranges = answerRanges();
  renderApp(<Carousel />);
  await waitFor(() => expect(screen.getAllByRole("listitem")).toHaveLength(40));
  const items = screen.getAllByRole("listitem");
  expect(shown()).toHaveLength(12);
  select(3);
  expect(shown()).toHaveLength(12);
  expect(ranges).toEqual([]);

  select(4);
  await screen.findByRole("button", { name: "Work 23" });
  expect(ranges).toEqual(["12-23"]);
  select(0);
  expect(shown()).toHaveLength(24);

  select(36);
  await screen.findByRole("button", { name: "Work 39" });
  expect(ranges).toEqual(["12-23", "24-35", "36-47"]);
  expect(shown()).toEqual(Array.from({ length: 40 }, (_, n) => `Work ${n}`));
  expect(screen.getAllByRole("listitem")).toEqual(items);
});

test("S4-carousel-2: Tab stops at works that are loading, and the focus moves to the first of them", async () => {
  let arrive = () => {};
  const arrived = new Promise<void>((done) => (arrive = done));
  answerRanges();
  const answer = globalThis.fetch;
  vi.stubGlobal("fetch", async (...request: Parameters<typeof fetch>) => {
    await arrived;
    return answer(...request);
  });
  renderApp(<Carousel />);
  select(4);
  await screen.findByRole("group", { name: "Loading more…" });
  screen.getByRole("button", { name: "Work 11" }).focus();
  await userEvent.tab();
  expect(screen.getByRole("group", { name: "Loading more…" })).toHaveFocus();
  arrive();
  await waitFor(() => expect(screen.getByRole("button", { name: "Work 12" })).toHaveFocus());
});

test("a page that cannot be loaded is logged and requested again by a press", async () => {
  vi.mocked(console.error).mockImplementation(() => undefined);
  let broken = true;
  answerRequests(() =>
    broken ? { status: 500, json: { message: "broken" } } : { json: works(12, 12) },
  );
  renderApp(<Carousel total={24} />);
  select(4);
  const again = await screen.findByRole("button", { name: "Try again" });
  expect(screen.getByText("This could not be loaded.")).toBeVisible();
  expect(console.error).toHaveBeenCalledTimes(1);
  vi.mocked(console.error).mockClear();
  broken = false;
  again.focus();
  await userEvent.keyboard("{Enter}");
  await waitFor(() => expect(screen.getByRole("button", { name: "Work 12" })).toHaveFocus());
});

test("another number of rows refetches all pages of the carousel", async () => {
  answerRanges(39);
  const { queryClient } = renderApp(<Carousel />);
  const invalidate = vi.spyOn(queryClient, "invalidateQueries");
  select(4);
  await waitFor(() => expect(invalidate).toHaveBeenCalledExactlyOnceWith({ queryKey: key }));
});
