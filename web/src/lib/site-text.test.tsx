import { screen } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { expect, it } from "vitest";
import { SITE_TEXT_KEYS } from "@/lib/boot";
import { useLanguage } from "@/lib/i18n";
import { useSiteText } from "@/lib/site-text";
import { renderApp, testBoot } from "@/test/render";

const [seed] = Object.values(
  import.meta.glob<{ texts: Record<string, Record<string, string>> }>(
    "../../../internal/settings/seed.json",
    { eager: true, import: "default" },
  ),
);

it.each(["en", "pt"])("the server's seed has exactly the texts of the pages: %s", (language) => {
  expect(Object.keys(seed!.texts[language]!)).toEqual([...SITE_TEXT_KEYS]);
});

function Line() {
  const { toggle } = useLanguage();
  return <button onClick={toggle}>{useSiteText("contact.responseTime").text}</button>;
}

it("returns the text of the settings in the language of the page", async () => {
  const texts = {
    en: { ...testBoot.site.texts.en, "contact.responseTime": "Within two days" },
    pt: { ...testBoot.site.texts.pt, "contact.responseTime": "Em dois dias" },
  };
  renderApp(<Line />, { boot: { site: { ...testBoot.site, texts } } });
  expect(screen.getByText("Within two days")).toBeVisible();
  await userEvent.click(screen.getByRole("button"));
  expect(screen.getByText("Em dois dias")).toBeVisible();
});

function Heading() {
  const { text, lang } = useSiteText("about.title");
  return <h2 lang={lang}>{text}</h2>;
}

it("returns a missing text in the other language, with its code", () => {
  const texts = {
    en: { ...testBoot.site.texts.en, "about.title": "" },
    pt: { ...testBoot.site.texts.pt, "about.title": "Pinto paredes" },
  };
  renderApp(<Heading />, { boot: { site: { ...testBoot.site, texts } } });
  expect(screen.getByText("Pinto paredes")).toHaveAttribute("lang", "pt");
});

it("A-set-none: is empty if both are empty, and has no code in the language of the page", () => {
  const texts = {
    en: { ...testBoot.site.texts.en, "about.title": "" },
    pt: { ...testBoot.site.texts.pt, "about.title": "" },
  };
  const { unmount } = renderApp(<Heading />, { boot: { site: { ...testBoot.site, texts } } });
  expect(screen.getByRole("heading")).toBeEmptyDOMElement();
  unmount();
  renderApp(<Heading />);
  expect(screen.getByText(testBoot.site.texts.en["about.title"])).not.toHaveAttribute("lang");
});
