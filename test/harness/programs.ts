// The Go programs in the folder test that the tests in Node start, such as the mail server.
import { join } from "node:path";

/**
 * Returns the command that starts a program, for root as the working directory: the one that scripts/test.mjs has built, or
 * `go run`, which examines all sources first and takes a second of CPU time.
 */
export function helperCommand(name: string): [program: string, ...args: string[]] {
  const built = process.env.TEST_PROGRAMS;
  return built ? [join(built, name)] : ["go", "run", `./test/${name}`];
}
