import { expect, it } from "vitest";
import { messageOf } from "@/lib/errors";

it("returns the message of any thrown value", () => {
  expect(messageOf(new Error("a"))).toBe("a");
  expect(messageOf({ message: "b", code: "42501" })).toBe("b");
  expect(messageOf("c")).toBe("c");
  expect(messageOf(undefined, "d")).toBe("d");
  expect(messageOf({ message: "" }, "d")).toBe("d");
  expect(messageOf({ message: 7 })).toBe("");
});
