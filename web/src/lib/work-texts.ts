import { addTexts } from "@/lib/texts";
import en from "@/locales/work/en.json";
import pt from "@/locales/work/pt.json";

// Importing this module adds the texts of a work's dialog and of its form. They are not in the
// bundle of the home page.
addTexts({ en, pt });
