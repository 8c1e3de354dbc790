import { screen } from "@testing-library/react";
import { expect, it } from "vitest";
import { NotFoundPage } from "@/features/not-found/components/not-found-page";
import { renderApp } from "@/test/render";

it("shows that the page was not found, with a link to the home page", () => {
  renderApp(<NotFoundPage />, { path: "/nowhere" });
  expect(screen.getByRole("heading", { name: "Oops! Page not found" })).toBeVisible();
  expect(screen.getByRole("link", { name: "Return to Home" })).toHaveAttribute("href", "/");
});
