import { act, fireEvent, screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { expect, onTestFinished, test, vi } from "vitest";
import { Hero } from "@/features/hero/components/hero";
import { makeQueryClient } from "@/lib/query-client";
import { queryKeys } from "@/lib/query-keys";
import type { CoverImage } from "@/lib/types";
import { answerRequests } from "@/test/answer-requests";
import { renderApp } from "@/test/render";

function aCover(values: Partial<CoverImage>): CoverImage {
  return {
    id: "c1",
    image_url: "http://backend.test/sol.jpg",
    title: "Winter sun",
    description: "Mural, 14 × 7 m",
    media_type: "image",
    video_thumbnail_url: null,
    is_active: true,
    display_order: 1,
    ...values,
  };
}

test("S4-hero-9: shows the active covers in order, with a link to the gallery", async () => {
  const requests = answerRequests(() => ({
    json: [aCover({}), aCover({ id: "c2", title: "Night on the quay" })],
  }));
  renderApp(<Hero />);
  expect(await screen.findByText("Winter sun")).toBeVisible();
  expect(screen.getByText("Night on the quay").closest("[aria-hidden=true]")).not.toBeNull();
  expect(screen.getByRole("link", { name: "Explore Gallery" })).toHaveAttribute(
    "href",
    "/gallery/all",
  );
  expect(screen.getByRole("button", { name: "Next slide" })).toBeVisible();
  expect(screen.getByRole("button", { name: "Previous slide" })).toBeVisible();
  expect(requests.map(({ path, query }) => [path, Object.fromEntries(query)])).toEqual([
    [
      "/rest/v1/cover_images",
      { select: "*,media", is_active: "eq.true", order: "display_order.asc" },
    ],
  ]);
});

test("S4-hero-9: a single picture has no arrows and no pause button", async () => {
  answerRequests(() => ({ json: [aCover({})] }));
  renderApp(<Hero />, { language: "pt" });
  expect(await screen.findByText("Winter sun")).toBeVisible();
  expect(screen.getByRole("link", { name: "Explorar a galeria" })).toBeVisible();
  expect(screen.queryAllByRole("button")).toEqual([]);
});

test("S4-hero-12: a single video is muted, inline, loops and can be paused; its own URL is not used as its poster", async () => {
  const url = "http://backend.test/cais.mp4";
  answerRequests(() => ({
    json: [aCover({ media_type: "video", image_url: url, video_thumbnail_url: url })],
  }));
  const { container } = renderApp(<Hero />);
  const button = await screen.findByRole("button", { name: "Pause slideshow" });
  const film = container.querySelector("video")!;
  expect(film).toHaveAttribute("src", url);
  expect(film).not.toHaveAttribute("poster");
  expect(film.muted && film.loop && film.hasAttribute("playsinline")).toBe(true);
  expect(film).not.toHaveAttribute("controls");
  await userEvent.click(button);
  expect(screen.getByRole("button", { name: "Play slideshow" })).toBeVisible();
});

/** Four covers: a picture and three videos with posters. */
const mixed = ["c1", "c2", "c3", "c4"].map((id, n) =>
  aCover({
    id,
    media_type: n === 0 ? "image" : "video",
    image_url: `http://backend.test/${id}.${n === 0 ? "jpg" : "mp4"}`,
    video_thumbnail_url: n === 0 ? null : `http://backend.test/${id}.jpg`,
  }),
);
/** Returns the pictures, posters and videos that load. A video with preload="none" loads only when it is played. */
const mediaUrlsIn = (container: HTMLElement) =>
  [...container.querySelectorAll<HTMLElement>("img,video")].map((element) =>
    element instanceof HTMLVideoElement
      ? [element.poster, element.preload]
      : element.getAttribute("src"),
  );
const [first, second, fourth] = [
  "http://backend.test/c1.jpg",
  ["http://backend.test/c2.jpg", "none"],
  ["http://backend.test/c4.jpg", "none"],
];

/** Renders the hero with covers from the boot data and a stopped clock. */
function renderHero(covers: CoverImage[]) {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  return renderApp(<Hero />, { queryClient: makeQueryClient([[queryKeys.covers.active, covers]]) });
}
const advanceTime = (ms: number) => act(() => void vi.advanceTimersByTime(ms));
const arrow = () => screen.getByRole("button", { name: "Next slide" });

test("P-weight-later: the next cover loads 2.5 seconds before it is due", () => {
  const { container } = renderHero(mixed);
  advanceTime(2499);
  expect(mediaUrlsIn(container)).toEqual([first]);
  advanceTime(1);
  expect(mediaUrlsIn(container)).toEqual([first, second]);
});

test("P-weight-later: before the page has loaded only the first cover loads", () => {
  const state = vi.spyOn(document, "readyState", "get").mockReturnValue("interactive");
  const { container } = renderHero(mixed);
  fireEvent.pointerMove(arrow());
  advanceTime(4000);
  expect(mediaUrlsIn(container)).toEqual([first]);
  state.mockReturnValue("complete");
  fireEvent.load(window);
  expect(mediaUrlsIn(container)).toEqual([first, second, fourth]);
});

test("P-weight-later: while a cover is held, the next one does not load", () => {
  const { container } = renderHero(mixed);
  advanceTime(1000);
  fireEvent.click(screen.getByRole("button", { name: "Pause slideshow" }));
  advanceTime(10_000);
  expect(mediaUrlsIn(container)).toEqual([first]);
  fireEvent.click(screen.getByRole("button", { name: "Play slideshow" }));
  advanceTime(1499);
  expect(mediaUrlsIn(container)).toEqual([first]);
  advanceTime(1);
  expect(mediaUrlsIn(container)).toEqual([first, second]);
});

test.each([
  ["pointer", () => fireEvent.pointerMove(arrow())],
  ["finger", () => fireEvent.pointerDown(arrow(), { pointerType: "touch" })],
  ["focus", () => fireEvent.focusIn(arrow())],
])("P-weight-later: both neighbours load when the %s is at the hero", (_, approach) => {
  const { container } = renderHero(mixed);
  approach();
  expect(mediaUrlsIn(container)).toEqual([first, second, fourth]);
});

test("P-weight-film: a video without a still loads its first frame when the page has loaded", () => {
  const state = vi.spyOn(document, "readyState", "get").mockReturnValue("interactive");
  const url = "http://backend.test/cais.mp4";
  const film = aCover({ media_type: "video", image_url: url, video_thumbnail_url: url });
  const { container } = renderHero([film]);
  expect(mediaUrlsIn(container)).toEqual([["", "none"]]);
  state.mockReturnValue("complete");
  fireEvent.load(window);
  expect(mediaUrlsIn(container)).toEqual([["", "metadata"]]);
});

test("P-weight-film: a video as the first cover shows its poster, and plays once the page has loaded", () => {
  const state = vi.spyOn(document, "readyState", "get").mockReturnValue("interactive");
  const play = vi.spyOn(HTMLMediaElement.prototype, "play").mockResolvedValue();
  const { container } = renderHero(mixed.slice(1));
  advanceTime(1000);
  expect(mediaUrlsIn(container)).toEqual([second]);
  expect(play).not.toHaveBeenCalled();
  state.mockReturnValue("complete");
  fireEvent.load(window);
  advanceTime(80);
  expect(play.mock.instances).toEqual([container.querySelector("video")]);
});

test("treats any other media type as an image", async () => {
  answerRequests(() => ({ json: [aCover({ media_type: "hologram" })] }));
  const { container } = renderApp(<Hero />);
  await screen.findByText("Winter sun");
  expect(container.querySelector("img")).toHaveAttribute("src", "http://backend.test/sol.jpg");
  expect(container.querySelector("video")).toBeNull();
});

test("renders nothing without covers", async () => {
  answerRequests(() => ({ json: [] }));
  const { container } = renderApp(<Hero />);
  await waitFor(() => expect(container).toBeEmptyDOMElement());
});

test("a failure is logged, and nothing is shown", async () => {
  vi.mocked(console.error).mockImplementation(() => undefined);
  answerRequests(() => ({ status: 500, json: { message: "broken" } }));
  const { container } = renderApp(<Hero />);
  await waitFor(() => expect(container).toBeEmptyDOMElement());
  expect(console.error).toHaveBeenCalledWith(
    "The covers could not be loaded",
    expect.objectContaining({ message: "broken" }),
  );
  vi.mocked(console.error).mockClear();
});

test("S2-home-8: covers without texts leave no empty space in the band", async () => {
  answerRequests(() => ({ json: [aCover({ title: "", description: null })] }));
  const { container } = renderApp(<Hero />);
  await waitFor(() => expect(container.querySelector("[aria-live]")).toHaveAttribute("hidden"));
});

test("S2-home-8: a cover without texts shows the site's name among covers with texts", async () => {
  answerRequests(() => ({
    json: [
      aCover({}),
      aCover({ id: "c2", title: null, description: null }),
      aCover({ id: "c3", title: "", description: "Oil, 2019" }),
    ],
  }));
  const { container } = renderApp(<Hero />);
  await screen.findByText("Winter sun");
  const texts = container.querySelectorAll("[aria-live] > div");
  expect([...texts].map(({ textContent }) => textContent)).toEqual([
    "Winter sunMural, 14 × 7 m",
    "Alvor",
    "Oil, 2019",
  ]);
});

test("S9-texts: the texts of a cover are in the language of the page, or marked with the other language", async () => {
  const cover = aCover({
    title_pt: "Sol de inverno",
    alt_en: "A low sun",
    description: null,
    description_pt: "Um mural",
  });
  answerRequests(() => ({ json: [cover] }));
  const { unmount } = renderApp(<Hero />, { language: "pt" });
  expect(await screen.findByText("Sol de inverno")).not.toHaveAttribute("lang");
  expect(screen.getByText("Um mural")).not.toHaveAttribute("lang");
  expect(screen.getByRole("img", { name: "A low sun" })).toHaveAttribute("lang", "en");
  unmount();

  renderApp(<Hero />);
  expect(await screen.findByText("Winter sun")).not.toHaveAttribute("lang");
  expect(screen.getByText("Um mural")).toHaveAttribute("lang", "pt");
  expect(screen.getByRole("img", { name: "A low sun" })).not.toHaveAttribute("lang");
});
