import { act, fireEvent, screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { Submenu } from "@/components/layout/submenu";
import { renderApp } from "@/test/render";

function renderSubmenu() {
  return renderApp(
    <>
      <Submenu
        label="Gallery"
        to="/gallery/all"
        toggleLabel="Show gallery types"
        current={false}
        items={[
          { label: "All Paintings", to: "/gallery/all" },
          { label: "Mural", to: "/gallery/mural" },
        ]}
      />
      <button>Elsewhere</button>
    </>,
  );
}
const isOpen = () => screen.queryByRole("link", { name: "Mural" }) !== null;
const toggle = () => screen.getByRole("button", { name: "Show gallery types" });
const advance = (ms: number) => act(() => void vi.advanceTimersByTime(ms));
const area = () => toggle().parentElement!;

describe("by mouse", () => {
  beforeEach(() => vi.useFakeTimers());
  afterEach(() => vi.useRealTimers());

  it("opens immediately and closes 100 ms after leaving", () => {
    renderSubmenu();
    fireEvent.pointerEnter(area(), { pointerType: "mouse" });
    expect(isOpen()).toBe(true);
    expect(toggle()).toHaveAttribute("aria-expanded", "true");

    fireEvent.pointerLeave(area(), { pointerType: "mouse" });
    advance(99);
    expect(isOpen()).toBe(true);
    advance(1);
    expect(isOpen()).toBe(false);
  });

  it("stays open if the mouse returns within the delay", () => {
    renderSubmenu();
    fireEvent.pointerEnter(area(), { pointerType: "mouse" });
    fireEvent.pointerLeave(area(), { pointerType: "mouse" });
    advance(60);
    fireEvent.pointerEnter(area(), { pointerType: "mouse" });
    advance(500);
    expect(isOpen()).toBe(true);
  });

  it("S2-nav-5: does not open for a touch pointer that enters", () => {
    renderSubmenu();
    fireEvent.pointerEnter(area(), { pointerType: "touch" });
    expect(isOpen()).toBe(false);
  });
});

describe("by press and keyboard", () => {
  it("S2-nav-5: opens by focus and closes when the focus moves on", async () => {
    const user = userEvent.setup();
    renderSubmenu();
    await user.tab();
    expect(screen.getByRole("link", { name: "Gallery" })).toHaveFocus();
    expect(isOpen()).toBe(true);
    for (let step = 0; step < 4; step++) await user.tab();
    expect(screen.getByRole("button", { name: "Elsewhere" })).toHaveFocus();
    expect(isOpen()).toBe(false);
  });

  it("S2-nav-5: Escape closes, returns the focus and does not reopen", async () => {
    const user = userEvent.setup();
    renderSubmenu();
    await user.tab();
    await user.tab();
    await user.tab();
    expect(screen.getByRole("link", { name: "All Paintings" })).toHaveFocus();
    await user.keyboard("{Escape}");
    expect(isOpen()).toBe(false);
    expect(toggle()).toHaveFocus();
  });

  it("S2-nav-5: toggles by key, closes by a press outside and after a choice", async () => {
    const user = userEvent.setup();
    renderSubmenu();
    await user.tab();
    await user.tab();
    await user.keyboard("{Enter}");
    expect(isOpen()).toBe(false);
    await user.keyboard("{Enter}");
    expect(isOpen()).toBe(true);
    await user.click(screen.getByRole("button", { name: "Elsewhere" }));
    expect(isOpen()).toBe(false);

    fireEvent.click(toggle());
    await user.click(screen.getByRole("link", { name: "Mural" }));
    expect(toggle()).toHaveAttribute("aria-expanded", "false");
    expect(screen.getByRole("link", { name: "Gallery" })).toHaveFocus(); // the chosen link is hidden
  });
});
