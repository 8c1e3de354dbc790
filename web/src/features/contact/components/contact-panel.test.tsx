import { screen, within } from "@testing-library/react";
import { expect, test } from "vitest";
import { ContactPanel } from "@/features/contact/components/contact-panel";
// Imported here, so that no test waits while it is compiled.
import "@/features/contact/components/commissions";
import type { CommissionSettings, Language } from "@/lib/boot";
import { renderApp, testBoot } from "@/test/render";

const none = { accepts: "", declines: "", prices: "", leadTime: "", steps: "", terms: "" };
const written: CommissionSettings["texts"] = {
  en: { ...none, accepts: "Murals\nand portraits", prices: "from 300 €", steps: "Talk\n\nSketch" },
  pt: { ...none, prices: "desde 300 €", terms: "Metade no início." },
};

function show(commissions: CommissionSettings | undefined, language: Language = "en") {
  renderApp(<ContactPanel enquiry={null} />, {
    language,
    boot: { site: { ...testBoot.site, commissions } },
  });
}

const region = (name: string) => screen.findByRole("region", { name });

test("S2-commission-1: visitors read the state and the texts that are written", async () => {
  show({ state: "open", texts: written });
  const section = await region("Commissions are open");
  expect(within(section).getByText("from 300 €")).toBeVisible();
  expect(within(section).getByText(/^Murals/).textContent).toBe("Murals\nand portraits");
  expect(
    within(section)
      .getAllByRole("listitem")
      .map((item) => item.textContent),
  ).toEqual(["Talk", "Sketch"]);
  expect(within(section).queryByText("What I do not take")).toBeNull();
  expect(screen.getByRole("button", { name: "Send message" })).toBeVisible();
});

test("S2-commission-1: a text that is missing in Portuguese is the English one, with its language", async () => {
  show({ state: "waitlist", texts: written }, "pt");
  const section = await region("As encomendas têm lista de espera");
  expect(within(section).getByText("desde 300 €")).not.toHaveAttribute("lang");
  expect(within(section).getByText(/^Murals/)).toHaveAttribute("lang", "en");
  expect(within(section).getByText("Condições")).toBeVisible();
});

test("S2-commission-1: a closed state is shown even if no text is written", async () => {
  show({ state: "closed", texts: { en: none, pt: none } });
  const section = await region("Commissions are closed");
  expect(section).toHaveTextContent("I take no new commissions at the moment.");
  expect(within(section).queryByRole("definition")).toBeNull();
});

test.each([
  [2, "en", "Commissions are open", "2 places free. Tell me"] as const,
  [1, "pt", "Aceito encomendas", "1 lugar livre. "] as const,
  [undefined, "en", "Commissions are open", /^Commissions are openTell me/] as const,
])("S2-commission-3: %s free places", async (free, language, name, text) => {
  show({ state: "open", texts: { en: none, pt: none }, free }, language);
  expect(await region(name)).toHaveTextContent(text);
});

test.each([
  ["nothing is set", undefined] as const,
  ["off", { state: "" as const, texts: written }] as const,
])("S2-commission-1: %s: visitors are told nothing", async (_, commissions) => {
  show(commissions);
  expect(await screen.findByRole("button", { name: "Send message" })).toBeVisible();
  expect(screen.queryByRole("region")).toBeNull();
});
