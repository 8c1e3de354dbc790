import { addTexts } from "@/lib/texts";
import en from "@/locales/gallery/en.json";
import pt from "@/locales/gallery/pt.json";

// The texts of the gallery. Importing this module adds them; the home page itself does without.
addTexts({ en, pt });
