import { screen } from "@testing-library/react";
import { expect, it } from "vitest";
import { NoscriptActions } from "@/components/layout/noscript-menu";
import type { Boot } from "@/lib/boot";
import { renderApp } from "@/test/render";

it("links the other language of what the page shows", () => {
  const pages: [Partial<Boot>, string][] = [
    [{}, "?lang=pt"],
    [{ reviewsPage: 3 }, "?reviews=3&lang=pt"],
    [{ series: "light-on-lime", art: "w1" }, "?series=light-on-lime&art=w1&lang=pt"],
  ];
  for (const [boot, href] of pages) {
    const { unmount } = renderApp(<NoscriptActions />, { boot });
    expect(screen.getByRole("link", { name: "Mudar para português" })).toHaveAttribute(
      "href",
      href,
    );
    unmount();
  }
  renderApp(<NoscriptActions />, { language: "pt", boot: { reviewsPage: 3 } });
  expect(screen.getByRole("link", { name: "Switch to English" })).toHaveAttribute(
    "href",
    "?reviews=3",
  );
});
