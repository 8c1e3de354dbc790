// The commissions as a board by stage, and the calendar of promised dates, in both languages.
import type { Page } from "@playwright/test";

import { asAnon, asService } from "../harness/clients.ts";
import { type Server, startServer } from "../harness/server.ts";
import { signInAt } from "./admin.ts";
import {
  checkPage,
  expect,
  expectAccessibleInBothSchemes,
  expectNoSidewaysScroll,
  test,
} from "./fixtures.ts";
import { languages, repetition, text } from "./texts.ts";

type Stage = "enquiry" | "offer" | "accepted" | "in_progress" | "finished" | "declined";

const BOARD = "/admin/contact-messages/board";

test.use({
  contextOptions: { reducedMotion: "reduce" },
  allowedConsole: [/status of 409 .*\/functions\/v1\/commission/], // refused moves
});

let server: Server;
test.beforeAll(async ({ demoFolder }) => {
  server = await startServer("sqlite", { demo: demoFolder });
});
test.afterAll(() => server.stop());
test.beforeEach(async () => {
  await asService(server).from("contact_submissions").delete().neq("name", "").throwOnError();
});

/** Sends a message that asks for a commission, about a work if there is an id, and puts it into a stage. Returns its id. */
async function add(
  name: string,
  stage: Stage | "" = "",
  more: { artwork_id?: string; promised_on?: string } = {},
): Promise<string> {
  const id = crypto.randomUUID();
  const service = asService(server);
  await service
    .from("contact_submissions")
    .insert({
      id,
      name,
      email: "ines@example.com",
      message: "Um retrato da nossa casa.",
      reason: "commission",
      status: "read",
      artwork_id: more.artwork_id,
    })
    .throwOnError();
  if (stage)
    await service
      .from("commissions")
      .insert({ message_id: id, stage, promised_on: more.promised_on })
      .throwOnError();
  return id;
}

/** The stage of a message in the database; null for none. */
async function stageOf(id: string): Promise<string | null> {
  const { data } = await asService(server)
    .from("commissions")
    .select("stage")
    .eq("message_id", id)
    .maybeSingle()
    .throwOnError();
  return data?.stage ?? null;
}

const column = (page: Page, stage: Stage, language: "en" | "pt" = "en") =>
  page.getByRole("region", { name: new RegExp(`^${text(language, `commission.stage.${stage}`)}`) });
const card = (page: Page, name: string) =>
  page.getByRole("button", { name: new RegExp(`^${name}`) });
const heading = (page: Page, stage: Stage) => column(page, stage).getByRole("heading");

/** Drags a card to a stage with the mouse, and calls `act` before it is put down. */
async function dragTo(page: Page, name: string, to: Stage, act = async () => {}): Promise<void> {
  const from = (await card(page, name).boundingBox())!;
  const target = (await heading(page, to).boundingBox())!;
  await page.mouse.move(from.x + 30, from.y + 20);
  await page.mouse.down();
  await page.mouse.move(from.x + 45, from.y + 30, { steps: 3 });
  await page.mouse.move(target.x + target.width / 2, target.y + 60, { steps: 8 });
  await expect(column(page, to)).toHaveAttribute("data-over", "true");
  await act();
  await page.mouse.up();
}

