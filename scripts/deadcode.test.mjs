import { expect, it } from "vitest";

import { keyOf } from "./deadcode.mjs";

it("sources that have changed have another key, whatever their order", () => {
  const sources = new Map([
    ["a.go", "package a"],
    ["b.go", "package b"],
  ]);
  const key = keyOf(sources, "go1.26 linux");
  expect(keyOf(new Map([...sources].reverse()), "go1.26 linux")).toBe(key);
  const others = [
    keyOf(sources, "go1.27 linux"),
    keyOf(new Map(sources).set("a.go", "package a "), "go1.26 linux"),
    keyOf(new Map(sources).set("c.go", ""), "go1.26 linux"),
    keyOf(new Map([["a.go", "package a"]]), "go1.26 linux"),
  ];
  expect(new Set([key, ...others]).size).toBe(5);
});
