import { expect, it } from "vitest";
import { objectPath, publicUrl } from "@/lib/upload/object-url";

const boot = { apiUrl: "https://alvor.example" };

it("converts a path to a public URL and back", () => {
  const url = publicUrl(boot, "product-images", "a b/ção.jpg");
  expect(url).toBe(
    "https://alvor.example/storage/v1/object/public/product-images/a%20b/%C3%A7%C3%A3o.jpg",
  );
  expect(objectPath(url, "product-images")).toBe("a b/ção.jpg");
});

it("finds the path of an old host, and ignores the query", () => {
  expect(
    objectPath("http://old/storage/v1/object/public/cover-images/x.mp4?v=2", "cover-images"),
  ).toBe("x.mp4");
});

it.each([
  "https://elsewhere.example/x.jpg",
  "https://alvor.example/storage/v1/object/public/review-images/x.jpg",
  "https://alvor.example/storage/v1/object/public/cover-images/",
  "https://alvor.example/storage/v1/object/public/cover-images/%E0%A4%A.jpg",
])("returns null for %s", (url) => {
  expect(objectPath(url, "cover-images")).toBeNull();
});
