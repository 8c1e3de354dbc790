import { expect, it } from "vitest";
import { returnPath } from "@/lib/return-path";

it.each([
  [{ from: "/admin/products" }, "/admin/products"],
  [{ from: "/admin/products?edit=1" }, "/admin/products?edit=1"],
  [{ from: "/admin?x=1" }, "/admin?x=1"],
  [{ from: "/admin/auth" }, "/admin"],
  [{ from: "//elsewhere.example" }, "/admin"],
  [{ from: "/administrator" }, "/admin"],
  [{ from: 7 }, "/admin"],
  [null, "/admin"],
])("%j leads to %s", (state, path) => {
  expect(returnPath(state)).toBe(path);
});

it("takes what a mailed link carries, under the same rule", () => {
  expect(returnPath(null, new URLSearchParams({ from: "/admin/reviews" }))).toBe("/admin/reviews");
  expect(returnPath(null, new URLSearchParams({ from: "https://elsewhere.example" }))).toBe(
    "/admin",
  );
});
