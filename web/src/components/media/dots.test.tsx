import { render } from "@testing-library/react";
import { expect, it } from "vitest";
import { Dots } from "@/components/media/carousel";

const activeOf = (container: HTMLElement) =>
  [...(container.firstElementChild?.children ?? [])].findIndex((dot) =>
    dot.classList.contains("bg-indigo"),
  );

it.each([
  // selected, count, dots, active
  [0, 3, 3, 0],
  [2, 3, 3, 2],
  [0, 12, 5, 0],
  [11, 12, 5, 4],
  [5, 11, 5, 2],
])("position %i of %i shows %i dots, active %i", (selected, count, dots, active) => {
  const { container } = render(<Dots selected={selected} count={count} />);
  expect(container.firstElementChild?.children).toHaveLength(dots);
  expect(container.firstElementChild).toHaveAttribute("aria-hidden", "true");
  expect(activeOf(container)).toBe(active);
});

it("renders nothing for a single slide", () => {
  const { container } = render(<Dots selected={0} count={1} />);
  expect(container).toBeEmptyDOMElement();
});
