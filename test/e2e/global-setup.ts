// The demo's pictures take a minute or two of a processor: they are made once, and each server starts from a copy.
import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

import { root } from "../harness/root.ts";

export default async function prepareDemo(): Promise<() => Promise<void>> {
  const folder = await mkdtemp(join(tmpdir(), "atelie-demo-"));
  const env = { ...process.env, ATELIE_DATA_DIR: folder, ATELIE_VIPS: "off" };
  for (const args of [["demo"], ["media", "rebuild"]])
    await promisify(execFile)(join(root, "bin/atelie"), args, { env });
  process.env.DEMO_FOLDER = folder; // for the workers, which startServer reads it in
  return () => rm(folder, { recursive: true, force: true });
}
