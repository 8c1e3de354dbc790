// Fresh buckets on a real S3 server for tests, from the helper that the Go tests use too.
import { type ChildProcessByStdio, spawn } from "node:child_process";
import { createInterface, type Interface } from "node:readline";
import type { Readable, Writable } from "node:stream";

import { root } from "./root.ts";

let helper: ChildProcessByStdio<Writable, Readable, null> | undefined;
let lines: Interface | undefined;

/** The address of a new bucket, for ATELIE_STORAGE_URL. The server behind it starts with the first call. */
export function freshBucket(): Promise<string> {
  if (!helper || !lines) {
    helper = spawn("go", ["run", "./test/s3"], { cwd: root, stdio: ["pipe", "pipe", "inherit"] });
    lines = createInterface({ input: helper.stdout });
  }
  const { stdin } = helper;
  const from = lines;
  return new Promise((done, fail) => {
    from.once("line", done);
    from.once("close", () => fail(new Error("the S3 helper ended")));
    stdin.write("\n");
  });
}

/** Stops the S3 server of this process, if one was started. */
export async function stopS3(): Promise<void> {
  if (!helper) return;
  const ending = new Promise((done) => helper?.once("exit", done));
  helper.stdin.end();
  await ending;
  helper = undefined;
  lines = undefined;
}
