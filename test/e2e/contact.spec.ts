// The contact section with the real function: which messages are stored or refused, and what the visitor sees.
import type { Page, Request } from "@playwright/test";

import { asService } from "../harness/clients.ts";
import { type Server, startServer } from "../harness/server.ts";
import { expect, holdRequests, test, waitUntilInteractive } from "./fixtures.ts";

// The animations of the hero, which is on the same page, would take a tenth of the CPU time of these tests.
test.use({ contextOptions: { reducedMotion: "reduce" } });

const written = {
  name: "Inês",
  email: "ines@example.com",
  message: "Good morning! There is a wall of 6 × 3 metres.",
};
const failure = "Failed to send message. Please try again.";

const section = (page: Page) => page.locator("#contact");
const send = (page: Page) => section(page).getByRole("button", { name: "Send message" });
const toasts = (page: Page) => page.locator("[data-sonner-toast]");
const field = (page: Page, name: "Name" | "Email" | "Message") => section(page).getByLabel(name);

async function fillIn(page: Page) {
  await field(page, "Name").fill(written.name);
  await field(page, "Email").fill(written.email);
  await field(page, "Message").fill(written.message);
}

async function expectFormKept(page: Page) {
  await Promise.all([
    expect(toasts(page)).toHaveCount(1),
    expect(toasts(page)).toContainText("Error"),
    expect(toasts(page)).toContainText(failure),
  ]);
  await expect(field(page, "Name")).toHaveValue(written.name);
  await expect(field(page, "Email")).toHaveValue(written.email);
  await expect(field(page, "Message")).toHaveValue(written.message);
  await expect(send(page)).toBeFocused();
}

async function expectSent(page: Page) {
  const title = section(page).getByRole("heading", { name: "Message Sent Successfully!" });
  await expect(title).toBeVisible();
  // Checked first and in parallel, because the toast closes after four seconds.
  await Promise.all([
    expect(toasts(page)).toHaveCount(1),
    expect(toasts(page)).toContainText("Message sent!"),
    expect(toasts(page)).toContainText("Thank you for reaching out. I'll get back to you soon."),
  ]);
  await expect(title).toBeFocused();
}

async function stored(server: Server) {
  const { data, error } = await asService(server)
    .from("contact_submissions")
    .select("name, email, message, reason, status");
  if (error) throw error;
  return data;
}

/**
 * Opens a page and waits for everything that it loads after the form. Without a network the page could not load the
 * code of toasts that report this, and the browser would log an error for each missing file.
 */
async function openAndLoadAll(page: Page, address: string, otherLanguage: "en" | "pt") {
  const requestedUrls: string[] = [];
  const openRequests = new Set<Request>();
  page.on("request", (request) => {
    requestedUrls.push(request.url());
    openRequests.add(request);
  });
  page.on("requestfinished", (request) => openRequests.delete(request));
  page.on("requestfailed", (request) => openRequests.delete(request));
  await page.goto(address);
  await expect(page.getByRole("region", { name: /^(Notifications|Avisos)/ })).toBeAttached();
  for (const name of ["gallery", otherLanguage])
    await expect
      .poll(() => requestedUrls.join(" "), `${name} is requested`)
      .toContain(`/assets/${name}-`);
  await expect
    .poll(() => [...openRequests].map((request) => request.url()), "on the way")
    .toEqual([]);
}

/** Runs the test on a separate server, so that messages and rate limits are not shared with other tests. */
async function onOwnServer(
  page: Page,
  run: (server: Server) => Promise<void>,
  demo: string | false = false,
) {
  const server = await startServer("sqlite", { demo });
  try {
    await run(server);
  } finally {
    await page.close(); // an open page would send requests to the stopped server
    await server.stop();
  }
}

test("S2-home-6 S9-claims-1: the section shows the ways to reach the artist, and how soon they answer", async ({
  page,
  demo,
}) => {
  await page.goto(demo.url);
  await expect(section(page).getByRole("heading", { name: "Get in Touch" })).toBeAttached();
  await expect(section(page)).toContainText("Tell me about the wall, the room or the idea.");
  await expect(section(page)).toContainText(
    "Commissions, questions about a work, or simply hello.",
  );
  await expect(section(page).getByRole("heading", { name: "Ways to reach me" })).toBeAttached();
  await expect(section(page).getByRole("link", { name: /^Instagram/ })).toHaveAttribute(
    "href",
    /^https:\/\/www\.instagram\.com\//,
  );
  await expect(section(page).getByRole("link", { name: /^WhatsApp/ })).toHaveAttribute(
    "href",
    /^https:\/\/wa\.me\/\d+$/,
  );
  await expect(section(page).getByRole("link", { name: /^Email/ })).toHaveAttribute(
    "href",
    /^mailto:.+@.+/,
  );
  await expect(section(page)).toContainText("I usually reply within 24 hours");
  await expect(section(page).getByRole("heading", { name: "Send a Message" })).toBeAttached();
});

