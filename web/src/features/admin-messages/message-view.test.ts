import { expect, it } from "vitest";
import {
  isFiltered,
  readView,
  searchCondition,
  writeView,
} from "@/features/admin-messages/message-view";

it("parses the query string and ignores unknown values", () => {
  expect(
    readView(new URLSearchParams("q=mural&state=waiting_me&status=new&reason=purchase&page=3")),
  ).toEqual({
    q: "mural",
    state: "waiting_me",
    status: "new",
    reason: "purchase",
    page: 3,
  });
  for (const odd of [
    "",
    "state=lost&status=lost&reason=x&page=-1",
    "page=1.5",
    "page=1e9",
    "page=zero",
  ])
    expect(readView(new URLSearchParams(odd))).toEqual({
      q: "",
      state: "",
      status: "",
      reason: "",
      page: 1,
    });
});

it("omits default values from the query string and keeps the language", () => {
  const now = new URLSearchParams("lang=pt&message=m1&status=new&page=4");
  const next = writeView(now, { q: "azul", state: "done", status: "", reason: "general", page: 1 });
  expect(next.toString()).toBe("lang=pt&q=azul&state=done&reason=general");
});

it("detects whether a filter is set", () => {
  const none = { q: " ", state: "", status: "", reason: "", page: 2 } as const;
  expect(isFiltered(none)).toBe(false);
  expect(isFiltered({ ...none, reason: "general" })).toBe(true);
  expect(isFiltered({ ...none, state: "done" })).toBe(true);
});

it("AM-list-4: escapes characters that have a meaning in a query", () => {
  expect(searchCondition(" azul ")).toBe(
    'name.ilike."%azul%",email.ilike."%azul%",message.ilike."%azul%"',
  );
  expect(searchCondition('50%,_"\\*').split('",')[0]).toBe(
    'name.ilike."%50\\\\%,\\\\_\\"\\\\\\\\_%',
  );
});
