import { addTexts } from "@/lib/texts";
import en from "@/locales/gallery/en.json";
import pt from "@/locales/gallery/pt.json";

// Importing this module adds the texts of the gallery. They are not in the bundle of the home page.
addTexts({ en, pt });
