// Prints the path of a data folder with the demo content and all its renditions, which it makes unless that is cached.
import { makeDemoFolder } from "../test/harness/demo-folder.ts";

console.log(await makeDemoFolder());
