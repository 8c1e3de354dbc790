// Starts the built binary on a free port with a data folder of its own, as a user would, and stops it again.
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { cp, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { promisify } from "node:util";

import { freshPostgres } from "./postgres.ts";
import { root } from "./root.ts";
import { freshBucket } from "./s3.ts";

const binary = join(root, "bin/atelie");

export type Engine = "sqlite" | "postgres";
export const engines: Engine[] = ["sqlite", "postgres"];

export type Store = "disk" | "s3";

/** Every database with every place for files. Who uses S3 calls stopS3 at the end. */
export const backends: [Engine, Store][] = engines.flatMap((engine) => [
  [engine, "disk"],
  [engine, "s3"],
]);

export type Server = {
  url: string;
  pid: number;
  anonKey: string;
  serviceKey: string;
  setupLink: string | undefined; // present while the site has no owner
  owner: { email: string; password: string } | undefined; // present with the demo
  log: () => string;
  command: (args: string[], stdin?: string) => Promise<string>; // another atelie command on the same data
  stop: () => Promise<void>; // SIGTERM, checks the exit code, removes the data
};

/** Resolves when the server answers; rejects with its log when it does not start. */
export async function startServer(
  engine: Engine,
  options: { demo?: boolean; store?: Store; env?: Record<string, string> } = {},
): Promise<Server> {
  const dataDir = await mkdtemp(join(tmpdir(), "atelie-test-"));
  // The demo with its pictures made, where somebody has prepared one.
  const prepared = options.demo && engine === "sqlite" && options.store !== "s3";
  if (prepared && process.env.DEMO_FOLDER)
    await cp(process.env.DEMO_FOLDER, dataDir, { recursive: true });
  const env: NodeJS.ProcessEnv = {
    ...process.env,
    ATELIE_DATA_DIR: dataDir,
    ATELIE_LISTEN: "127.0.0.1:0",
    ATELIE_VIPS: "off", // the same pictures on every machine
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
  const told = await untilListening(child, () => log);

  const command = (args: string[], stdin = "") => runCommand(args, env, stdin);
  const keys = parseKeys(await command(["keys"]));
  return {
    url: told.url,
    pid: child.pid!,
    anonKey: keys.ANON_KEY ?? "",
    serviceKey: keys.SERVICE_ROLE_KEY ?? "",
    setupLink: told.setupLink,
    owner: told.owner,
    log: () => log,
    command,
    stop: async () => {
      const code = await end(child);
      await rm(dataDir, { recursive: true, force: true });
      if (code !== 0) throw new Error(`the server ended with ${code}:\n${log}`);
    },
  };
}

type Told = Pick<Server, "url" | "setupLink" | "owner">;

// The server says on standard output where it is; its first log line "listening" comes last.
function untilListening(child: ChildProcess, log: () => string): Promise<Told> {
  return new Promise((done, fail) => {
    const told: Told = { url: "", setupLink: undefined, owner: undefined };
    const timer = setTimeout(
      () => fail(new Error(`the server did not start in time:\n${log()}`)),
      30_000,
    );
    child.once("exit", (code) => fail(new Error(`the server ended with ${code}:\n${log()}`)));
    let email = "";
    createInterface({ input: child.stdout! }).on("line", (line) => {
      const url = /^Ateliê: (\S+)/.exec(line)?.[1];
      if (url) told.url = url;
      const link = /(\S+\/admin\/auth\?setup=\S+)/.exec(line)?.[1];
      if (link) told.setupLink = link;
      email = /^Demo owner:\s+(\S+)/.exec(line)?.[1] ?? email;
      const password = /^Password:\s+(\S+)/.exec(line)?.[1];
      if (password) told.owner = { email, password };
    });
    const poll = setInterval(() => {
      if (!log().includes('"msg":"listening"') || !told.url) return;
      clearInterval(poll);
      clearTimeout(timer);
      child.removeAllListeners("exit");
      done(told);
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
  // Without text no write at all: a command that reads nothing may have ended already.
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