test("S5-contact-1: three wrong values give three messages at their fields; the first field has the focus, and nothing is sent", async ({
  page,
}) => {
  await onOwnServer(page, async (server) => {
    await page.goto(server.url);
    await field(page, "Name").fill(" I ");
    await field(page, "Email").fill("ines@example");
    await field(page, "Message").fill("123456789");
    await send(page).click();
    await expect(field(page, "Name")).toBeFocused();
    await expect(field(page, "Name")).toHaveAccessibleDescription(
      "Name must be at least 2 characters",
    );
    await expect(field(page, "Email")).toHaveAccessibleDescription(
      "Please enter a valid email address",
    );
    await expect(field(page, "Message")).toHaveAccessibleDescription(
      "Message must be at least 10 characters",
    );
    await expect(toasts(page)).toHaveCount(0);
    await page.getByRole("button", { name: "Mudar para português" }).click();
    for (const text of [
      "O nome deve ter pelo menos 2 caracteres",
      "Indique um endereço de e-mail válido",
      "A mensagem deve ter pelo menos 10 caracteres",
    ]) {
      await expect(section(page).getByText(text)).toBeVisible();
    }
    expect(await stored(server)).toEqual([]);
  });
});

test("S2-contact-2: a message is stored as general and new, and the visitor can send another one", async ({
  page,
}) => {
  await onOwnServer(page, async (server) => {
    await page.goto(server.url);
    await fillIn(page);
    await send(page).click();
    await expectSent(page);
    expect(await stored(server)).toEqual([{ ...written, reason: "general", status: "new" }]);

    await section(page).getByRole("button", { name: "Send another message" }).click();
    await expect(field(page, "Name")).toBeFocused();
    for (const name of ["Name", "Email", "Message"] as const) {
      await expect(field(page, name)).toHaveValue("");
    }
    await fillIn(page);
    await send(page).click();
    await expectSent(page);
    expect(await stored(server)).toHaveLength(2);
  });
});

test("S4-form-1: while a message is being sent, the form says so and ignores a second press", async ({
  page,
}) => {
  await onOwnServer(page, async (server) => {
    await page.goto(server.url);
    await fillIn(page);
    let release = () => {};
    const held = new Promise<void>((done) => (release = done));
    await page.route("**/functions/v1/submit-contact", async (route) => {
      await held;
      await route.continue();
    });
    await send(page).click();
    const sending = section(page).getByRole("button", { name: "Sending…" });
    await expect(sending).toHaveAttribute("aria-busy", "true");
    await expect(field(page, "Message")).not.toBeEditable();
    await sending.click({ force: true });
    await page.keyboard.press("Enter");
    release();
    await expectSent(page);
    expect(await stored(server)).toHaveLength(1);
  });
});

