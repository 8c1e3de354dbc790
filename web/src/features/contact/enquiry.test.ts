import { expect, test } from "vitest";
import { reasonFor, withWorkNamed } from "@/features/contact/enquiry";

const line = "About “Romãs”: ";

test("an empty message starts with the work", () => {
  expect(withWorkNamed("", line)).toBe(line);
});

test("what was written is kept behind the line", () => {
  expect(withWorkNamed("Is it framed?", line)).toBe("About “Romãs”: Is it framed?");
});

test("asking twice names the work once", () => {
  expect(withWorkNamed("About “Romãs”: Is it framed?", line, line)).toBe(
    "About “Romãs”: Is it framed?",
  );
  expect(withWorkNamed("About “Romãs”:", line)).toBe("About “Romãs”:");
});

test("another work replaces the first", () => {
  expect(withWorkNamed("About “Onda”: Is it framed?", line, "About “Onda”: ")).toBe(
    "About “Romãs”: Is it framed?",
  );
});

test("the reason goes when the work is no longer named", () => {
  const enquiry = { title: "Romãs", reason: "purchase" } as const;
  expect(reasonFor("About “Romãs”: how much?", enquiry)).toBe("purchase");
  expect(reasonFor("Hello there, Ana", enquiry)).toBe("");
  expect(reasonFor("About “Romãs”: how much?", null)).toBe("");
});
