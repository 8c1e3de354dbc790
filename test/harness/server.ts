// Starts the built program on a free port with a new data folder.
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { cp, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";

import { freshPostgres } from "./postgres.ts";
import { helperCommand } from "./programs.ts";
import { root } from "./root.ts";
import { freshBucket } from "./s3.ts";

const binary = join(root, "bin/atelie");

export type Engine = "sqlite" | "postgres";
export const engines: Engine[] = ["sqlite", "postgres"];

export type Store = "disk" | "s3";

/**
 * Each database and each file store once: the storage service's Go tests run on all four combinations. Tests with S3 must call
 * stopS3 at the end.
 */
export const backends: [Engine, Store][] = [
  ["sqlite", "disk"],
  ["postgres", "s3"],
];

export type Server = {
  url: string;
  pid: number;
  anonKey: string;
  serviceKey: string;
  setupLink: string | undefined; // set if the site has no owner
  owner: { email: string; password: string } | undefined; // set with the demo content
  log: () => string; // what the server has logged so far
  command: (args: string[], stdin?: string) => Promise<string>; // runs another atelie command with the same data
  sql: (statement: string) => Promise<void>; // changes rows directly, for example as if time had passed
  stop: () => Promise<void>; // stops the server, checks its exit code and removes the data
};

/**
 * Starts a server. The promise resolves when the server listens, and rejects with its log if it does not start. `demo` is true
 * to load the demo content, or the path of a data folder to copy, such as that of makeDemoFolder.
 */
export async function startServer(
  engine: Engine,
  options: { demo?: boolean | string; store?: Store; env?: Record<string, string> } = {},
): Promise<Server> {
  const dataDir = await mkdtemp(join(tmpdir(), "atelie-test-"));
  if (typeof options.demo === "string") await cp(options.demo, dataDir, { recursive: true });
  const env: NodeJS.ProcessEnv = {
    ...process.env,
    ATELIE_DATA_DIR: dataDir,
    ATELIE_LISTEN: "127.0.0.1:0",
    ATELIE_VIPS: "off", // so that every machine makes the same pictures
    ...options.env,
  };
  if (engine === "postgres") env.ATELIE_DATABASE_URL ??= await freshPostgres();
  if (options.store === "s3") env.ATELIE_STORAGE_URL = await freshBucket();
  const child = spawn(binary, ["serve", ...(options.demo ? ["--demo"] : [])], {
    env,
    stdio: ["ignore", "pipe", "pipe"],
  });
  let log = "";
  child.stderr.on("data", (chunk: Buffer) => (log += chunk.toString()));
  const announced = await untilListening(child, () => log);

  const command = (args: string[], stdin = "") => runCommand(args, env, stdin);
  const keys = parseKeys(await command(["keys"]));
  return {
    url: announced.url,
    pid: child.pid!,
    anonKey: keys.ANON_KEY ?? "",
    serviceKey: keys.SERVICE_ROLE_KEY ?? "",
    setupLink: announced.setupLink,
    owner: announced.owner,
    log: () => log,
    command,
    sql: async (statement) => {
      const address = env.ATELIE_DATABASE_URL ?? `sqlite:${join(dataDir, "atelie.db")}`;
      const [program, ...args] = helperCommand("sql");
      await promisify(execFile)(program, [...args, address, statement], { cwd: root });
    },
    stop: async () => {
      const code = await end(child);
      await rm(dataDir, { recursive: true, force: true });
      if (code !== 0) throw new Error(`the server ended with ${code}:\n${log}`);
    },
  };
}

/** What the server prints at its start. */
type Announced = Pick<Server, "url" | "setupLink" | "owner">;

// Waits until the server has printed its URL on standard output and logged "listening".
function untilListening(child: ChildProcess, log: () => string): Promise<Announced> {
  return new Promise((done, fail) => {
    const announced: Announced = { url: "", setupLink: undefined, owner: undefined };
    const timer = setTimeout(
      () => fail(new Error(`the server did not start in time:\n${log()}`)),
      180_000, // only ends a hang
    );
    child.once("error", fail); // for example a missing program, which `make build` makes
    child.once("exit", (code) => fail(new Error(`the server ended with ${code}:\n${log()}`)));
    let email = "";
    createInterface({ input: child.stdout! }).on("line", (line) => {
      const url = /^Ateliê: (\S+)/.exec(line)?.[1];
      if (url) announced.url = url;
      const link = /(\S+\/admin\/auth\?setup=\S+)/.exec(line)?.[1];
      if (link) announced.setupLink = link;
      email = /^Demo owner:\s+(\S+)/.exec(line)?.[1] ?? email;
      const password = /^Password:\s+(\S+)/.exec(line)?.[1];
      if (password) announced.owner = { email, password };
    });
    const poll = setInterval(() => {
      if (!log().includes('"msg":"listening"') || !announced.url) return;
      clearInterval(poll);
      clearTimeout(timer);
      child.removeAllListeners("exit");
      done(announced);
    }, 10);
    child.once("exit", () => clearInterval(poll));
  });
}

function end(child: ChildProcess): Promise<number> {
  return new Promise((done) => {
    if (child.exitCode !== null) return done(child.exitCode);
    child.once("exit", (code) => done(code ?? 1));
    child.kill("SIGTERM");
  });
}

async function runCommand(args: string[], env: NodeJS.ProcessEnv, stdin: string): Promise<string> {
  const running = promisify(execFile)(binary, args, { env });
  // Write only if there is text: writing to a command that has already ended would fail.
  running.child.stdin?.end(stdin || undefined);
  return (await running).stdout;
}

function parseKeys(dotenv: string): Record<string, string> {
  return Object.fromEntries(
    dotenv
      .split("\n")
      .filter(Boolean)
      .map((line) => [line.slice(0, line.indexOf("=")), line.slice(line.indexOf("=") + 1)]),
  );
}
