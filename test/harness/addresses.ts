// Gets the URLs of new databases or buckets for tests from a Go program, which the first call starts. The program starts
// the database or file server, and answers each line of its input with one URL. If SHARED_SERVERS is set, an HTTP server at
// that URL answers instead, for several test processes.
import { type ChildProcessByStdio, spawn } from "node:child_process";
import { createInterface, type Interface } from "node:readline";
import type { Readable, Writable } from "node:stream";

import { helperCommand } from "./programs.ts";
import { root } from "./root.ts";

export type Addresses = {
  /** Returns a URL that no other call gets, such as that of a new database. */
  fresh: () => Promise<string>;
  /** Stops the program and its servers, if it was started. */
  stop: () => Promise<void>;
};

/** Gets URLs from a Go program in the folder test, such as "s3". */
export function addressesFrom(program: string): Addresses {
  if (process.env.SHARED_SERVERS) return addressesOf(process.env.SHARED_SERVERS, program);
  let running:
    { child: ChildProcessByStdio<Writable, Readable, null>; lines: Interface } | undefined;
  const start = () => {
    const [command, ...args] = helperCommand(program);
    const child = spawn(command, args, { cwd: root, stdio: ["pipe", "pipe", "inherit"] });
    return { child, lines: createInterface({ input: child.stdout }) };
  };
  return {
    fresh: () => {
      const { child, lines } = (running ??= start());
      return new Promise((done, fail) => {
        const ended = () => fail(new Error(`${program} ended`));
        lines.once("close", ended);
        lines.once("line", (line) => {
          lines.off("close", ended);
          done(line);
        });
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

/** Gets URLs from the HTTP server at `shared`. */
function addressesOf(shared: string, program: string): Addresses {
  return {
    fresh: async () => {
      const answer = await fetch(new URL(program, shared));
      const text = await answer.text();
      if (!answer.ok) throw new Error(text);
      return text;
    },
    stop: async () => {}, // the process behind SHARED_SERVERS stops its servers
  };
}
