import { screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { expect, it, vi } from "vitest";
import { Button } from "@/components/ui/button";
import { buttonClasses } from "@/components/ui/button-classes";
import { renderApp } from "@/test/render";

it("is not a submit button by default", () => {
  renderApp(<Button>Go</Button>);
  expect(screen.getByRole("button", { name: "Go" })).toHaveAttribute("type", "button");
});

it("ignores presses while loading but keeps the focus", async () => {
  const user = userEvent.setup();
  const onClick = vi.fn();
  const onSubmit = vi.fn((event: React.FormEvent) => event.preventDefault());
  renderApp(
    <form onSubmit={onSubmit}>
      <Button type="submit" loading onClick={onClick}>
        Sending…
      </Button>
    </form>,
  );
  const button = screen.getByRole("button", { name: "Sending…" });
  await user.click(button);
  expect(button).toHaveFocus();
  expect(button).toHaveAttribute("aria-busy", "true");
  expect(onClick).not.toHaveBeenCalled();
  expect(onSubmit).not.toHaveBeenCalled();
});

it("buttonClasses style a link like a button", () => {
  renderApp(
    <a href="/gallery/all" className={buttonClasses({ variant: "white" })}>
      Explore
    </a>,
  );
  expect(screen.getByRole("link", { name: "Explore" })).toHaveClass("btn", "btn-white");
});
