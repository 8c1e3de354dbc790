import { addTexts } from "@/lib/texts";
import en from "@/locales/session/en.json";
import pt from "@/locales/session/pt.json";

// The texts about signing in and out, and of the links of who is signed in. Importing this module adds them; the home page of visitors does
// without.
addTexts({ en, pt });