test.describe("a message that cannot be sent", () => {
  // The browser's console messages for files that could not be loaded. The code of the confirmation loads while the
  // message is sent.
  test.use({
    allowedConsole: [
      /(net::ERR_INTERNET_DISCONNECTED|status of (429|500)) .*\/(functions\/v1\/submit-contact|assets\/contact-success-)/,
    ],
  });

  test("S4-form-3: without a network the toast says so, and the kept form can be sent later", async ({
    page,
    context,
  }) => {
    await onOwnServer(page, async (server) => {
      await openAndLoadAll(page, server.url, "pt");
      await fillIn(page);
      await context.setOffline(true);
      await send(page).click();
      await expectFormKept(page);
      await context.setOffline(false);
      await send(page).click();
      await expectSent(page);
      expect(await stored(server)).toEqual([{ ...written, reason: "general", status: "new" }]);
    });
  });

  test("S4-form-3: when the server fails, the toast says so, and the kept form can be sent later", async ({
    page,
  }) => {
    await onOwnServer(page, async (server) => {
      await page.goto(server.url);
      await fillIn(page);
      await page.route("**/functions/v1/submit-contact", (route) =>
        route.fulfill({ status: 500, json: { success: false, error: "broken" } }),
      );
      await send(page).click();
      await expectFormKept(page);
      await page.unroute("**/functions/v1/submit-contact");
      await send(page).click();
      await expectSent(page);
      expect(await stored(server)).toHaveLength(1);
    });
  });

  test("S4-form-3: after too many messages from one address the toast says so, and the form is kept", async ({
    page,
  }) => {
    await onOwnServer(page, async (server) => {
      await page.goto(server.url);
      await fillIn(page);
      const post = async () => {
        const answer = await fetch(`${server.url}/functions/v1/submit-contact`, {
          method: "POST",
          headers: { apikey: server.anonKey, "content-type": "application/json" },
          body: JSON.stringify({ ...written, reason: "" }),
        });
        await answer.body?.cancel();
        return answer.status;
      };
      let status = await post();
      // The limit counts per minute, so the next minutes are used up too: this one may end before the request.
      await server.sql(
        `insert into rate_limits (name, subject, bucket_start, hits)
         select name, subject, bucket_start + 60 * n, 30 from rate_limits,
           (select 1 as n union select 2 union select 3 union select 4 union select 5) as later
         where name = 'submit-contact'`,
      );
      for (let n = 1; n < 40 && status === 200; n++) status = await post();
      expect(status).toBe(429);
      const before = (await stored(server)).length;
      const refused = page.waitForResponse(/submit-contact/);
      await send(page).click();
      expect((await refused).status()).toBe(429);
      await expectFormKept(page);
      expect(await stored(server)).toHaveLength(before);
    });
  });

  test("S4-form-3: the error messages are also in Portuguese", async ({ page, context }) => {
    await onOwnServer(page, async (server) => {
      await openAndLoadAll(page, `${server.url}/?lang=pt`, "en");
      await section(page).getByLabel("Nome").fill(written.name);
      await section(page).getByLabel("E-mail").fill(written.email);
      await section(page).getByLabel("Mensagem").fill(written.message);
      await context.setOffline(true);
      await section(page).getByRole("button", { name: "Enviar mensagem" }).click();
      await Promise.all([
        expect(toasts(page)).toContainText("Erro"),
        expect(toasts(page)).toContainText("Não foi possível enviar a mensagem. Tente novamente."),
      ]);
      await expect(section(page).getByLabel("Mensagem")).toHaveValue(written.message);
    });
  });
});

test("P-2b: a visitor who types while the form's code loads keeps the field and the focus", async ({
  page,
  demo,
}) => {
  const arrive = await holdRequests(page, /contact-panel-[^/]+\.js$/);
  await page.goto(demo.url, { waitUntil: "commit" });
  await field(page, "Name").focus();
  await page.keyboard.type("I");
  await page.waitForFunction(() =>
    Object.keys(document.querySelector("main")!).some((key) => key.startsWith("__reactProps$")),
  );
  // When the browser is idle, the effects of the first render and the renders that they cause have run.
  await page.evaluate(() => new Promise((resolve) => requestIdleCallback(resolve)));
  await page.keyboard.type("n");
  arrive();
  await waitUntilInteractive(page);
  await expect(field(page, "Name")).toBeFocused();
  await page.keyboard.type("ês");
  await expect(field(page, "Name")).toHaveValue(written.name);
});

test("P-2b: text that was typed before the page's code had loaded is kept and sent", async ({
  page,
}) => {
  await onOwnServer(page, async (server) => {
    const come = await holdRequests(page, /\/assets\/[^/]*\.js$/);
    await page.goto(server.url, { waitUntil: "commit" });
    await fillIn(page);
    come();
    await waitUntilInteractive(page);
    await expect(field(page, "Name")).toHaveValue(written.name);
    await expect(field(page, "Message")).toHaveValue(written.message);
    await send(page).click();
    await expectSent(page);
    expect(await stored(server)).toMatchObject([{ name: written.name, email: written.email }]);
  });
});

test.describe("when the notifications cannot be loaded", () => {
  test.use({ allowedConsole: [/net::ERR_FAILED|The toasts could not be loaded/] });

  test("the message is sent, and the page continues to work", async ({ page }) => {
    await onOwnServer(page, async (server) => {
      await page.route("**/assets/toast-area-*.js", (route) => route.abort());
      await page.goto(server.url);
      await fillIn(page);
      await send(page).click();
      await expect(
        section(page).getByRole("heading", { name: "Message Sent Successfully!" }),
      ).toBeFocused();
      await expect(toasts(page)).toHaveCount(0);
      expect(await stored(server)).toHaveLength(1);
    });
  });
});

