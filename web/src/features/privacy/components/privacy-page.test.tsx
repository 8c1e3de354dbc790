import { screen } from "@testing-library/react";
import { expect, it } from "vitest";
import { PrivacyPage } from "@/features/privacy/components/privacy-page";
import { renderApp, testBoot } from "@/test/render";

it("A-set-retention S2-privacy-3: says how long messages are kept, also beside the owner's own text", () => {
  const kept =
    "Uma mensagem é eliminada automaticamente 12 meses depois do último texto da conversa; se tratar de uma encomenda aceite ou em curso, só depois de esta terminar.";
  const own = { ...testBoot.site, privacy: { use: "Para responder." } };
  const first = renderApp(<PrivacyPage />);
  for (const stored of [/endereço IP/, /30 dias/, /avisos por e-mail/, /não usa cookies/])
    expect(screen.getByText(stored)).toBeVisible();
  expect(screen.queryByText(kept)).toBeNull();
  first.unmount();
  renderApp(<PrivacyPage />, { boot: { site: { ...own, messageMonths: 12 } } });
  expect(screen.getByText("Para responder.")).toBeVisible();
  expect(screen.getByText(kept)).toBeVisible();
});

it("S2-privacy-3: says how long backups keep deleted data, also beside the owner's own text; without backups it says nothing", () => {
  const backups = /permanece nas cópias de segurança.*durante 33 dias, no máximo/;
  const first = renderApp(<PrivacyPage />);
  expect(screen.queryByText(/permanece nas cópias/)).toBeNull();
  first.unmount();
  const site = { ...testBoot.site, privacy: { use: "Para responder." } };
  renderApp(<PrivacyPage />, { boot: { site, backupDays: 33 } });
  expect(screen.getByText(backups)).toBeVisible();
  expect(screen.getByText(/o que guarda as suas cópias de segurança/)).toBeVisible();
});

it("shows eight Portuguese sections, today's date in pt-PT and the date since which the text is in force", () => {
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
