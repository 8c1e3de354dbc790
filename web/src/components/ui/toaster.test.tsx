import { act, screen, waitFor } from "@testing-library/react";
import { beforeAll, expect, it } from "vitest";
import { Toaster } from "@/components/ui/toaster";
import { areaToast, expectToasts, helperToast } from "@/lib/toast";
import { renderApp } from "@/test/render";

// Loaded ahead, so that the tests below do not wait for its translation.
beforeAll(async () => void (await import("@/components/ui/toast-area")));

it("loads with the first toast, replaces helper toasts and stacks the others", async () => {
  const { container } = renderApp(<Toaster />);
  expect(container).toBeEmptyDOMElement();

  act(() => helperToast({ title: "First" }));
  expect(await screen.findByText("First")).toBeInTheDocument();

  act(() => helperToast({ title: "Second", description: "More", destructive: true }));
  await waitFor(() => expect(screen.queryByText("First")).not.toBeInTheDocument());
  expect(screen.getByText("More")).toBeInTheDocument();

  act(() => areaToast({ title: "Third" }));
  act(() => areaToast({ title: "Fourth" }));
  expect(await screen.findByText("Fourth")).toBeInTheDocument();
  for (const title of ["Second", "Third"]) expect(screen.getByText(title)).toBeInTheDocument();
});

it("is there before the first toast when one is expected", async () => {
  renderApp(<Toaster />);
  act(() => expectToasts());
  expect(await screen.findByRole("region", { name: /^Notifications/ })).toBeInTheDocument();
  expect(screen.queryAllByRole("listitem")).toEqual([]);
});
