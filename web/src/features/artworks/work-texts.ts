import { addTexts } from "@/lib/texts";
import en from "@/locales/work/en.json";
import pt from "@/locales/work/pt.json";

// Adds the texts of an opened work, which load with its dialog. Components that use them import this file.
addTexts({ en, pt });
