import { describe, expect, it } from "vitest";
import { IMAGE_MAX_BYTES } from "@/lib/constants";
import {
  acceptOf,
  fileTypeOf,
  IMAGE_ONLY,
  IMAGE_OR_VIDEO,
  refusalOf,
  VIDEO_ONLY,
} from "@/lib/upload/media-types";

const file = (name: string, type = "", size = 10) => ({ name, type, size });

describe("refusalOf", () => {
  it("accepts the listed extensions in upper and lower case", () => {
    for (const name of ["a.jpg", "a.JPEG", "a.png", "a.webp", "a.gif", "a.HEIC"]) {
      expect(refusalOf(file(name), IMAGE_ONLY)).toBeNull();
    }
    for (const name of ["a.mp4", "a.WebM", "a.mov"]) {
      expect(refusalOf(file(name), VIDEO_ONLY)).toBeNull();
    }
  });

  it("rejects files of the other kind", () => {
    expect(refusalOf(file("a.mp4"), IMAGE_ONLY)).toBe("type");
    expect(refusalOf(file("a.png"), VIDEO_ONLY)).toBe("type");
    expect(refusalOf(file("a.mp4"), IMAGE_OR_VIDEO)).toBeNull();
  });

  it("ignores the MIME type if the extension contradicts it", () => {
    expect(refusalOf(file("a.svg", "image/png"), IMAGE_ONLY)).toBe("type");
  });

  it("rejects files that are too large for the server", () => {
    expect(refusalOf(file("a.png", "", IMAGE_MAX_BYTES), IMAGE_ONLY)).toBeNull();
    expect(refusalOf(file("a.png", "", IMAGE_MAX_BYTES + 1), IMAGE_ONLY)).toBe("size");
    expect(refusalOf(file("a.mp4", "", IMAGE_MAX_BYTES + 1), VIDEO_ONLY)).toBeNull();
  });
});

it("names types and extensions for the file picker", () => {
  expect(acceptOf(VIDEO_ONLY).split(",")).toEqual([
    "video/mp4",
    ".mp4",
    "video/webm",
    ".webm",
    "video/quicktime",
    ".mov",
  ]);
});

it("lets the file picker of an iPhone convert HEIC to JPEG", () => {
  expect(acceptOf(IMAGE_ONLY)).not.toContain("hei");
});

it("detects the type of a .mov file for which the system has none", () => {
  expect(fileTypeOf(file("clip.MOV"))).toEqual({
    kind: "video",
    extension: "mov",
    mime: "video/quicktime",
  });
});
