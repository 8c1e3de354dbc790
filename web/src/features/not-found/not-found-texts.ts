import { addTexts } from "@/lib/texts";
import en from "@/locales/not-found/en.json";
import pt from "@/locales/not-found/pt.json";

// The texts of the page of unknown paths. Importing this module adds them; the home page itself does without.
addTexts({ en, pt });
