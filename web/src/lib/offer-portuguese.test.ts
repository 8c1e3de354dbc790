import { screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { offerPortuguese } from "@/lib/offer-portuguese";

beforeEach(() => {
  document.documentElement.lang = "en";
  document.body.innerHTML = '<main id="main" tabindex="-1"><h1>Works</h1></main>';
  history.replaceState(null, "", "/gallery/all?art=1#x");
});
afterEach(() => {
  vi.restoreAllMocks();
  document.body.innerHTML = "";
  document.documentElement.removeAttribute("lang");
  history.replaceState(null, "", "/");
});

const prefer = (...languages: string[]) =>
  vi.spyOn(navigator, "languages", "get").mockReturnValue(languages);
const link = () => screen.queryByRole("link", { name: "Mudar para português" });

test("S9-offer: one line links to the same page in Portuguese, and can be closed", async () => {
  prefer("fr", "pt-BR", "en");
  offerPortuguese();
  expect(link()).toHaveAttribute("href", "/gallery/all?art=1&lang=pt#x");
  expect(link()).toHaveAttribute("lang", "pt");
  history.replaceState(null, "", "/");
  await userEvent.hover(link()!);
  expect(link()).toHaveAttribute("href", "/?lang=pt");
  await userEvent.click(screen.getByRole("button", { name: "Close" }));
  expect(link()).toBeNull();
  expect(screen.getByRole("main")).toHaveFocus();
});

test("the line is removed when the visitor changes the language", async () => {
  prefer("pt-PT");
  offerPortuguese();
  document.documentElement.lang = "en"; // as hydration does
  await Promise.resolve();
  expect(link()).not.toBeNull();
  document.documentElement.style.overflow = "hidden"; // the menu is open
  await waitFor(() => expect(screen.getByText("Mudar para português")).not.toBeVisible());
  document.documentElement.style.overflow = "";
  await waitFor(() => expect(link()).toBeVisible());
  document.documentElement.lang = "pt";
  await waitFor(() => expect(link()).toBeNull());
});

test.each([
  ["a browser that prefers English", ["en-GB", "pt"], "en", "/"],
  ["a browser that prefers neither", ["fr"], "en", "/"],
  ["a page in Portuguese", ["pt"], "pt", "/"],
  ["the admin area", ["pt"], "en", "/admin/products"],
])("nothing is offered: %s", (_, languages, lang, path) => {
  prefer(...languages);
  document.documentElement.lang = lang;
  history.replaceState(null, "", path);
  offerPortuguese();
  expect(link()).toBeNull();
});
