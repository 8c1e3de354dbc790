// Prints the path of a data folder with the demo content and all its renditions. Makes the folder unless it is cached.
import { makeDemoFolder } from "../test/harness/demo-folder.ts";

console.log(await makeDemoFolder());
