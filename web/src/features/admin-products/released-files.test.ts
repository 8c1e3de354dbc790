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

it("releases files that the saved row no longer uses", () => {
  expect(releasedFiles(media("/main", ["/a", "/b"], ["/film"]), [], media("/new", ["/b"]))).toEqual(
    ["/main", "/a", "/film"],
  );
});

it("releases uploads that the row does not use", () => {
  expect(releasedFiles(null, ["/x", "/y"], media("/x"))).toEqual(["/y"]);
});

it("does not release a file that moved within the row", () => {
  expect(releasedFiles(media("/main", ["/a", "/b"]), [], media("/a", ["/b"]))).toEqual(["/main"]);
});
