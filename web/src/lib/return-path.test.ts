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
])("%j returns %s", (state, path) => {
  expect(returnPath(state)).toBe(path);
});

it("reads the return path of a mailed link, by the same rules", () => {
  expect(returnPath(null, new URLSearchParams({ from: "/admin/reviews" }))).toBe("/admin/reviews");
  expect(returnPath(null, new URLSearchParams({ from: "https://elsewhere.example" }))).toBe(
    "/admin",
  );
});
