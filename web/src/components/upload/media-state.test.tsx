import { screen } from "@testing-library/react";
import { expect, it } from "vitest";
import { isPreparing, MediaState, sizeText, timeText } from "@/components/upload/media-state";
import type { ImageInfo, MediaDetails } from "@/lib/media";
import { renderApp } from "@/test/render";

const image = (details: Partial<MediaDetails>): ImageInfo => ({
  kind: "image",
  v: "0",
  width: 4000,
  height: 3000,
  widths: [320],
  details: { state: "ready", original: 4_210_000, public: 4_200_000, ...details },
});

it.each([
  [{ state: "waiting" }, "Preparing smaller pictures…"],
  [
    { state: "failed", reason: "picture_truncated" },
    "The smaller pictures could not be made. The end of the file is missing: please send it again.",
  ],
  [
    { state: "failed", reason: "A code of tomorrow" },
    /^The smaller pictures could not be made. Something went wrong on the server/,
  ],
  [
    { ladder: { 320: 20_000, 2560: 612_000 }, delta_e: 0.31 },
    "4.2 MB → 612 kB · colours kept, ΔE 0.3",
  ],
  [{ delta_e: 1.96 }, "colours very close, ΔE 2.0"],
  [{ delta_e: 4 }, "colours differ, ΔE 4.0: please look at it"],
] as const)("%o", (details, text) => {
  renderApp(<MediaState info={image(details)} />);
  expect(screen.getByText(text)).toBeVisible();
});

it("formats numbers with a decimal comma in Portuguese", () => {
  renderApp(<MediaState info={image({ state: "failed", reason: "picture_too_large" })} />, {
    language: "pt",
  });
  expect(screen.getByText(/Tem mais píxeis do que é possível tratar/)).toBeVisible();
  renderApp(<MediaState info={image({ ladder: { 320: 1_250_000 }, delta_e: 0.3 })} />, {
    language: "pt",
  });
  expect(screen.getByText("4,2 MB → 1,3 MB · cores fiéis, ΔE 0,3")).toBeVisible();
});

it("describes a video, and warns if browsers cannot play it", () => {
  const film = { kind: "video", width: 1920, height: 1080, duration: 72.4 } as const;
  const { rerender } = renderApp(<MediaState info={{ ...film, codec: "avc1" }} />);
  expect(screen.getByText("1:12 · H.264")).toBeVisible();
  rerender(<p />);
  renderApp(<MediaState info={{ ...film, codec: "hvc1" }} />);
  expect(screen.getByText(/Many browsers cannot play HEVC/)).toBeVisible();
  const { details } = image({ state: "failed", reason: "film_matroska" });
  renderApp(<MediaState info={{ ...film, details }} />);
  expect(screen.getByText(/Browsers do not play Matroska files/)).toBeVisible();
});

it("renders nothing without details, which only the owner gets", () => {
  const { container } = renderApp(
    <>
      <MediaState info={undefined} />
      <MediaState info={{ ...image({}), details: undefined }} />
    </>,
  );
  expect(container).toHaveTextContent("");
});

it("formats sizes and durations, and detects renditions that are being made", () => {
  expect([sizeText(12, "en"), sizeText(12_300_000, "pt"), timeText(9.6)]).toEqual([
    "1 kB",
    "12 MB",
    "0:10",
  ]);
  expect(isPreparing([{}, { media: { a: image({ state: "waiting" }) } }])).toBe(true);
  expect(isPreparing([{ media: { a: image({}) } }])).toBe(false);
});

it("brief: shows only preparing and failed states", () => {
  const { container } = renderApp(<MediaState info={image({ delta_e: 4 })} brief />);
  expect(container).toBeEmptyDOMElement();
  renderApp(<MediaState info={image({ state: "waiting" })} brief />);
  expect(screen.getByText("Preparing smaller pictures…")).toBeVisible();
});
