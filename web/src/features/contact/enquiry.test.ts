import { expect, test } from "vitest";
import { reasonFor, withArtworkLine, withoutArtworkLine } from "@/features/contact/enquiry";
import { aProduct } from "@/test/a-product";

const line = "About “Romãs”: ";

test("adds the line of the work to an empty message", () => {
  expect(withArtworkLine("", line, "")).toBe(line);
});

test("keeps the written text after the line", () => {
  expect(withArtworkLine("Is it framed?", line, "")).toBe("About “Romãs”: Is it framed?");
});

test("adds the line only once", () => {
  expect(withArtworkLine("About “Romãs”: Is it framed?", line, line)).toBe(
    "About “Romãs”: Is it framed?",
  );
  expect(withArtworkLine("About “Romãs”:", line, "")).toBe("About “Romãs”:");
});

test("replaces the line of another work", () => {
  expect(withArtworkLine("About “Onda”: Is it framed?", line, "About “Onda”: ")).toBe(
    "About “Romãs”: Is it framed?",
  );
});

test("the reason is empty once the message no longer names the work", () => {
  const enquiry = aProduct({ title: " Romãs " });
  expect(reasonFor("About “Romãs”: how much?", enquiry)).toBe("purchase");
  expect(reasonFor("About “Romãs”: how much?", { ...enquiry, is_customizable: true })).toBe(
    "commission",
  );
  expect(reasonFor("Hello there, Ana", enquiry)).toBe("");
  expect(reasonFor("About “Romãs”: how much?", null)).toBe("");
});

test("removes the line of a work, and nothing else", () => {
  expect(withoutArtworkLine("About “Romãs”: Is it framed?", line)).toBe("Is it framed?");
  expect(withoutArtworkLine("Is it framed?", line)).toBe("Is it framed?");
  expect(withoutArtworkLine("Is it framed?", "")).toBe("Is it framed?");
});
