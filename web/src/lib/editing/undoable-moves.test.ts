import { expect, it } from "vitest";
import { undoableMoves } from "@/lib/editing/undoable-moves";
import { ConflictError } from "@/lib/editing/update-if-unchanged";
import { orderAfter } from "@/lib/place-of";

/** A list on a server, and the function that moves its rows. `loaded` is the order that the page has loaded, if any. */
function makeList(order: string[], loaded?: string[]) {
  const list = { order, loaded, reads: 0, refetches: 0 };
  const move = undoableMoves({
    loadedOrder: () => list.loaded,
    readOrder: async () => {
      list.reads++;
      return [...list.order];
    },
    save: async (args) => {
      list.order = orderAfter(list.order, args);
    },
    refetch: async () => {
      list.refetches++;
      if (list.loaded) list.loaded = [...list.order];
    },
  });
  return { list, move };
}

it("A-history-undo: Undo puts rows back among rows that the page does not show", async () => {
  const { list, move } = makeList(["d1", "m1", "d2", "m2", "m3"]);
  // The page shows only m1, m2 and m3.
  const undo = await move({ ids: ["m1", "m2"], place: "after", target: "m3" });
  expect(list.order).toEqual(["d1", "d2", "m3", "m1", "m2"]);
  list.order.push("new");
  await undo();
  expect(list.order).toEqual(["d1", "m1", "d2", "m2", "m3", "new"]);
  expect(list.refetches).toBe(2);
});

it("A-history-undo: Undo changes nothing if rows were moved since", async () => {
  const { list, move } = makeList(["a", "b", "c"]);
  const undo = await move({ ids: ["a"], place: "after", target: "c" });
  list.order = ["c", "b", "a"];
  await expect(undo()).rejects.toThrow(ConflictError);
  expect(list.order).toEqual(["c", "b", "a"]);
});

it("the second of two quick moves is undone alone", async () => {
  const { list, move } = makeList(["a", "b", "c"]);
  const first = move({ ids: ["a"], place: "after", target: "c" });
  const undo = await move({ ids: ["b"], place: "last", target: null });
  await first;
  expect(list.order).toEqual(["c", "a", "b"]);
  await undo();
  expect(list.order).toEqual(["b", "c", "a"]);
});

it("A-wall-drag: moves are sent without reading the order that the page has loaded, and are undone alone", async () => {
  const { list, move } = makeList(["a", "b", "c"], ["a", "b", "c"]);
  const first = move({ ids: ["a"], place: "after", target: "c" });
  const undo = await move({ ids: ["b"], place: "last", target: null }); // the loaded order has no move yet
  await first;
  expect(list.order).toEqual(["c", "a", "b"]);
  expect(list.reads).toBe(0);
  await undo();
  expect(list.order).toEqual(["b", "c", "a"]);
  const undoNext = await move({ ids: ["a"], place: "first", target: null });
  expect(list.reads).toBe(1); // by Undo
  await undoNext();
  expect(list.order).toEqual(["b", "c", "a"]);
});

it("A-history-undo: a row that was the first one comes back behind rows that were added before it", async () => {
  const { list, move } = makeList(["a", "b", "c"]);
  const undo = await move({ ids: ["a"], place: "after", target: "c" });
  list.order.unshift("new");
  await undo();
  expect(list.order).toEqual(["new", "a", "b", "c"]);
});
