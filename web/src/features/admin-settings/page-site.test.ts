import { expect, it } from "vitest";
import { pageSite } from "@/features/admin-settings/page-site";
import { testBoot } from "@/test/render";

const measured = { answers: 20, en: "Within 9 hours", pt: "No prazo de 9 horas" };
const chosen = { ...testBoot.site, responseTime: "measured" as const };

it("A-set-response: the preview shows the measured time", () => {
  const { texts } = pageSite(chosen, measured);
  expect(texts.en["contact.responseTime"]).toBe(measured.en);
  expect(texts.pt["contact.responseTime"]).toBe(measured.pt);
  expect(texts.en["about.title"]).toBe(chosen.texts.en["about.title"]);
});

it("A-set-response: the preview shows the owner's text if it is chosen, or if there are too few answers", () => {
  expect(pageSite(testBoot.site, measured)).toBe(testBoot.site);
  expect(pageSite(chosen, { answers: 9, en: "", pt: "" })).toBe(chosen);
  expect(pageSite(chosen, undefined)).toBe(chosen);
});
