// Fresh PostgreSQL databases for tests, from the helper program that the Go tests use too.
import { type ChildProcessByStdio, spawn } from "node:child_process";
import { createInterface, type Interface } from "node:readline";
import type { Readable, Writable } from "node:stream";

import { root } from "./root.ts";

let helper: ChildProcessByStdio<Writable, Readable, null> | undefined;
let lines: Interface | undefined;

/** The address of a new, migrated database. The server behind it starts with the first call. */
export function freshPostgres(): Promise<string> {
  if (!helper || !lines) {
    helper = spawn("go", ["run", "./test/postgres"], {
      cwd: root,
      stdio: ["pipe", "pipe", "inherit"],
    });
    lines = createInterface({ input: helper.stdout });
  }
  const { stdin } = helper;
  const from = lines;
  return new Promise((done, fail) => {
    from.once("line", done);
    from.once("close", () => fail(new Error("the PostgreSQL helper ended")));
    stdin.write("\n");
  });
}

/** Stops the PostgreSQL server of this process, if one was started. */
export async function stopPostgres(): Promise<void> {
  if (!helper) return;
  const ending = new Promise((done) => helper?.once("exit", done));
  helper.stdin.end();
  await ending;
  helper = undefined;
  lines = undefined;
}
