import { afterEach, expect, it, vi } from "vitest";
import { Video } from "@/components/media/video";
import type { VideoInfo, ImageInfo } from "@/lib/media";
import { renderApp } from "@/test/render";

const src = "/storage/v1/object/public/cover-images/cais.mp4";
const poster = "/storage/v1/object/public/cover-images/cais.jpg";
const still: ImageInfo = {
  kind: "image",
  v: "0123456789abcdef",
  width: 1280,
  height: 720,
  widths: [128, 256, 640, 1280],
};
const info: VideoInfo = { kind: "video", width: 1280, height: 720, poster, still };

afterEach(() => {
  vi.unstubAllGlobals();
});

const posterIn = (container: HTMLElement) =>
  container.querySelector("video")!.getAttribute("poster");
const rendition = "/storage/v1/render/image/public/cover-images/cais.jpg";

it.each([
  [390, 1, 640],
  [390, 3, 1280],
  [1440, 1, 1280],
])("P-10: the poster fits a screen of %i pixels × %i", (innerWidth, devicePixelRatio, width) => {
  vi.stubGlobal("innerWidth", innerWidth);
  vi.stubGlobal("devicePixelRatio", devicePixelRatio);
  const { container } = renderApp(<Video src={src} info={info} />);
  expect(posterIn(container)).toBe(`${rendition}?width=${width}&v=0123456789abcdef`);
});

it("P-10: the poster fits the rendered width", () => {
  vi.stubGlobal("devicePixelRatio", 2);
  const { container } = renderApp(<Video src={src} info={info} cssWidth={118} />);
  expect(posterIn(container)).toBe(`${rendition}?width=256&v=0123456789abcdef`);
});

it("without a still the poster is the given one, except for the URL of the video itself", () => {
  expect(posterIn(renderApp(<Video src={src} poster={poster} />).container)).toBe(poster);
  expect(posterIn(renderApp(<Video src={src} poster={src} />).container)).toBeNull();
  expect(posterIn(renderApp(<Video src={src} />).container)).toBeNull();
});

it("S8-video-1: reports a video that failed before it was in the page", () => {
  const failed = vi.fn();
  renderApp(<Video src={src} onError={failed} />);
  expect(failed).not.toHaveBeenCalled();
  // jsdom has no `error`.
  Object.defineProperty(HTMLMediaElement.prototype, "error", { configurable: true, value: {} });
  try {
    renderApp(<Video src={src} onError={failed} />);
    expect(failed).toHaveBeenCalledTimes(1);
  } finally {
    Reflect.deleteProperty(HTMLMediaElement.prototype, "error");
  }
});
