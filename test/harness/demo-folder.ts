// Makes a data folder with the demo content and all renditions. That takes a minute of CPU time, so the folder is cached in the
// user's cache folder, for all clones, until its inputs change. Each server starts with a copy of it.
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, statSync } from "node:fs";
import { mkdir, readdir, readFile, rename, rm, utimes, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { promisify } from "node:util";

import { root } from "./root.ts";

const cache = join(process.env.XDG_CACHE_HOME || join(homedir(), ".cache"), "atelie/test-demo");
const maxUnusedDays = 14; // how long an unused folder is kept
// The inputs of the folder: the content, the code that inspects and renders pictures, and the migrations.
const inputs = [
  "internal/demo",
  "internal/media",
  "internal/db/migrations",
  "internal/settings/seed.json",
];

/** Returns the path of the folder, which the first call makes. Several processes may call this at the same time. */
export async function makeDemoFolder(): Promise<string> {
  const key = await keyOf(inputs);
  const folder = join(cache, key);
  await mkdir(cache, { recursive: true });
  while (!existsSync(folder)) {
    if (await takeLock(`${folder}.lock`)) {
      try {
        if (!existsSync(folder)) await buildFolder(folder);
      } finally {
        await rm(`${folder}.lock`);
      }
    } else await delay(100);
  }
  await utimes(folder, new Date(), new Date());
  return folder;
}

/** Makes the folder, and removes old ones from the cache. */
async function buildFolder(folder: string): Promise<void> {
  for (const old of await readdir(cache)) {
    const stats = statSync(join(cache, old), { throwIfNoEntry: false });
    if (stats && Date.now() - stats.mtimeMs > maxUnusedDays * 86_400_000)
      await rm(join(cache, old), { recursive: true, force: true });
  }
  const unfinished = `${folder}.half`;
  await rm(unfinished, { recursive: true, force: true }); // left by a process that was killed
  const env = { ...process.env, ATELIE_DATA_DIR: unfinished, ATELIE_VIPS: "off" };
  for (const args of [["demo"], ["media", "rebuild"]])
    await promisify(execFile)(join(root, "bin/atelie"), args, { env });
  await rename(unfinished, folder);
}

/**
 * Takes a lock and returns true, or false while another process holds it. It removes the lock of a process that has ended, so
 * that the next call can take it.
 */
async function takeLock(path: string): Promise<boolean> {
  try {
    await writeFile(path, String(process.pid), { flag: "wx" });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
  const holder = Number(await readFile(path, "utf8").catch(() => ""));
  if (holder && !isRunning(holder)) await rm(path, { force: true });
  return false;
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

/** Returns a hash of files and folders, without tests. */
async function keyOf(paths: string[]): Promise<string> {
  const hash = createHash("sha256");
  const add = async (path: string): Promise<void> =>
    hash.update(path).update(await readFile(join(root, path))) && undefined;
  for (const path of paths) {
    if (path.endsWith(".json")) {
      await add(path);
      continue;
    }
    const files = await readdir(join(root, path), { recursive: true, withFileTypes: true });
    const names = files
      .filter(
        (file) =>
          file.isFile() &&
          !/_test\.go$|\.md$/.test(file.name) &&
          !file.parentPath.includes("testdata"),
      )
      .map((file) => join(file.parentPath, file.name).slice(root.length))
      .sort();
    for (const name of names) await add(name);
  }
  return hash.digest("hex").slice(0, 16);
}
