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

it("contains the names of page and site, and is not set while the page is unknown", () => {
  expect(titled("Gallery")).toBe("Gallery · Alvor");
  expect(titled(null)).toBe("Gallery · Alvor");
  expect(titled()).toBe("Alvor");
});

it("P-found-hostile: removes control characters that would reverse or break the title", () => {
  expect(titled("\u202egnp.live\u2066 a\u2028b\u0001 c\n")).toBe("gnp.live a b c · Alvor");
});
