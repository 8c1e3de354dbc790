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

/** The times of a cover without a schedule, in the form. */
const always = { visible_from: "", visible_until: "" };

describe("coverChange", () => {
  it("is empty for unchanged form values", () => {
    expect(coverChange(cover, formValues(cover))).toEqual({});
  });

  it("contains only fields that differ", () => {
    expect(
      coverChange(cover, {
        title: "Costa ",
        description: "80 × 50",
        display_order: "3",
        ...always,
      }),
    ).toEqual({
      description: "80 × 50",
      display_order: 3,
    });
    expect(
      coverChange(cover, { title: "", description: "", display_order: "2", ...always }),
    ).toEqual({
      title: null,
    });
  });
});

it.each(["0", "-1", "", "1.5", "x", "1e3"])("rejects the number %o", (display_order) => {
  const result = coverSchema.safeParse({ title: "", description: "", display_order, ...always });
  expect(result.error?.issues[0]?.message).toBe("covers.orderMin");
});

it("accepts 1", () => {
  const values = { title: "", description: "", display_order: "1", ...always };
  expect(coverSchema.safeParse(values).success).toBe(true);
});

it("a new cover is active and last; the poster of a film is its own address", () => {
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
