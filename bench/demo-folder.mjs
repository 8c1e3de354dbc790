// Prints the path of a data folder with the demo content and all its renditions (pictures in other sizes). Makes the folder unless it is
// cached. bench/front_page.go runs this script.
import { makeDemoFolder } from "../test/harness/demo-folder.ts";

console.log(await makeDemoFolder());
