// The activity on the account page: who did what on the site.
import { asAnon, asService } from "../harness/clients.ts";
import { type Server, startServer } from "../harness/server.ts";
import { noonZone, signInAt } from "./admin.ts";
import { expect, expectAccessibleInBothSchemes, expectNoSidewaysScroll, test } from "./fixtures.ts";
import { languages, text } from "./texts.ts";

const owner = { email: "ana@alvor.example", password: "a wall of whitewash" };
let server: Server;

test.use({ timezoneId: noonZone });
test.beforeAll(async () => {
  server = await startServer("sqlite");
  await server.command(["owner", "add", owner.email, "--password-stdin"], `${owner.password}\n`);
});
test.afterAll(() => server.stop());

test("A-activity-can: the owner reads sign-ins, changes, exports and keys by keyboard, at 390 px, in both languages and colour schemes", async ({
  page,
}, testInfo) => {
  const reviews = asService(server).from("reviews");
  const rows = Array.from({ length: 45 }, (_, i) => ({
    client_name: `Rui ${i}`,
    message: "Gostei.",
  }));
  expect((await reviews.insert(rows)).error).toBeNull();
  const refused = await asAnon(server).auth.signInWithPassword({ ...owner, password: "wrong" });
  expect(refused.error?.code).toBe("invalid_credentials");
  const client = asAnon(server);
  expect((await client.auth.signInWithPassword(owner)).error).toBeNull();
  const works = client.from("products");
  expect((await works.insert({ title: "Onda", artwork_type: "mural" })).error).toBeNull();
  expect((await works.update({ title: "Maré" }).eq("title", "Onda")).error).toBeNull();
  const exported = await client.functions.invoke("contact-export", { body: { format: "json" } });
  expect(exported.error).toBeNull();
  await server.command(["export", "--to", testInfo.outputPath("site.zip")]);

  await page.setViewportSize({ width: 390, height: 844 });
  for (const language of languages) {
    const t = (key: Parameters<typeof text>[1], vars?: Record<string, string>) =>
      text(language, key, vars);
    await signInAt(page, { ...server, owner }, "/admin/account", language);
    const section = page.getByRole("region", { name: t("activity.title"), exact: true });
    await expect(section.getByText(t("activity.messagesExported"), { exact: true })).toBeVisible();
    await expect(section.getByText(t("activity.siteExported"), { exact: true })).toBeVisible();
    await expect(section.getByText(t("activity.refused"), { exact: true })).toBeVisible();
    await expectAccessibleInBothSchemes(page);
    await expectNoSidewaysScroll(page);

    const more = section.getByRole("button", { name: t("activity.more") });
    await more.focus();
    await page.keyboard.press("Enter");
    await expect(section.getByText(t("activity.end"))).toBeFocused();
    await expect(section.getByText(t("activity.roleGiven"))).toBeVisible();
    await expect(section.getByText(t("activity.passwordSet"))).toBeVisible();
    expect(await section.getByText(/Rui \d+/).count()).toBe(45);

    const kind = section.getByLabel(t("activity.show"));
    await kind.focus();
    await page.keyboard.press(language === "en" ? "C" : "A"); // selects Changes or Alterações
    await expect(kind).toHaveValue("change");
    await expect(section.getByText(t("activity.messagesExported"))).toHaveCount(0);
    await kind.selectOption("refused");
    await expect(
      section.getByText(t("activity.by.claimed", { account: owner.email })),
    ).toBeVisible();
    await expect(section.getByRole("listitem")).toHaveCount(1);
    await expectAccessibleInBothSchemes(page);
  }

  await page.getByLabel(text("pt", "activity.show"), { exact: true }).selectOption("change");
  const link = page.getByRole("link", {
    name: text("pt", "activity.workChanged", { name: "Maré" }),
  });
  await link.focus();
  await page.keyboard.press("Enter");
  await expect(page).toHaveURL(/\/admin\/products\?q=Mar/);
  const found = page.getByRole("button", { name: text("pt", "history.ofNamed", { name: "Maré" }) });
  await expect(found).toBeVisible();
});
