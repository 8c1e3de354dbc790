import { fireEvent, screen } from "@testing-library/react";
import { expect, it, vi } from "vitest";
import { Picture } from "@/components/media/picture";
import type { ImageInfo } from "@/lib/media";
import { renderApp } from "@/test/render";

function finishLoading(image: HTMLElement, width: number) {
  Object.defineProperty(image, "naturalWidth", { value: width, configurable: true });
  Object.defineProperty(image, "naturalHeight", { value: width / 2, configurable: true });
  Object.defineProperty(image, "complete", { value: true, configurable: true });
}

it("hides a picture that is loading and fades it in", () => {
  const onSize = vi.fn();
  vi.spyOn(HTMLImageElement.prototype, "complete", "get").mockReturnValue(false);
  renderApp(<Picture src="/a.jpg" alt="Roofs" width={800} height={400} onSize={onSize} />);
  const image = screen.getByRole("img", { name: "Roofs" });
  expect(image).toHaveClass("opacity-0");
  expect(image).toHaveAttribute("loading", "lazy");
  finishLoading(image, 1600);
  fireEvent.load(image);
  expect(image).not.toHaveClass("opacity-0");
  expect(onSize).toHaveBeenCalledWith(1600, 800);
});

it("never hides a priority picture", () => {
  vi.spyOn(HTMLImageElement.prototype, "complete", "get").mockReturnValue(false);
  renderApp(<Picture src="/a.jpg" alt="Roofs" priority />);
  const image = screen.getByRole("img", { name: "Roofs" });
  expect(image).not.toHaveClass("opacity-0");
  expect(image).toHaveAttribute("fetchpriority", "high");
  expect(image).toHaveAttribute("loading", "eager");
});

it("renders a placeholder for a missing file", () => {
  vi.spyOn(HTMLImageElement.prototype, "complete", "get").mockReturnValue(false);
  renderApp(<Picture src="/gone.jpg" alt="Roofs" />);
  fireEvent.error(screen.getByRole("img", { name: "Roofs" }));
  expect(screen.getByRole("img", { name: "Roofs" })).not.toHaveAttribute("src");
});

it("calls onMissing for a missing file and renders nothing", () => {
  vi.spyOn(HTMLImageElement.prototype, "complete", "get").mockReturnValue(false);
  const onMissing = vi.fn();
  renderApp(<Picture src="/gone.jpg" alt="Roofs" onMissing={onMissing} />);
  fireEvent.error(screen.getByRole("img"));
  expect(onMissing).toHaveBeenCalledTimes(1);
  expect(screen.queryByRole("img")).not.toBeInTheDocument();
});

it("detects a failure that happened before mount", () => {
  vi.spyOn(HTMLImageElement.prototype, "complete", "get").mockReturnValue(true);
  vi.spyOn(HTMLImageElement.prototype, "naturalWidth", "get").mockReturnValue(0);
  const onMissing = vi.fn();
  renderApp(<Picture src="/gone.jpg" alt="Roofs" onMissing={onMissing} />);
  expect(onMissing).toHaveBeenCalledTimes(1);
});

const info: ImageInfo = {
  kind: "image",
  v: "0123456789abcdef",
  width: 1600,
  height: 800,
  widths: [320, 640],
  thumbhash: "HAkKNJpwh4dweHeI",
  color: "#336699",
  focus: [0.25, 0.5],
};
const pictureWithInfo = (
  <Picture src="/object/public/a.jpg" alt="Roofs" info={info} sizes={[["", "50vw"]]} />
);

it("P-3: requests a rendition that fits, and shows the dominant colour until it has loaded", () => {
  vi.spyOn(HTMLImageElement.prototype, "complete", "get").mockReturnValue(false);
  renderApp(pictureWithInfo);
  const image = screen.getByRole("img");
  expect(image.getAttribute("srcset")).toContain(
    "/render/image/public/a.jpg?width=640&v=0123456789abcdef 640w",
  );
  expect(image).toHaveAttribute("width", "1600");
  expect(image).toHaveClass("pending");
  expect(image).not.toHaveClass("opacity-0");
  expect(image).toHaveStyle({ backgroundColor: "#336699" });
  finishLoading(image, 640);
  fireEvent.load(image);
  expect(image).not.toHaveClass("pending");
  expect(image.style.backgroundColor).toBe("");
});

it("shows the stored file if the rendition fails, and the placeholder if that fails too", () => {
  vi.spyOn(HTMLImageElement.prototype, "complete", "get").mockReturnValue(false);
  renderApp(pictureWithInfo);
  fireEvent.error(screen.getByRole("img"));
  const image = screen.getByRole("img");
  expect(image).not.toHaveAttribute("srcset");
  expect(image).toHaveAttribute("src", "/object/public/a.jpg");
  fireEvent.error(image);
  expect(screen.getByRole("img")).not.toHaveAttribute("src");
});

it("applies the focus point only where the picture is cropped", () => {
  vi.spyOn(HTMLImageElement.prototype, "complete", "get").mockReturnValue(false);
  const { rerender } = renderApp(<Picture src="/a.jpg" alt="" info={info} fit="cover" />);
  expect(document.querySelector("img")!.style.objectPosition).toBe("25% 50%");
  rerender(<Picture src="/a.jpg" alt="" info={info} />);
  expect(document.querySelector("img")!.style.objectPosition).toBe("");
});
