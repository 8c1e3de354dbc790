import { screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { expect, it, vi } from "vitest";
import { Button } from "@/components/ui/button";
import { buttonLooks } from "@/components/ui/button-looks";
import { renderApp } from "@/test/render";

it("is no submit button by itself", () => {
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

it("lends its looks to a link", () => {
  renderApp(
    <a href="/gallery/all" className={buttonLooks({ variant: "white" })}>
      Explore
    </a>,
  );
  expect(screen.getByRole("link", { name: "Explore" })).toHaveClass("btn", "btn-white");
});
