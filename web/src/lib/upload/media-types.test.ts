import { describe, expect, it } from "vitest";
import { IMAGE_MAX_BYTES } from "@/lib/constants";
import {
  acceptOf,
  fileFacts,
  IMAGE_ONLY,
  IMAGE_OR_VIDEO,
  refusalOf,
  VIDEO_ONLY,
} from "@/lib/upload/media-types";

const file = (name: string, type = "", size = 10) => ({ name, type, size });

describe("refusalOf", () => {
  it("lets the listed extensions pass in any case", () => {
    for (const name of ["a.jpg", "a.JPEG", "a.png", "a.webp", "a.gif", "a.HEIC"]) {
      expect(refusalOf(file(name), IMAGE_ONLY)).toBeNull();
    }
    for (const name of ["a.mp4", "a.WebM", "a.mov"]) {
      expect(refusalOf(file(name), VIDEO_ONLY)).toBeNull();
    }
  });

  it("keeps kinds apart", () => {
    expect(refusalOf(file("a.mp4"), IMAGE_ONLY)).toBe("type");
    expect(refusalOf(file("a.png"), VIDEO_ONLY)).toBe("type");
    expect(refusalOf(file("a.mp4"), IMAGE_OR_VIDEO)).toBeNull();
  });

  it("does not believe a type that the extension contradicts", () => {
    expect(refusalOf(file("a.svg", "image/png"), IMAGE_ONLY)).toBe("type");
  });

  it("refuses what is larger than the service takes", () => {
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

it("lets an iPhone's chooser turn HEIC into JPEG", () => {
  expect(acceptOf(IMAGE_ONLY)).not.toContain("hei");
});

it("knows the type of a .mov that the system has no type for", () => {
  expect(fileFacts(file("clip.MOV"))).toEqual({
    kind: "video",
    extension: "mov",
    mime: "video/quicktime",
  });
});
