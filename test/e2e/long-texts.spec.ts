// The pages of the admin area, and a client's private page, are not wider than the window, even if the texts that people entered
// are as long as they may be and have no spaces.
import type { Page } from "@playwright/test";

import { asAnon, asService } from "../harness/clients.ts";
import { type Server } from "../harness/server.ts";
import { signInAt } from "./admin.ts";
import { owner, startWithLinks } from "./conversations.ts";
import { expect, expectNoSidewaysScroll, test } from "./fixtures.ts";
import { text } from "./texts.ts";

test.use({ contextOptions: { reducedMotion: "reduce" } });

const word = (length: number) => "Wolkenkuckucksheimgemälde".repeat(length / 20).slice(0, length);
const address = `${"i".repeat(60)}@${"exemplo".repeat(8)}.example`;
const messages = "/admin/contact-messages";

/** Stores rows of each kind, and a commission with an offer and a reply. Returns the message's id and its private link. */
async function storeLongTexts(server: Server): Promise<{ id: string; link: string }> {
  const service = asService(server);
  const insert = (table: string, row: object) => service.from(table).insert(row).throwOnError();
  await insert("products", {
    title: word(300),
    description: word(400),
    artwork_type: "mural",
    dimensions: word(100),
    medium: word(100),
    tags: [word(60)],
  });
  const person = { client_name: word(200), location: word(100) };
  await insert("reviews", { ...person, message: word(400), is_active: true });
  await insert("series", { title: word(200), slug: "series" });
  await insert("saved_replies", { title: word(200), text_en: word(400), text_pt: word(400) });
  // Each change is in the history.
  const change = (table: string, row: object, title: string, value: string) =>
    service.from(table).update(row).eq(title, value).throwOnError();
  await change("products", { description: word(380), tags: [] }, "title", word(300));
  await change("reviews", { message: word(380) }, "client_name", word(200));
  let link = "";
  for (const reason of ["commission", word(100)]) {
    const body = { name: word(100), email: address, message: word(400), follow: true, reason };
    const sent = await asAnon(server).functions.invoke("submit-contact", { body });
    expect(sent.error).toBeNull();
    link ||= (sent.data as { enquiry_url: string }).enquiry_url;
  }
  const stored = await service.from("contact_submissions").select("id").single<{ id: string }>();
  const { id } = stored.data!;
  const calls = {
    "contact-reply": { action: "reply" },
    commission: { action: "offer", price: word(200), deposit: word(200) },
  };
  for (const [name, fields] of Object.entries(calls)) {
    const body = { ...fields, message_id: id, text: word(400) };
    expect((await service.functions.invoke(name, { body })).error).toBeNull();
  }
  return { id, link };
}

async function expectNarrow(page: Page): Promise<void> {
  for (const width of [320, 390, 1440]) {
    await page.setViewportSize({ width, height: 800 });
    await expectNoSidewaysScroll(page);
  }
  await page.setViewportSize({ width: 390, height: 800 });
}

test("the longest words fit in the pages of the admin area and in a private page", async ({
  page,
}) => {
  const server = await startWithLinks();
  try {
    const { id, link } = await storeLongTexts(server);
    const shows = (part: string) => page.getByText(part).filter({ visible: true }).first();

    await page.goto(link);
    await expect(shows(word(200))).toBeVisible();
    await expectNarrow(page);

    const site = { ...server, owner };
    for (const [path, part] of [
      ["/admin/products", word(300)],
      ["/admin/series", word(200)],
      ["/admin/reviews", word(200)],
      [messages, word(100)],
      [`${messages}?message=${id}`, word(400)],
      [`${messages}?box=quarantine`, word(100)],
      [`${messages}?box=replies`, word(200)],
      ["/admin/account", word(200)],
    ] as const) {
      await signInAt(page, site, path);
      await expect(shows(part), path).toBeVisible();
      await expectNarrow(page);
    }

    await signInAt(page, site, `${messages}/board`);
    const stage = new RegExp(`^${text("en", "commission.stage.offer")}`);
    await page.getByRole("button", { name: stage, pressed: false }).click();
    await expect(shows(word(200))).toBeVisible();
    await expectNarrow(page);

    const dialog = page.getByRole("dialog");
    for (const [path, name] of [
      ["/admin/products", word(300)],
      ["/admin/reviews", word(200)],
    ] as const) {
      await signInAt(page, site, path);
      await page.getByRole("button", { name: text("en", "history.ofNamed", { name }) }).click();
      await dialog.getByRole("button", { expanded: false }).first().click();
      await expectNarrow(page);
    }

    await signInAt(page, site, `${messages}?box=data`);
    await page.getByLabel(text("en", "messages.data.email"), { exact: true }).fill(address);
    await page.keyboard.press("Enter");
    await expect(page.getByRole("status").getByText(address)).toBeVisible();
    await expectNarrow(page);
    await page.getByRole("button", { name: text("en", "messages.data.erase") }).click();
    await expect(page.getByRole("alertdialog")).toContainText(address);
    await expectNarrow(page);
  } finally {
    await page.close(); // an open page would send requests to the stopped server
    await server.stop();
  }
});
