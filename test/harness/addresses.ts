// Programs that give an address for each line they are asked: one process for all calls, started with the first.
import { type ChildProcessByStdio, spawn } from "node:child_process";
import { createInterface, type Interface } from "node:readline";
import type { Readable, Writable } from "node:stream";

import { root } from "./root.ts";

export type Addresses = {
  fresh: () => Promise<string>;
  /** Stops the program, if it was started, and what it serves. */
  stop: () => Promise<void>;
};

export function addressesFrom(program: string): Addresses {
  let running:
    { child: ChildProcessByStdio<Writable, Readable, null>; lines: Interface } | undefined;
  const start = () => {
    const child = spawn("go", ["run", program], { cwd: root, stdio: ["pipe", "pipe", "inherit"] });
    return { child, lines: createInterface({ input: child.stdout }) };
  };
  return {
    fresh: () => {
      const { child, lines } = (running ??= start());
      return new Promise((done, fail) => {
        lines.once("line", done);
        lines.once("close", () => fail(new Error(`${program} ended`)));
        child.stdin.write("\n");
      });
    },
    stop: async () => {
      if (!running) return;
      const { child } = running;
      const ending = new Promise((done) => child.once("exit", done));
      child.stdin.end();
      await ending;
      running = undefined;
    },
  };
}