test("BOARD-mouse BOARD-refused: a card is dragged with the mouse to where the server takes it", async ({
  page,
}) => {
  const [ines, rui] = [
    await add("Inês"),
    await add("Rui", "accepted", { promised_on: "2199-05-04" }),
  ];
  await page.setViewportSize({ width: 1440, height: 900 });
  await signInAt(page, server, BOARD);
  await expect(heading(page, "enquiry")).toContainText("1");

  await dragTo(page, "Rui", "in_progress", async () => {
    await expect(column(page, "in_progress")).toHaveAttribute("data-drop", "open");
    await expect(column(page, "finished")).toHaveAttribute("data-drop", "closed");
    await expect(column(page, "accepted")).toHaveAttribute("data-drop", "source");
  });
  await expect(column(page, "in_progress").locator("[data-card]")).toHaveCount(1);
  await expect(card(page, "Rui")).toContainText("4 May 2199");
  await expect(card(page, "Rui")).toBeFocused();
  await expect.poll(() => stageOf(rui)).toBe("in_progress");

  // A move to a stage that may not follow is rejected with its reason.
  await dragTo(page, "Rui", "enquiry");
  await expect(
    page.getByText("Rui cannot go from “In progress” to “Enquiry”.").first(),
  ).toBeVisible();
  await expect(column(page, "in_progress").locator("[data-card]")).toHaveCount(1);
  expect(await stageOf(rui)).toBe("in_progress");

  // An offer needs its form. Until it is sent, the card stays.
  await dragTo(page, "Inês", "offer");
  const form = page.getByRole("dialog", { name: "Offer to Inês" });
  await expect(form).toBeVisible();
  await page.keyboard.press("Escape");
  await expect(form).toBeHidden();
  expect(await stageOf(ines)).toBeNull();
  await expect(column(page, "enquiry").locator("[data-card]")).toHaveCount(1);
  await dragTo(page, "Inês", "offer");
  await form.getByRole("button", { name: "Move without an offer" }).click();
  await expect(column(page, "offer").locator("[data-card]")).toHaveCount(1);
  await expect.poll(() => stageOf(ines)).toBe("offer");
});

test("BOARD-refused BOARD-live: a move that the server rejects is undone; changes elsewhere appear by themselves", async ({
  page,
}) => {
  const id = await add("Inês", "accepted");
  await page.setViewportSize({ width: 1440, height: 900 });
  await signInAt(page, server, BOARD);
  await expect(heading(page, "accepted")).toContainText("1");
  // Another owner moves it while it is dragged.
  await dragTo(page, "Inês", "in_progress", async () => {
    const { error } = await asService(server).functions.invoke("commission", {
      body: { action: "stage", message_id: id, stage: "declined" },
    });
    expect(error).toBeNull();
  });
  await expect(page.getByText(/^Inês was moved meanwhile/).first()).toBeVisible();
  await expect(column(page, "declined").locator("[data-card]")).toHaveCount(1);
  await expect(column(page, "in_progress").locator("[data-card]")).toHaveCount(0);
  // A new message is on the board without a reload.
  const { error } = await asAnon(server).functions.invoke("submit-contact", {
    body: {
      name: "Marta",
      email: "m@example.com",
      message: "Um mural, por favor.",
      reason: "commission",
    },
  });
  expect(error).toBeNull();
  await expect(card(page, "Marta")).toContainText("New");
});

test("BOARD-keys: a card is moved with the keyboard alone", async ({ page }) => {
  const id = await add("Inês", "accepted");
  await add("Rui", "finished");
  await page.setViewportSize({ width: 1440, height: 900 });
  await signInAt(page, server, BOARD);
  await card(page, "Inês").focus();
  await page.keyboard.press("ArrowRight");
  await expect(card(page, "Rui")).toBeFocused();
  await page.keyboard.press("ArrowLeft");
  await expect(card(page, "Inês")).toBeFocused();

  const status = page.locator("main [role=status]").last();
  await page.keyboard.press("Space");
  await expect(status).toHaveText("Inês is picked up.");
  await page.keyboard.press("ArrowRight");
  await expect(status).toHaveText("In progress");
  await page.keyboard.press("Escape");
  await expect(status).toHaveText("Inês stays: Accepted");
  expect(await stageOf(id)).toBe("accepted");
  await page.keyboard.press("Space");
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("ArrowRight"); // finished does not follow, declined does
  await expect(status).toHaveText("Declined");
  await page.keyboard.press("ArrowLeft");
  await page.keyboard.press("Space");
  await expect(status).toHaveText("Inês: In progress");
  await expect(card(page, "Inês")).toBeFocused();
  await expect.poll(() => stageOf(id)).toBe("in_progress");

  // As in the wall of works: Alt and an arrow.
  await page.keyboard.press("Alt+ArrowRight");
  await expect.poll(() => stageOf(id)).toBe("finished");
  await expect(card(page, "Inês")).toBeFocused();
  await page.keyboard.press("Alt+ArrowRight");
  await expect(status).toHaveText(/^Inês cannot go further/);
  // The menu.
  await page.getByRole("button", { name: "Move Inês" }).press("Enter");
  await page.getByRole("menuitem", { name: "In progress" }).press("Enter");
  await expect.poll(() => stageOf(id)).toBe("in_progress");
  await expect(card(page, "Inês")).toBeFocused();
  // Enter opens the conversation; Back returns to the board.
  await page.keyboard.press("Enter");
  await expect(page.getByRole("dialog", { name: "Inês" })).toContainText(
    "Um retrato da nossa casa.",
  );
  await page.goBack();
  await expect(page.getByRole("dialog")).toHaveCount(0);
  await expect(page).toHaveURL(new RegExp(`${BOARD}$`));
});