test("S2-contact-1 S5-contact-5: visitors cannot reach the hidden field; a sender who fills it sees success, and the owner's list stays empty", async ({
  page,
}) => {
  await onOwnServer(page, async (server) => {
    await page.goto(server.url);
    await fillIn(page);
    const trap = section(page).locator("input[name=reason]");
    await expect(trap).not.toBeInViewport();
    await expect(section(page).getByRole("textbox")).toHaveCount(3);
    await field(page, "Message").focus();
    await page.keyboard.press("Tab");
    await expect(send(page)).toBeFocused();

    const answered = page.waitForResponse(/submit-contact/);
    await trap.evaluate((input: HTMLInputElement) => {
      Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value")!.set!.call(
        input,
        "buy my watches",
      );
      input.dispatchEvent(new Event("input", { bubbles: true }));
    });
    await send(page).click();
    const response = await answered;
    expect(response.request().postDataJSON()).toEqual({
      ...written,
      reason: "buy my watches",
      language: "en",
      follow: true,
    });
    expect(await response.json()).toMatchObject({ success: true });
    await expectSent(page);
    expect(await stored(server)).toEqual([]);
  });
});

test("S2-contact-3: an enquiry about a work names the work, and the page sets the reason", async ({
  page,
  demoFolder,
}) => {
  await onOwnServer(
    page,
    async (server) => {
      const { data, error } = await asService(server)
        .from("products")
        .select("id, title, is_customizable")
        .neq("artwork_type", "oil");
      if (error) throw error;
      for (const { customizable, reason } of [
        { customizable: true, reason: "commission" },
        { customizable: false, reason: "purchase" },
      ]) {
        const work = data.find((one) => one.is_customizable === customizable)!;
        await page.goto(`${server.url}/gallery/all?art=${work.id}`);
        await page.getByRole("dialog").getByRole("button", { name: "Ask about this work" }).click();
        await expect(page).toHaveURL(`${server.url}/`);
        const message = field(page, "Message");
        await expect(message).toBeFocused();
        await expect(message).toHaveValue(`About “${work.title}”: `);
        await expect(message).toBeInViewport();
        await message.pressSequentially("may I see it?");
        await field(page, "Name").fill(written.name);
        await field(page, "Email").fill(written.email);
        await send(page).click();
        await expectSent(page);
        expect(await stored(server)).toContainEqual({
          name: written.name,
          email: written.email,
          message: `About “${work.title}”: may I see it?`,
          reason,
          status: "new",
        });
      }
    },
    demoFolder,
  );
});

for (const [width, height] of [
  [390, 844],
  [1440, 900],
] as const) {
  test.describe(`after the question in the gallery, at ${width} px, the message field is focused and visible`, () => {
    // With motion, because the browser scrolls smoothly to the message.
    test.use({ viewport: { width, height }, contextOptions: { reducedMotion: "no-preference" } });

    const ask = async (page: Page, url: string) => {
      await page.goto(`${url}/gallery`);
      await page
        .getByRole("link", { name: /^Open / })
        .first()
        .click();
      await page.getByRole("dialog").getByRole("button", { name: "Ask about this work" }).click();
      await expect(page).toHaveURL(`${url}/`);
    };
    const expectAtMessage = async (page: Page) => {
      const message = field(page, "Message");
      await expect(message).toBeFocused();
      const isClear = () =>
        message.evaluate((box) => {
          const { top, bottom } = box.getBoundingClientRect();
          const bar = document.querySelector("header.site-header")!.getBoundingClientRect();
          return top >= bar.bottom && bottom <= innerHeight;
        });
      await expect.poll(isClear).toBe(true);
    };

    test("S2-contact-3: also when the form loads during the scrolling", async ({ page, demo }) => {
      await page.route(/contact-panel-[^/]+\.js$/, async (route) => {
        await page.waitForFunction(() => scrollY > 400);
        await route.continue();
      });
      await ask(page, demo.url);
      await expectAtMessage(page);
    });

    test("S2-contact-3: also when the covers, and with them the sections, load last", async ({
      page,
      demo,
    }) => {
      await page.route(/\/rest\/v1\/cover_images/, async (route) => {
        await expect(field(page, "Message")).toHaveValue(/^About /);
        await expect(section(page)).toBeHidden();
        await page.clock.fastForward(2_500); // longer than the time in which the page corrects the scroll position
        await route.continue();
      });
      await page.clock.install();
      await ask(page, demo.url);
      await expectAtMessage(page);
    });
  });
}
