// Remembers in the user's cache folder which checks have passed, for all clones of the repository. scripts/test.mjs uses it for checks
// whose result depends only on the repository's files and on the installed tools, such as linters. Tests are never remembered.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";

const maxUnusedDays = 14; // how long an unused entry is kept

/**
 * Returns the key (a hash) of the repository's current files, also of changed and new ones, but not of ignored ones. The lockfiles
 * are among these files, and stand for what is installed.
 */
export function keyOfFiles() {
  const list = execFileSync(
    "git",
    ["ls-files", "-z", "--cached", "--others", "--exclude-standard"],
    { encoding: "utf8", maxBuffer: 64 << 20 },
  );
  const files = [...new Set(list.split("\0"))].filter((path) => path && existsSync(path)).sort();
  return keyOf(files.map((path) => [path, readFileSync(path)]));
}

/** Returns the key (a hash) of a list of pairs, each of a name and a content. */
export function keyOf(entries) {
  const hash = createHash("sha256");
  for (const [name, content] of entries) {
    hash.update(JSON.stringify([name, content.length]));
    hash.update(content);
  }
  return hash.digest("hex");
}

/** The cache of checks that have passed. */
export class CheckCache {
  /** @param {string} folder where the entries are; the default is in the user's cache folder */
  constructor(
    folder = join(process.env.XDG_CACHE_HOME || join(homedir(), ".cache"), "atelie/checks"),
  ) {
    this.folder = folder;
  }

  has(key) {
    const entry = join(this.folder, key);
    if (!existsSync(entry)) return false;
    utimesSync(entry, new Date(), new Date());
    return true;
  }

  /** Adds an entry, and removes those that were not used for a while. */
  add(key) {
    mkdirSync(this.folder, { recursive: true });
    for (const name of readdirSync(this.folder)) {
      const stats = statSync(join(this.folder, name), { throwIfNoEntry: false });
      if (stats && Date.now() - stats.mtimeMs > maxUnusedDays * 86_400_000)
        rmSync(join(this.folder, name), { force: true });
    }
    writeFileSync(join(this.folder, key), "");
  }
}
