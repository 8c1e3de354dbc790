import { fireEvent, screen } from "@testing-library/react";
import { expect, it, vi } from "vitest";
import { Picture } from "@/components/media/picture";
import { renderApp } from "@/test/render";

function finish(image: HTMLElement, width: number) {
  Object.defineProperty(image, "naturalWidth", { value: width, configurable: true });
  Object.defineProperty(image, "naturalHeight", { value: width / 2, configurable: true });
  Object.defineProperty(image, "complete", { value: true, configurable: true });
}

it("hides a file that is on its way and fades it in", () => {
  const onSize = vi.fn();
  vi.spyOn(HTMLImageElement.prototype, "complete", "get").mockReturnValue(false);
  renderApp(<Picture src="/a.jpg" alt="Roofs" width={800} height={400} onSize={onSize} />);
  const image = screen.getByRole("img", { name: "Roofs" });
  expect(image).toHaveClass("opacity-0");
  expect(image).toHaveAttribute("loading", "lazy");
  finish(image, 1600);
  fireEvent.load(image);
  expect(image).not.toHaveClass("opacity-0");
  expect(onSize).toHaveBeenCalledWith(1600, 800);
});

it("never hides the picture the page waits for", () => {
  vi.spyOn(HTMLImageElement.prototype, "complete", "get").mockReturnValue(false);
  renderApp(<Picture src="/a.jpg" alt="Roofs" priority />);
  const image = screen.getByRole("img", { name: "Roofs" });
  expect(image).not.toHaveClass("opacity-0");
  expect(image).toHaveAttribute("fetchpriority", "high");
  expect(image).toHaveAttribute("loading", "eager");
});

it("puts a placeholder in the place of a missing file", () => {
  vi.spyOn(HTMLImageElement.prototype, "complete", "get").mockReturnValue(false);
  renderApp(<Picture src="/gone.jpg" alt="Roofs" />);
  fireEvent.error(screen.getByRole("img", { name: "Roofs" }));
  expect(screen.getByRole("img", { name: "Roofs" })).not.toHaveAttribute("src");
});

it("leaves a missing file to the caller who asks for it", () => {
  vi.spyOn(HTMLImageElement.prototype, "complete", "get").mockReturnValue(false);
  const onMissing = vi.fn();
  renderApp(<Picture src="/gone.jpg" alt="Roofs" onMissing={onMissing} />);
  fireEvent.error(screen.getByRole("img"));
  expect(onMissing).toHaveBeenCalledTimes(1);
  expect(screen.queryByRole("img")).not.toBeInTheDocument();
});

it("notices a failure that happened before it was mounted", () => {
  vi.spyOn(HTMLImageElement.prototype, "complete", "get").mockReturnValue(true);
  vi.spyOn(HTMLImageElement.prototype, "naturalWidth", "get").mockReturnValue(0);
  const onMissing = vi.fn();
  renderApp(<Picture src="/gone.jpg" alt="Roofs" onMissing={onMissing} />);
  expect(onMissing).toHaveBeenCalledTimes(1);
});
