import { act, fireEvent, screen, waitFor } from "@testing-library/react";
import { beforeAll, expect, it } from "vitest";
import { Toaster } from "@/components/ui/toaster";
import { stackedToast, preloadToastArea, singleToast } from "@/lib/toast";
import { renderApp } from "@/test/render";

// Imported first, so that no test waits while it is compiled.
beforeAll(async () => void (await import("@/components/ui/toast-area")));

it("loads with the first toast, replaces single toasts and stacks the others", async () => {
  const { container } = renderApp(<Toaster />);
  expect(container).toBeEmptyDOMElement();

  act(() => singleToast({ title: "First" }));
  expect(await screen.findByText("First")).toBeInTheDocument();

  act(() => singleToast({ title: "Second", description: "More", destructive: true }));
  await waitFor(() => expect(screen.queryByText("First")).not.toBeInTheDocument());
  expect(screen.getByText("More")).toBeInTheDocument();

  act(() => stackedToast({ title: "Third" }));
  act(() => stackedToast({ title: "Fourth" }));
  expect(await screen.findByText("Fourth")).toBeInTheDocument();
  for (const title of ["Second", "Third"]) expect(screen.getByText(title)).toBeInTheDocument();
});

it("mounts before the first toast after preloadToastArea", async () => {
  renderApp(<Toaster />);
  act(() => preloadToastArea());
  expect(await screen.findByRole("region", { name: /^Notifications/ })).toBeInTheDocument();
  expect(screen.queryAllByRole("listitem")).toEqual([]);
});

it.each([
  ["the list of toasts", () => screen.getByRole("list")],
  ["an element that is gone", () => document.createElement("button")],
])("collapses the toasts when the pointer comes from %s without a mouseout", async (_, from) => {
  renderApp(<Toaster />);
  act(() => stackedToast({ title: "First" }));
  act(() => stackedToast({ title: "Second" }));
  const shown = (title: string) => screen.getByText(title).closest("[data-sonner-toast]");
  await screen.findByText("Second");
  fireEvent.mouseMove(screen.getByText("First"));
  for (const title of ["First", "Second"])
    expect(shown(title)).toHaveAttribute("data-expanded", "true");
  fireEvent.mouseOver(document.body, { relatedTarget: from() });
  for (const title of ["First", "Second"])
    expect(shown(title)).toHaveAttribute("data-expanded", "false");
});
