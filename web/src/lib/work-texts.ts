import { addTexts } from "@/lib/texts";
import en from "@/locales/work/en.json";
import pt from "@/locales/work/pt.json";

// The texts of a work's dialog and of its form. Importing this module adds them; the home page itself does without.
addTexts({ en, pt });
