import { addTexts } from "@/lib/texts";
import en from "@/locales/session/en.json";
import pt from "@/locales/session/pt.json";

// Importing this module adds the texts about signing in and out, and the texts of links for signed-in users. They are not in the
// bundle of the home page.
addTexts({ en, pt });
