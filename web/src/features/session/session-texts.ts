import { addTexts } from "@/lib/texts";
import en from "@/locales/session/en.json";
import pt from "@/locales/session/pt.json";

// Importing this module adds the texts about signing in and out, and of the links for signed-in users, to those that useT can return.
// They are not in the bundle of the home page.
addTexts({ en, pt });
