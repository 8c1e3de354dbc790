// The Go programs in the folder test that the tests in Node start, such as the mail server.
import { join } from "node:path";

/**
 * Returns the command that starts a program, with root as the working directory. If scripts/test.mjs has built the programs
 * (TEST_PROGRAMS), the command starts the built one; else it is `go run`, which takes a second of CPU time to examine the sources.
 */
export function helperCommand(name: string): [program: string, ...args: string[]] {
  const built = process.env.TEST_PROGRAMS;
  return built ? [join(built, name)] : ["go", "run", `./test/${name}`];
}
