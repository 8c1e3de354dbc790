// Helpers of the tests about conversations and commissions: a server with private links, its owner, and a visitor's message.
import type { Page } from "@playwright/test";

import { asAnon, asService } from "../harness/clients.ts";
import type { MailServer } from "../harness/mail-server.ts";
import { type Server, startServer } from "../harness/server.ts";
import { expect } from "./fixtures.ts";
import { inLanguage, type Language, text } from "./texts.ts";

export const owner = { email: "ana@example.com", password: "a wall of whitewash" };
export const visitor = { name: "Inês Prado", email: "ines@example.com" };

/** Starts a server with an owner whose settings enable private links. `site` has more settings of the site. */
export async function startWithLinks(
  options: { demo?: string; mailServer?: MailServer | undefined; site?: object } = {},
): Promise<Server> {
  const { demo, mailServer, site } = options;
  const server = await startServer("sqlite", {
    ...(demo && { demo }),
    ...(mailServer && { env: mailServer.env }),
  });
  await server.command(["owner", "add", owner.email, "--password-stdin"], `${owner.password}\n`);
  await saveSite(server, { enquiryLinks: true, ...site });
  return server;
}

/** Saves settings of the site. */
export async function saveSite(server: Server, site: object): Promise<void> {
  const service = asService(server);
  const { data, error } = await service.rpc("get_site_settings");
  if (error) throw error;
  const { version } = data as { version: string };
  const saved = await service.rpc("save_site_settings", { version, settings: { site } });
  if (saved.error) throw saved.error;
}

/** Returns a work of the gallery that is customizable or not. */
export async function findWork(
  server: Server,
  customizable = true,
): Promise<{ id: string; title: string }> {
  const { data } = await asAnon(server)
    .from("products")
    .select("id, title")
    .eq("is_customizable", customizable)
    .in("artwork_type", ["digital", "mural", "watercolour"])
    .limit(1)
    .single<{ id: string; title: string }>()
    .throwOnError();
  return data;
}

/** Opens a work in the gallery and from there the form, which names the work. `label` is that of the work's button. */
export async function askAboutWork(
  page: Page,
  server: Server,
  language: Language,
  id: string,
  label: "gallery.ask" | "work.commission" = "gallery.ask",
): Promise<void> {
  await page.goto(server.url + inLanguage(language, `/gallery/all?art=${id}`));
  const name = text(language, label);
  await page.getByRole("button", { name }).or(page.getByRole("link", { name })).click();
  await expect(page.getByText(text(language, "enquiry.about"))).toBeVisible();
}

/** Fills in and sends the contact form that is shown. Returns the private link of the confirmation. */
export async function sendMessage(
  page: Page,
  language: Language,
  question: string,
  from = visitor,
): Promise<string> {
  await page.getByLabel(text(language, "contact.form.name")).fill(from.name);
  await page.getByLabel(text(language, "contact.form.email")).fill(from.email);
  const message = page.getByRole("textbox", { name: text(language, "contact.form.message") });
  await message.fill(`${await message.inputValue()}${question}`);
  await page.getByRole("button", { name: text(language, "contact.form.send") }).click();
  const link = page.getByRole("link", { name: /\/enquiry\// });
  await expect(link).toBeVisible();
  return (await link.getAttribute("href"))!;
}

/** Asks for a commission as the site's form does. Returns the private link and the id of the message. */
export async function askForCommission(
  server: Server,
  language: Language,
  message: string,
): Promise<{ link: string; id: string }> {
  const { data, error } = await asAnon(server).functions.invoke("submit-contact", {
    body: { ...visitor, message, reason: "commission", language, follow: true },
  });
  if (error) throw error;
  const stored = await asService(server)
    .from("contact_submissions")
    .select("id")
    .eq("message", message)
    .single<{ id: string }>()
    .throwOnError();
  return { link: (data as { enquiry_url: string }).enquiry_url, id: stored.data.id };
}

/** Moves a commission to a stage, as the owner does. */
export async function moveToStage(server: Server, id: string, stage: string): Promise<void> {
  const { error } = await asService(server).functions.invoke("commission", {
    body: { action: "stage", message_id: id, stage },
  });
  if (error) throw error;
}