test.describe("on a phone", () => {
  test.use({ viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true });

  test("BOARD-touch: a long press drags a card to a stage; the menu moves it too", async ({
    page,
  }) => {
    const id = await add("Inês", "accepted");
    await signInAt(page, server, BOARD);
    const tabs = page.getByRole("group", { name: "Stage" });
    await tabs.getByRole("button", { name: /^Accepted/ }).tap();
    await expect(card(page, "Inês")).toBeVisible();
    const touch = await page.context().newCDPSession(page);
    const send = (type: "touchStart" | "touchMove" | "touchEnd", at?: { x: number; y: number }) =>
      touch.send("Input.dispatchTouchEvent", { type, touchPoints: at ? [at] : [] });
    const from = (await card(page, "Inês").boundingBox())!;
    const target = (await tabs.getByRole("button", { name: /^In progress/ }).boundingBox())!;
    await send("touchStart", { x: from.x + 60, y: from.y + 30 });
    await expect(tabs.locator("[data-drop=open]")).toHaveCount(3);
    for (const part of [0.2, 0.5, 0.8, 1])
      await send("touchMove", {
        x: from.x + 60 + (target.x + target.width / 2 - from.x - 60) * part,
        y: from.y + 30 + (target.y + target.height / 2 - from.y - 30) * part,
      });
    await expect(tabs.getByRole("button", { name: /^In progress/ })).toHaveAttribute(
      "data-over",
      "true",
    );
    await send("touchEnd");
    await expect.poll(() => stageOf(id)).toBe("in_progress");
    await expect(tabs.getByRole("button", { name: /^In progress/ })).toContainText("1");

    await tabs.getByRole("button", { name: /^In progress/ }).tap();
    await page.getByRole("button", { name: "Move Inês" }).tap();
    await page.getByRole("menuitem", { name: "Finished" }).tap();
    await expect.poll(() => stageOf(id)).toBe("finished");
    await tabs.getByRole("button", { name: /^Finished/ }).tap();
    await card(page, "Inês").tap();
    await expect(page.getByRole("dialog", { name: "Inês" })).toBeVisible();
    await page.getByRole("button", { name: "Board", exact: true }).tap();
    await expect(page.getByRole("dialog")).toHaveCount(0);
    await expectNoSidewaysScroll(page);
  });
});

/** Fills the board: long names, works, prices, dates, many finished commissions. */
async function fill(): Promise<void> {
  const { data: works } = await asAnon(server)
    .from("products")
    .select("id")
    .order("created_at")
    .limit(4)
    .throwOnError();
  const work = (n: number) => (works as { id: string }[])[n]!.id;
  await add("Inês Prado");
  await add("Maximiliana Wolfeschlegelsteinhausenbergerdorff de Albuquerque e Vasconcelos", "", {
    artwork_id: work(0),
  });
  await asAnon(server).functions.invoke("submit-contact", {
    body: {
      name: "Marta Reis",
      email: "m@example.com",
      message: "Um mural, por favor.",
      reason: "commission",
    },
  });
  await add("Rui Nóbrega", "offer", { artwork_id: work(1) });
  await add("Café do Cais", "accepted", { artwork_id: work(2), promised_on: "2199-05-04" });
  await add("Ana e Tiago", "in_progress", { artwork_id: work(3), promised_on: "2026-01-15" });
  for (let n = 0; n < 24; n++) await add(`Cliente ${n + 1}`, "finished");
}

