import { expect, it } from "vitest";
import { stillOf } from "@/lib/upload/still-name";

it("is the video's name with another ending", () => {
  expect(stillOf("abc.mp4")).toBe("abc.still.jpg");
  expect(stillOf("https://site.example/storage/v1/object/public/cover-images/a.b.MOV?x#t=1")).toBe(
    "https://site.example/storage/v1/object/public/cover-images/a.b.still.jpg",
  );
});

it("is null for files that are not videos", () => {
  for (const name of ["abc.jpg", "mp4", "abc", "abc.mp4.png"]) expect(stillOf(name)).toBeNull();
});
