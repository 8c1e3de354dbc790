import { act, screen, waitFor } from "@testing-library/react";
import { expect, it } from "vitest";
import { Toaster } from "@/components/ui/toaster";
import { areaToast, helperToast } from "@/lib/toast";
import { renderApp } from "@/test/render";

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
