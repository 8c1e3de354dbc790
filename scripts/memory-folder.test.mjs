// @vitest-environment node
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { makeMemoryFolder } from "./memory-folder.mjs";

const free = 64 * 2 ** 30;
const minFree = 2 ** 20; // small, because the disk or the memory of this machine may be almost full
let parent;
beforeEach(() => (parent = mkdtempSync(join(tmpdir(), "memory-"))));
afterEach(() => rmSync(parent, { recursive: true }));

describe("makeMemoryFolder", () => {
  it("makes a folder that every user may write to, because PostgreSQL runs as another user", () => {
    const folder = makeMemoryFolder({ parent, free, minFree });
    expect(statSync(folder).mode & 0o7777).toBe(0o1777);
  });

  it("removes folders of killed runs, and neither those of running processes nor other folders", () => {
    const dead = join(parent, "atelie-tests-4194305"); // above the highest process id of Linux
    const running = join(parent, `atelie-tests-${process.ppid}`);
    const other = join(parent, "other");
    for (const folder of [dead, running, other]) mkdirSync(folder);
    writeFileSync(join(dead, "file"), "");
    makeMemoryFolder({ parent, free, minFree });
    expect([dead, running, other].map((folder) => existsSync(folder))).toEqual([false, true, true]);
  });

  it("makes a folder with a key at the same path again, empty", () => {
    const first = makeMemoryFolder({ parent, free, minFree, key: "key" });
    writeFileSync(join(first, "file"), "");
    const second = makeMemoryFolder({ parent, free, minFree, key: "key" });
    expect(second).toBe(first);
    expect(readdirSync(second)).toEqual([]);
  });

  it("makes no folder if memory is short or the parent does not exist", () => {
    expect(makeMemoryFolder({ parent, free: 2 ** 30 })).toBeUndefined();
    expect(makeMemoryFolder({ parent: join(parent, "missing"), free })).toBeUndefined();
  });
});
