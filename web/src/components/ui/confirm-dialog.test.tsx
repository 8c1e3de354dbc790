import { useState } from "react";
import { screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { expect, it, vi } from "vitest";
import { ConfirmDialog } from "@/components/ui/confirm-dialog";
import { renderApp } from "@/test/render";

function Demo({ onConfirm, busy }: { onConfirm(): void; busy?: boolean }) {
  const [open, setOpen] = useState(false);
  return (
    <>
      <button onClick={() => setOpen(true)}>Open</button>
      <ConfirmDialog
        open={open}
        onOpenChange={setOpen}
        title="Delete message"
        question="Are you sure?"
        onConfirm={onConfirm}
        busy={busy}
      />
    </>
  );
}

it("focuses Cancel, has an accessible name and description, and returns the focus", async () => {
  const user = userEvent.setup();
  const onConfirm = vi.fn();
  renderApp(<Demo onConfirm={onConfirm} />);
  await user.click(screen.getByRole("button", { name: "Open" }));

  const dialog = screen.getByRole("alertdialog", { name: "Delete message" });
  expect(dialog).toHaveAccessibleDescription("Are you sure?");
  expect(screen.getByRole("button", { name: "Cancel" })).toHaveFocus();

  await user.keyboard("{Escape}");
  expect(screen.queryByRole("alertdialog")).not.toBeInTheDocument();
  await waitFor(() => expect(screen.getByRole("button", { name: "Open" })).toHaveFocus());
  expect(onConfirm).not.toHaveBeenCalled();
});

it("confirms on Delete", async () => {
  const user = userEvent.setup();
  const onConfirm = vi.fn();
  renderApp(<Demo onConfirm={onConfirm} />);
  await user.click(screen.getByRole("button", { name: "Open" }));
  await user.click(screen.getByRole("button", { name: "Delete" }));
  expect(onConfirm).toHaveBeenCalledTimes(1);
});

it("ignores presses and Escape while busy", async () => {
  const user = userEvent.setup();
  const onConfirm = vi.fn();
  renderApp(<Demo onConfirm={onConfirm} busy />);
  await user.click(screen.getByRole("button", { name: "Open" }));
  await user.click(screen.getByRole("button", { name: "Delete" }));
  await user.keyboard("{Escape}");
  expect(onConfirm).not.toHaveBeenCalled();
  expect(screen.getByRole("alertdialog")).toBeInTheDocument();
});
