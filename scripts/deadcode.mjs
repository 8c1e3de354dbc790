// Fails if the program or the tools contain functions that nothing calls; functions that only tests call count too. The analysis
// takes 50 s of CPU time, so sources without dead code are remembered in the user's cache folder, for all clones.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { goSources } from "./go-tests.mjs";

const modules = ["go.mod", "go.sum", "tools/go.mod", "tools/go.sum"];

/**
 * Returns the key of these sources in the cache.
 * @param {Map<string, string>} sources path → text
 * @param {string} go the version of Go and its target system
 */
export function keyOf(sources, go) {
  const hash = createHash("sha256").update(JSON.stringify(go));
  for (const entry of [...sources].sort(([a], [b]) => (a < b ? -1 : 1)))
    hash.update(JSON.stringify(entry));
  return hash.digest("hex");
}

/** All Go sources, also of tools, which is a module of its own, and the versions of their dependencies. */
function allSources() {
  const sources = goSources();
  const tools = readdirSync("tools", { recursive: true }).filter((name) => name.endsWith(".go"));
  for (const path of ["web/embed.go", ...modules, ...tools.map((name) => join("tools", name))])
    sources.set(path, readFileSync(path, "utf8"));
  return sources;
}

/** Runs deadcode, which succeeds also if it finds something, and returns its output. */
const findings = (folder, args) =>
  execFileSync("go", ["tool", ...args], { cwd: folder, encoding: "utf8" }).trim();

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  process.chdir(fileURLToPath(new URL("..", import.meta.url)));
  const go = execFileSync("go", ["env", "GOVERSION", "GOOS", "GOARCH"], { encoding: "utf8" });
  const folder = join(process.env.XDG_CACHE_HOME || join(homedir(), ".cache"), "atelie/deadcode");
  const clean = join(folder, keyOf(allSources(), go));
  if (!existsSync(clean)) {
    const dead = [
      findings(".", ["-modfile=tools/go.mod", "deadcode", "-tags", "nodynamic", "./cmd/..."]),
      findings("tools", ["deadcode", "./..."]),
    ].filter(Boolean);
    if (dead.length) {
      console.log(dead.join("\n"));
      process.exit(1);
    }
    mkdirSync(folder, { recursive: true });
    writeFileSync(clean, "");
  }
}
