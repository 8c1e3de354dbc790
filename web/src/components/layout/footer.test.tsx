import { screen } from "@testing-library/react";
import { expect, it } from "vitest";
import { Footer } from "@/components/layout/footer";
import { renderApp, testBoot } from "@/test/render";

it("is Portuguese in both languages and links the profiles", () => {
  renderApp(<Footer />, { language: "en" });
  const footer = screen.getByRole("contentinfo");
  expect(footer).toHaveAttribute("lang", "pt");
  expect(footer).toHaveTextContent("© 2026 Alvor. Todos os direitos reservados.");
  expect(screen.getByRole("link", { name: "Política de Privacidade" })).toHaveAttribute(
    "href",
    "/politica-privacidade",
  );
  for (const name of ["Instagram", "Facebook", "WhatsApp"]) {
    expect(screen.getByRole("link", { name })).toHaveAttribute("rel", "noopener noreferrer");
  }
});

it("omits profiles that the owner has not set", () => {
  renderApp(<Footer />, {
    boot: { site: { ...testBoot.site, name: "Maré", instagram: "", whatsapp: "", facebook: "" } },
  });
  expect(screen.getAllByRole("link")).toHaveLength(1);
  expect(screen.getByRole("contentinfo")).toHaveTextContent("© 2026 Maré.");
});
