import { renderHook } from "@testing-library/react";
import { expect, it } from "vitest";
import { BootProvider } from "@/lib/boot";
import { usePageTitle } from "@/lib/use-page-title";
import { testBoot } from "@/test/render";

function titled(title?: string | null): string {
  renderHook(() => usePageTitle(title), {
    wrapper: ({ children }) => <BootProvider value={testBoot}>{children}</BootProvider>,
  });
  return document.title;
}

it("names the page and the site, and waits while the page is not known", () => {
  expect(titled("Gallery")).toBe("Gallery · Alvor");
  expect(titled(null)).toBe("Gallery · Alvor");
  expect(titled()).toBe("Alvor");
});

it("keeps a title from turning the site's name or breaking the line", () => {
  expect(titled("\u202egnp.live\u2066 a\u2028b\u0001 c\n")).toBe("gnp.live a b c · Alvor");
});
