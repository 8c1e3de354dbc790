// Makes a folder in memory for the temporary files of tests. The tests create thousands of short-lived databases. On a disk they
// would spend most of their time waiting for writes.
import { execFileSync } from "node:child_process";
import {
  accessSync,
  chmodSync,
  mkdirSync,
  readdirSync,
  rmSync,
  statfsSync,
  writeFileSync,
} from "node:fs";
import { freemem } from "node:os";
import { join } from "node:path";

// The name of a folder ends in the id of the process that has made it.
const folderPattern = /^atelie-tests-(\d+)$/;

/**
 * Makes a folder for this process in `parent`, a file system in memory. It also removes the folders of processes that have ended.
 * `free` is the free memory in bytes. `minFree` is how many bytes of memory and of `parent` must be free (a whole run of the tests
 * used less than 2 GiB). With a `key` the folder has the same path each time. Files that a killed process with that key has left
 * there are removed.
 * @returns the path of the folder, or undefined if `parent` does not exist, if memory is short, or if programs cannot run there
 */
export function makeMemoryFolder({
  parent = "/dev/shm",
  free = freemem(),
  minFree = 4 * 2 ** 30,
  key,
} = {}) {
  try {
    accessSync(parent);
    for (const other of readdirSync(parent))
      if (folderPattern.test(other) && !isRunning(Number(folderPattern.exec(other)[1])))
        rmSync(join(parent, other), { recursive: true, force: true });
    const { bavail, bsize } = statfsSync(parent);
    if (Math.min(bavail * bsize, free) < minFree) return undefined;
    const folder = join(parent, `atelie-tests-${key ? `of-${key}` : process.pid}`);
    if (key) rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder);
    chmodSync(folder, 0o1777); // writable by all, like /tmp, because PostgreSQL runs as another user
    if (runsPrograms(folder)) return folder;
    rmSync(folder, { recursive: true });
  } catch {
    // Not available or not permitted, so the tests use the disk, which is slower.
  }
  return undefined;
}

// Containers often mount /dev/shm with noexec, and some tests start programs from their temporary folder.
function runsPrograms(folder) {
  const file = join(folder, "program");
  writeFileSync(file, "#!/bin/sh\n", { mode: 0o755 });
  try {
    execFileSync(file);
    return true;
  } catch {
    return false;
  } finally {
    rmSync(file);
  }
}

/** Whether a process with this id exists. */
function isRunning(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === "EPERM";
  }
}
