import { screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { expect, it } from "vitest";
import { LanguageToggle } from "@/components/layout/language-toggle";
import { translator, useT } from "@/lib/i18n";
import { renderApp } from "@/test/render";

function Greeting() {
  return <p>{useT()("carousel.position", { n: 1, total: 3 })}</p>;
}

it("replaces placeholders and keeps unknown ones", () => {
  expect(translator("pt")("carousel.position", { n: 2 })).toBe("2 de {total}");
});

it("starts with the server's language, toggles it without storing it, and sets the language of the document", async () => {
  renderApp(
    <>
      <LanguageToggle />
      <Greeting />
    </>,
    { language: "en" },
  );
  expect(document.documentElement.lang).toBe("en");
  expect(screen.getByText("1 of 3")).toBeVisible();

  await userEvent.click(screen.getByRole("button", { name: /Mudar para português/ }));
  expect(screen.getByText("1 de 3")).toBeVisible();
  expect(document.documentElement.lang).toBe("pt");
  expect(localStorage).toHaveLength(0);

  await userEvent.click(screen.getByRole("button", { name: /Switch to English/ }));
  expect(document.documentElement.lang).toBe("en");
});
