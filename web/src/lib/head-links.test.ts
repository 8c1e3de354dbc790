import { expect, test } from "vitest";
import { pictureLinks, splitLinks } from "@/lib/head-links";

test("P-weight-order: makes a preload link for each of the two sources of a picture", () => {
  const picture = {
    media: "(max-aspect-ratio:3/5)",
    narrow: { srcSet: "/p?a=1&b=2 256w", sizes: "1px" },
    wide: { srcSet: "/q 400w", sizes: "2px" },
  };
  expect(pictureLinks(picture)).toBe(
    '<link rel="preload" as="image" media="(max-aspect-ratio:3/5)" imagesrcset="/p?a=1&amp;b=2 256w" imagesizes="1px" fetchpriority="high">' +
      '<link rel="preload" as="image" media="not all and (max-aspect-ratio:3/5)" imagesrcset="/q 400w" imagesizes="2px" fetchpriority="high">',
  );
});

test("P-weight-order: moves only preload links of high priority to the head", () => {
  const urgent = '<link rel="preload" as="image" href="/hero.jpg" fetchPriority="high"/>';
  const other = '<link rel="preload" as="image" href="/work.jpg"/>';
  expect(splitLinks(`${urgent}${other}<p>a</p>`)).toEqual({ head: urgent, body: "<p>a</p>" });
  expect(splitLinks("<p>a</p>")).toEqual({ head: "", body: "<p>a</p>" });
});
