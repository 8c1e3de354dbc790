import { screen } from "@testing-library/react";
import { expect, it } from "vitest";
import { PrivacyPage } from "@/features/privacy/components/privacy-page";
import { renderApp, testBoot } from "@/test/render";

it("shows eight Portuguese sections, today's date in pt-PT and since when the text is in force", () => {
  renderApp(<PrivacyPage />, {
    language: "en",
    boot: { today: "2027-02-03", site: { ...testBoot.site, privacySince: "2027-01-09" } },
  });
  expect(screen.getByRole("article")).toHaveAttribute("lang", "pt");
  expect(screen.getByText("Última atualização: 03/02/2027")).toBeVisible();
  expect(screen.getByText("Texto em vigor desde 09/01/2027")).toBeVisible();
  expect(screen.getAllByRole("heading", { level: 2 }).map((h) => h.textContent)).toEqual([
    "Informação recolhida",
    "Utilização",
    "Partilha",
    "Segurança",
    "Cookies",
    "Direitos",
    "Contacto",
    "Alterações",
  ]);
  expect(document.title).toBe("Política de Privacidade · Alvor");
});
