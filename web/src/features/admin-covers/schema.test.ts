import { describe, expect, it } from "vitest";
import {
  coverChange,
  coverKind,
  coverPayload,
  coverSchema,
  formValues,
} from "@/features/admin-covers/schema";
import type { CoverImage } from "@/lib/types";

const cover: CoverImage = {
  id: "c1",
  image_url: "/c.jpg",
  title: "Costa",
  description: null,
  media_type: "image",
  video_thumbnail_url: null,
  is_active: true,
  display_order: 2,
};

describe("coverChange", () => {
  it("is empty for unchanged form values", () => {
    expect(coverChange(cover, formValues(cover))).toEqual({});
  });

  it("contains only fields that differ", () => {
    expect(
      coverChange(cover, {
        ...formValues(cover),
        title: "Costa ",
        description: "80 × 50",
        title_pt: "Costa",
        alt_pt: " ",
        display_order: "3",
      }),
    ).toEqual({
      description: "80 × 50",
      title_pt: "Costa",
      display_order: 3,
    });
    expect(coverChange(cover, { ...formValues(cover), title: "" })).toEqual({ title: null });
  });
});

it.each(["0", "-1", "", "1.5", "x", "1e3"])("rejects the number %o", (display_order) => {
  const result = coverSchema.safeParse({ ...formValues(cover), display_order });
  expect(result.error?.issues[0]?.message).toBe("covers.orderMin");
});

it("accepts 1", () => {
  expect(coverSchema.safeParse({ ...formValues(cover), display_order: "1" }).success).toBe(true);
});

it("a new cover is active and last; the poster of a video is the video's own URL", () => {
  expect(coverPayload("/f.mp4", "video", 3)).toEqual({
    image_url: "/f.mp4",
    media_type: "video",
    display_order: 4,
    is_active: true,
    video_thumbnail_url: "/f.mp4",
  });
  expect(coverPayload("/i.jpg", "image", 0)).toMatchObject({
    display_order: 1,
    video_thumbnail_url: null,
  });
});

it("treats unknown media types as images", () => {
  expect(coverKind({ media_type: "video" })).toBe("video");
  expect(coverKind({ media_type: "hologram" })).toBe("image");
});
