import { screen } from "@testing-library/react";
import { expect, test } from "vitest";
import { CommissionNote, useEnquiryLabel } from "@/features/artworks/components/commission-note";
import type { CommissionState, Language } from "@/lib/boot";
import type { Product } from "@/lib/types";
import { aProduct } from "@/test/a-product";
import { renderApp, testBoot } from "@/test/render";

function Enquiry({ product }: { product: Product }) {
  return (
    <>
      <button>{useEnquiryLabel(product)}</button>
      <CommissionNote product={product} />
    </>
  );
}

function renderNote(
  state: CommissionState | undefined,
  customizable: boolean,
  language: Language = "en",
) {
  const none = { accepts: "", declines: "", prices: "", leadTime: "", steps: "", terms: "" };
  const texts = { en: { ...none, leadTime: "six weeks" }, pt: none };
  renderApp(<Enquiry product={aProduct({ is_customizable: customizable })} />, {
    language,
    boot: {
      site: { ...testBoot.site, commissions: state === undefined ? undefined : { state, texts } },
    },
  });
}

test.each([
  ["open", "Commissions are open. How long it takes: six weeks"],
  ["waitlist", "Commissions have a waiting list. How long it takes: six weeks"],
] as const)("S2-commission-2: %s: a customizable work offers a commission", (state, note) => {
  renderNote(state, true);
  expect(screen.getByRole("button", { name: "Commission something like this" })).toBeVisible();
  expect(screen.getByRole("paragraph")).toHaveTextContent(note);
});

test("S2-commission-2: while commissions are closed, the visitor can ask about the work and sees that they are closed", () => {
  renderNote("closed", true);
  expect(screen.getByRole("button", { name: "Ask about this work" })).toBeVisible();
  expect(screen.getByRole("paragraph").textContent).toBe("Commissions are closed at the moment.");
});

test.each([
  ["another work", "open", false],
  ["off", "", true],
  ["nothing set", undefined, true],
] as const)("S2-commission-2: %s: there is no note", (_, state, customizable) => {
  renderNote(state, customizable);
  expect(screen.getByRole("button", { name: "Ask about this work" })).toBeVisible();
  expect(screen.queryByRole("paragraph")).toBeNull();
});

test("S2-commission-2: the note is in Portuguese, and marks the language of the owner's text", () => {
  renderNote("open", true, "pt");
  expect(screen.getByRole("button", { name: "Encomendar algo assim" })).toBeVisible();
  expect(screen.getByText("six weeks")).toHaveAttribute("lang", "en");
});
