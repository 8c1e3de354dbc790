import { describe, expect, it } from "vitest";
import {
  videoInfo,
  imageInfo,
  renditionUrl,
  pickWidth,
  sizesText,
  srcSetFor,
  displayUrl,
  type ImageInfo,
} from "@/lib/media";

const info: ImageInfo = {
  kind: "image",
  v: "0123456789abcdef",
  width: 700,
  height: 350,
  widths: [320, 700],
};
const url = "/storage/v1/object/public/product-images/um quadro.jpg";

it("finds the metadata of a file by its URL and kind", () => {
  const row = { media: { [url]: info } };
  expect(imageInfo(row, url)).toBe(info);
  expect(videoInfo(row, url)).toBeUndefined();
  expect(imageInfo(row, "/other.jpg")).toBeUndefined();
  expect(imageInfo(row, null)).toBeUndefined();
  expect(imageInfo({}, url)).toBeUndefined();
});

it("uses a rendition for formats that browsers cannot read", () => {
  expect(displayUrl(url)).toBe(url);
  expect(displayUrl("/storage/v1/object/public/product-images/IMG 1.HEIC")).toBe(
    "/storage/v1/render/image/public/product-images/IMG%201.HEIC?width=1600",
  );
  expect(displayUrl("/storage/v1/object/public/product-images/1.tif")).toContain("/render/image/");
  expect(displayUrl("https://other.example/a.heic")).toBe("https://other.example/a.heic");
});

describe("URLs of renditions", () => {
  it("contain the width and the version, and no space", () => {
    expect(srcSetFor(url, info)).toBe(
      "/storage/v1/render/image/public/product-images/um%20quadro.jpg?width=320&v=0123456789abcdef 320w," +
        "/storage/v1/render/image/public/product-images/um%20quadro.jpg?width=700&v=0123456789abcdef 700w",
    );
  });
  it("keep the host and drop the query string", () => {
    expect(renditionUrl("https://a.example/storage/v1/object/public/b/c.jpg?x=1", "width=1")).toBe(
      "https://a.example/storage/v1/render/image/public/b/c.jpg?width=1",
    );
  });
});

it("gives screens of density 3 the same files as those of density 2", () => {
  expect(
    sizesText([
      ["(min-width:64rem)", "30vw"],
      ["", "min(90vw,20rem)"],
    ]),
  ).toBe(
    "(min-width:64rem) 30vw,(min-resolution:2.5dppx) calc(.7*min(90vw,20rem)),min(90vw,20rem)",
  );
});

it("picks the smallest width that has a pixel for each device pixel", () => {
  expect(pickWidth([320, 640, 1024], 300, 2)).toBe(640);
  expect(pickWidth([320, 640, 1024], 900, 2)).toBe(1024);
});
