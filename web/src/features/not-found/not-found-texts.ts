import { addTexts } from "@/lib/texts";
import en from "@/locales/not-found/en.json";
import pt from "@/locales/not-found/pt.json";

// Importing this module adds the texts of the page for unknown URLs. They are not in the bundle of the home page.
addTexts({ en, pt });
