import { expect, it } from "vitest";
import { releasedFiles } from "@/features/admin-products/released-files";

const media = (
  image_url: string | null,
  image_gallery: string[] = [],
  video_gallery: string[] = [],
) => ({
  image_url,
  image_gallery,
  video_gallery,
});

it("lets go of what the saved row no longer shows", () => {
  expect(releasedFiles(media("/main", ["/a", "/b"], ["/film"]), [], media("/new", ["/b"]))).toEqual(
    ["/main", "/a", "/film"],
  );
});

it("lets go of uploads that did not make it into the row", () => {
  expect(releasedFiles(null, ["/x", "/y"], media("/x"))).toEqual(["/y"]);
});

it("keeps a file that moved within the row", () => {
  expect(releasedFiles(media("/main", ["/a", "/b"]), [], media("/a", ["/b"]))).toEqual(["/main"]);
});