for (const language of languages)
  test(`BOARD-rest: the board at all widths and in both schemes, empty and full, in ${repetition(language)}`, async ({
    page,
  }) => {
    const look = (name: string) => checkPage(page, `board-${name}-${language}`);
    await signInAt(page, server, BOARD, language);
    await expect(page.getByText(text(language, "board.empty"))).toBeVisible();
    await look("empty");
    await fill();
    await page.setViewportSize({ width: 1440, height: 900 });
    await expect(card(page, "Ana e Tiago")).toContainText(
      language === "en" ? "Overdue: 15 Jan 2026" : "Em atraso: 15 jan. 2026",
    );
    await page.emulateMedia({ colorScheme: "light" });
    await look("full");

    await page.setViewportSize({ width: 1440, height: 900 });
    const finished = column(page, "finished", language);
    await expect(finished.locator("[data-card]")).toHaveCount(20);
    await finished
      .getByRole("link", { name: text(language, "board.showAll").replace("{n}", "24") })
      .click();
    await expect(finished.locator("[data-card]")).toHaveCount(24);
    await page.reload();
    await expect(finished.locator("[data-card]")).toHaveCount(24);
  });

test("CAL-settings CAL-events: the owner makes, replaces and removes the calendar address, in pt", async ({
  page,
  request,
}) => {
  const language = "pt";
  const say = (key: Parameters<typeof text>[1]) => text(language, key);
  const id = await add("Café do Cais", "in_progress", { promised_on: "2199-05-04" });
  await signInAt(page, server, "/admin/settings", language);
  const group = page.getByRole("group", { name: say("calendar.title") });
  await group.getByLabel(say("calendar.language")).selectOption(language);
  await group.getByRole("button", { name: say("calendar.create") }).click();
  const address = group.locator(".font-mono");
  await expect(address).toContainText(`${server.url}/calendar/`);
  const first = (await address.textContent())!;
  const calendar = await request.get(first);
  expect(calendar.headers()["content-type"]).toBe("text/calendar; charset=utf-8");
  const events = (await calendar.text()).replaceAll("\r\n ", "");
  expect(events).toContain("SUMMARY:Café do Cais: encomenda\r\n");
  expect(events).toContain(`URL:${server.url}/admin/contact-messages?message=${id}\r\n`);
  expect(events).toContain("DTSTART;VALUE=DATE:21990504\r\n");
  await expectAccessibleInBothSchemes(page, async (scheme) => {
    for (const width of [320, 390, 1440]) {
      await page.setViewportSize({ width, height: 900 });
      await expectNoSidewaysScroll(page);
      if (process.env.SCREENSHOTS)
        await group.screenshot({
          path: `${process.env.SCREENSHOTS}/calendar-${language}-${width}-${scheme}.png`,
        });
    }
  });
  await group.getByRole("button", { name: say("calendar.replace"), exact: true }).click();
  await page
    .getByRole("alertdialog")
    .getByRole("button", { name: say("calendar.replace"), exact: true })
    .click();
  await expect(address).not.toHaveText(first);
  expect((await request.get(first)).status()).toBe(404);
  const second = (await address.textContent())!;
  expect((await request.get(second)).status()).toBe(200);
  await page.reload(); // it can be read again
  await expect(address).toHaveText(second);
  await group.getByRole("button", { name: say("calendar.remove"), exact: true }).click();
  await page
    .getByRole("alertdialog")
    .getByRole("button", { name: say("calendar.remove"), exact: true })
    .click();
  await expect(group.getByRole("button", { name: say("calendar.create") })).toBeVisible();
  expect((await request.get(second)).status()).toBe(404);
  expect((await request.get(`${server.url}/calendar/none.ics`)).status()).toBe(404);
});
