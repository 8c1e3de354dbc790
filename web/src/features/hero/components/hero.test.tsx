import { fireEvent, screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { expect, test, vi } from "vitest";
import { Hero } from "@/features/hero/components/hero";
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

test("S4-hero-9: a single image has no arrows and no pause button", async () => {
  answerRequests(() => ({ json: [aCover({})] }));
  renderApp(<Hero />, { language: "pt" });
  expect(await screen.findByText("Winter sun")).toBeVisible();
  expect(screen.getByRole("link", { name: "Explorar a galeria" })).toBeVisible();
  expect(screen.queryAllByRole("button")).toEqual([]);
});

test("S4-hero-12: one film can be paused; its own address is not its poster; it is muted, inline and loops", async () => {
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

test("a film loads after the page, if its slide is the current or the next one; its poster loads before", async () => {
  const state = vi.spyOn(document, "readyState", "get").mockReturnValue("interactive");
  const play = vi.spyOn(HTMLMediaElement.prototype, "play").mockResolvedValue();
  answerRequests(() => ({
    json: ["c1", "c2", "c3", "c4"].map((id) =>
      aCover({
        id,
        media_type: "video",
        image_url: `http://backend.test/${id}.mp4`,
        video_thumbnail_url: `http://backend.test/${id}.jpg`,
      }),
    ),
  }));
  const { container } = renderApp(<Hero />);
  await screen.findByRole("button", { name: "Next slide" });
  const films = () =>
    [...container.querySelectorAll("video")].map(({ poster, preload }) => [poster, preload]);
  expect(films()).toEqual([["http://backend.test/c1.jpg", "none"]]);

  state.mockReturnValue("complete");
  fireEvent.load(window);
  expect(films()).toEqual([
    ["http://backend.test/c1.jpg", "auto"],
    ["http://backend.test/c2.jpg", "auto"],
    ["http://backend.test/c3.jpg", "none"],
    ["http://backend.test/c4.jpg", "none"],
  ]);
  await waitFor(() => expect(play.mock.instances).toEqual([container.querySelector("video")]));
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
    "The cover images could not be loaded",
    expect.objectContaining({ message: "broken" }),
  );
  vi.mocked(console.error).mockClear();
});

test("S2-home-8: covers without texts leave no empty space in the band", async () => {
  answerRequests(() => ({ json: [aCover({ title: "", description: null })] }));
  const { container } = renderApp(<Hero />);
  await waitFor(() => expect(container.querySelector("[aria-live]")).toHaveAttribute("hidden"));
});
