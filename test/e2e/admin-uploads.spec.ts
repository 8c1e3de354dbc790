// Uploads in the admin area against the real server: lost connections, wrong types, stills, and cleanup.
import { readFile, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";

import type { BrowserContext, Page } from "@playwright/test";

import { asService, ownerEmail, ownerPassword } from "../harness/clients.ts";
import { root } from "../harness/root.ts";
import { type Server, startServer } from "../harness/server.ts";
import { signInAt } from "./admin.ts";
import {
  expect,
  expectAccessible,
  expectNoSidewaysScroll,
  finishAnimations,
  makeJpeg,
  test,
} from "./fixtures.ts";
import { text } from "./texts.ts";

const demoFilm = join(root, "internal/demo/content/noite-no-cais.mp4");
const MB = 1024 * 1024;

// The browser's console message for a row that the service refuses.
test.use({ allowedConsole: [/status of 400 .*\/rest\/v1\/products/] });

let server: Server;
test.beforeEach(async () => {
  server = await startServer("sqlite");
  await server.command(["owner", "add", ownerEmail, "--password-stdin"], `${ownerPassword}\n`);
});
test.afterEach(async ({ page }) => {
  await page.close(); // before the server stops, which takes a moment with a hundred pictures
  await server.stop();
});

const owner = { email: ownerEmail, password: ownerPassword };
const signIn = (page: Page, path: string) => signInAt(page, { ...server, owner }, path);

async function openForm(page: Page) {
  await signIn(page, "/admin/products");
  await page.getByRole("button", { name: "Add Product" }).first().click();
  return page.getByRole("dialog");
}

async function storedNames(bucket = "product-images") {
  const { data, error } = await asService(server).storage.from(bucket).list("", { limit: 1000 });
  expect(error).toBeNull();
  return data!.map(({ name }) => name);
}

const picture = (page: Page, width: number, height: number, turn = 0) =>
  makeJpeg(page, { width, height, plain: true, turn });

/** Writes the demo's video with a padding box to `file`, so that it is larger than an upload chunk. */
async function largeFilm(file: string, size = 20 * MB): Promise<void> {
  const film = await readFile(demoFilm);
  const box = Buffer.alloc(size - film.length);
  box.writeUInt32BE(box.length, 0);
  box.write("free", 4, "latin1");
  await writeFile(file, Buffer.concat([film, box]));
}

/** Dispatches the events of a drop or a paste with these files. */
async function dispatchFiles(page: Page, how: "drop" | "paste", target: string, files: File[]) {
  await page.locator("[data-drop]").first().waitFor({ state: "attached" }); // before that nothing accepts files
  await page.evaluate(
    ([event, selector, list]) => {
      const data = new DataTransfer();
      for (const { name, type, base64 } of list) {
        const bytes = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
        data.items.add(new File([bytes], name, { type }));
      }
      const element = document.querySelector(selector)!;
      const init = { bubbles: true, cancelable: true };
      element.dispatchEvent(
        event === "drop"
          ? new DragEvent("drop", { ...init, dataTransfer: data })
          : new ClipboardEvent("paste", { ...init, clipboardData: data }),
      );
    },
    [how, target, files] as const,
  );
}
type File = { name: string; type: string; base64: string };
const jpeg = (name: string, bytes: Buffer): File => ({
  name,
  type: "image/jpeg",
  base64: bytes.toString("base64"),
});

/** Returns the peak memory of the renderer process in MB. */
async function peakMemory(context: BrowserContext): Promise<number> {
  const session = await context.browser()!.newBrowserCDPSession();
  const { processInfo } = await session.send("SystemInfo.getProcessInfo");
  const peaks = await Promise.all(
    processInfo
      .filter(({ type }) => type === "renderer")
      .map(async ({ id }) => {
        const status = await readFile(`/proc/${id}/status`, "utf8").catch(() => "");
        return Number(/^VmHWM:\s+(\d+) kB/m.exec(status)?.[1] ?? 0) / 1024;
      }),
  );
  return Math.max(...peaks);
}

test.describe("without a network connection", () => {
  // The browser's console messages for failed requests.
  test.use({
    allowedConsole: [/Failed to load resource|dynamically imported module|Files of a draft/],
  });

  test("A-bulk-100: a hundred dropped pictures are all stored once, although the network is cut in between", async ({
    page,
    context,
  }) => {
    await signIn(page, "/admin/products");
    await expect(page.getByText("No products yet.")).toBeVisible();
    // Six megapixels each: if all were decoded at once, that would need 2.4 GB.
    const base = await picture(page, 3000, 2000);
    const files = Array.from({ length: 100 }, (_, n) =>
      jpeg(
        `mural_${String(n + 1).padStart(3, "0")}.jpg`,
        Buffer.concat([base, Buffer.from(`#${n}`)]),
      ),
    );

    // Some responses are lost, so the server has stored files that the page counts as failed.
    let lostUpload = false;
    let lostRow = false;
    await page.route("**/storage/v1/object/product-images/**", async (route) => {
      if (lostUpload || route.request().method() !== "POST") return route.continue();
      lostUpload = true;
      await route.fetch();
      await route.abort("connectionreset");
    });
    await page.route("**/rest/v1/products?*", async (route) => {
      if (lostRow || route.request().method() !== "POST") return route.continue();
      lostRow = true;
      await route.fetch();
      await route.abort("connectionreset");
    });

    await dispatchFiles(page, "drop", "[data-drop]", files);
    const drafts = page.getByRole("region", { name: "Drafts" });
    await expect(drafts.getByRole("listitem")).toHaveCount(100);
    await expect(
      drafts.getByRole("listitem").first().getByLabel("Title", { exact: true }),
    ).toHaveValue("Mural 001");
    await drafts.getByLabel("Type for all").selectOption("mural");

    const uploaded = async () =>
      Number(/(\d+) of 100/.exec((await drafts.getByText(/of 100 pictures/).textContent())!)![1]);
    await expect.poll(uploaded, { intervals: [20] }).toBeGreaterThan(15);
    await context.setOffline(true);
    await expect(drafts.getByText("Waiting for the network…").first()).toBeVisible();
    expect(await uploaded()).toBeLessThan(100);
    // Save all can be pressed at any time: it saves each work when its picture is uploaded.
    await drafts.getByRole("button", { name: "Save all" }).click();
    await expect(drafts.getByText("Saved as soon as it is uploaded").first()).toBeVisible();
    await context.setOffline(false);

    await expect(page.getByText("Products created: 100")).toBeVisible({ timeout: 480_000 });
    await expect(drafts).toHaveCount(0);
    expect([lostUpload, lostRow]).toEqual([true, true]);

    const { data: rows } = await asService(server).from("products").select("*").limit(1000);
    expect(rows).toHaveLength(100);
    expect(new Set(rows!.map(({ title }) => title)).size).toBe(100);
    expect(rows!.every((row) => row.artwork_type === "mural" && row.price === 0)).toBe(true);
    const names = await storedNames();
    expect(names).toHaveLength(100);
    expect(rows!.map(({ image_url }) => image_url.split("/").at(-1)).sort()).toEqual(names.sort());
    expect(names.every((name) => /^[0-9a-f-]{36}\.jpg$/.test(name))).toBe(true);

    const peak = await peakMemory(context);
    console.log(`peak of the page with 100 pictures of 6 megapixels: ${peak.toFixed(0)} MB`);
    expect(peak).toBeLessThan(900);
  });

  test("A-up-name A-up-still-life: the upload of a video continues after the network was cut, and its still is stored beside it", async ({
    page,
    context,
  }, testInfo) => {
    const form = await openForm(page);
    const film = testInfo.outputPath("Cais.MP4");
    await largeFilm(film);
    const offsets: number[] = [];
    page.on("request", (request) => {
      if (request.method() === "PATCH") offsets.push(Number(request.headers()["upload-offset"]));
    });
    // The second chunk fails.
    let cut = false;
    await page.route("**/storage/v1/upload/resumable/*", async (route) => {
      if (cut || route.request().method() !== "PATCH") return route.continue();
      cut = true;
      await context.setOffline(true);
      await route.abort("internetdisconnected");
    });
    await form.getByLabel("Title", { exact: true }).fill("Cais");
    await form.locator("input[type=file][accept*=video]").setInputFiles(film);
    await expect(form.getByText("Waiting for the network…")).toBeVisible();
    await expect(form.getByRole("button", { name: "Save", exact: true })).toBeDisabled();
    await context.setOffline(false);
    await expect(form.getByRole("button", { name: "Save", exact: true })).toBeEnabled();
    // No byte is sent twice: each chunk but the failed one begins where the one before ended.
    expect(offsets).toEqual([6 * MB, 6 * MB, 12 * MB, 18 * MB]);

    await form.getByRole("button", { name: "Save", exact: true }).click();
    await expect(page.getByText("Product created")).toBeVisible();
    const { data: row } = await asService(server).from("products").select("*").single();
    const [address] = row.video_gallery as string[];
    expect(address).toMatch(/\/[0-9a-f-]{36}\.mp4$/);
    const stored = Buffer.from(await (await fetch(address!)).arrayBuffer());
    expect(stored.equals(await readFile(film))).toBe(true);

    const still = await page.evaluate(
      async (url) => {
        const bitmap = await createImageBitmap(await (await fetch(url)).blob());
        const canvas = new OffscreenCanvas(1, 1);
        const pixel = canvas.getContext("2d")!;
        pixel.drawImage(bitmap, 0, 0, 1, 1);
        const [r, g, b] = pixel.getImageData(0, 0, 1, 1).data;
        return { width: bitmap.width, height: bitmap.height, light: r! + g! + b! };
      },
      address!.replace(/\.mp4$/, ".still.jpg"),
    );
    const size = await page.evaluate(async (url) => {
      const video = document.createElement("video");
      video.src = url;
      await new Promise((done) => video.addEventListener("loadedmetadata", done, { once: true }));
      return { width: video.videoWidth, height: video.videoHeight };
    }, address!);
    expect({ width: still.width, height: still.height }).toEqual(size);
    expect(still.light).toBeGreaterThan(30);

    // Removing the video from the work removes its still too.
    await page.getByRole("button", { name: "Edit Cais" }).click();
    await form
      .getByRole("listitem", { name: /^Gallery videos/ })
      .getByLabel("Remove")
      .click();
    await form.getByRole("button", { name: "Save changes" }).click();
    await expect(page.getByText("Product updated")).toBeVisible();
    await expect.poll(() => storedNames()).toEqual([]);
  });

  test("A-draft-2 A-up-reload: the upload of a video continues after the owner has left the page and chosen the same file again", async ({
    page,
  }, testInfo) => {
    // The browser stores no files, as for a video that is too large for its storage.
    await page.addInitScript(() =>
      Object.defineProperty(window, "indexedDB", { value: undefined }),
    );
    const film = testInfo.outputPath("noite.mp4");
    await largeFilm(film);
    const sent: { method: string; offset: number }[] = [];
    page.on("request", (request) => {
      if (!request.url().includes("/upload/resumable")) return;
      sent.push({
        method: request.method(),
        offset: Number(request.headers()["upload-offset"] ?? -1),
      });
    });
    let held = false;
    await page.route("**/storage/v1/upload/resumable/*", async (route) => {
      const { "upload-offset": offset } = route.request().headers();
      if (!held && offset === String(12 * MB)) {
        held = true;
        return; // no response: the page is left while it waits
      }
      return route.continue();
    });
    const form = await openForm(page);
    await form.locator("input[type=file][accept*=video]").setInputFiles(film);
    await expect.poll(() => held).toBe(true);
    page.on("dialog", (dialog) => void dialog.accept());
    await page.reload();

    sent.length = 0;
    await expect(form.getByText(/Draft of .+ restored/)).toBeVisible();
    await expect(form.getByText(/^Please choose these files again.*: noite\.mp4$/)).toBeVisible();
    await form.locator("input[type=file][accept*=video]").setInputFiles(film);
    await expect(form.getByRole("listitem").getByLabel("Remove")).toBeVisible();
    expect(sent.map(({ method }) => method)).toEqual(["HEAD", "PATCH", "PATCH"]);
    expect(sent.at(1)!.offset).toBe(12 * MB);
    expect((await storedNames()).length).toBe(2);
  });
});

test("A-up-orphans: uploaded files that were not saved are deleted immediately: removed, replaced, cancelled or closed", async ({
  page,
}) => {
  const form = await openForm(page);
  await form.getByLabel("Title", { exact: true }).fill("Never saved");

  const main = form.getByRole("group", { name: "Main image" });
  const choose = async (name: string) => {
    const file = { name, mimeType: "image/jpeg", buffer: await picture(page, 40, 30) };
    await main.locator("input[type=file]").setInputFiles(file);
  };
  await choose("first.jpg");
  await expect(main.getByLabel("Remove")).toHaveCount(1);
  const [replaced] = await storedNames();
  await choose("second.jpg");
  await expect
    .poll(async () => (await storedNames()).map((name) => name === replaced))
    .toEqual([false]);
  await main.getByLabel("Remove").click();
  await expect.poll(() => storedNames()).toEqual([]);

  const upload = async (name: string) => {
    const file = { name, mimeType: "image/jpeg", buffer: await picture(page, 40, 30) };
    await form.locator("input[type=file]").nth(1).setInputFiles(file);
    await expect(form.getByLabel("Remove")).toHaveCount(1);
  };
  await upload("one.jpg");
  expect(await storedNames()).toHaveLength(1);
  await form.getByLabel("Remove").click();
  await expect.poll(() => storedNames()).toEqual([]);

  await upload("two.jpg");
  await form.locator("input[type=file][accept*=video]").setInputFiles(demoFilm);
  await expect(form.getByLabel("Remove")).toHaveCount(2);
  expect(await storedNames()).toHaveLength(3); // the video's still too
  await form.getByRole("button", { name: "Cancel", exact: true }).click();
  await page.getByRole("button", { name: "Close without saving" }).click();
  await expect(form).toHaveCount(0);
  await expect.poll(() => storedNames()).toEqual([]);
  expect((await asService(server).from("products").select("id")).data).toEqual([]);
});

test("A-up-heic-vips: with libvips a phone's HEIC picture is uploaded as it is, and shown in a format of all browsers", async ({
  page,
}) => {
  await server.stop();
  server = await startServer("sqlite", { env: { ATELIE_VIPS: "auto" } });
  await server.command(["owner", "add", ownerEmail, "--password-stdin"], `${ownerPassword}\n`);
  const form = await openForm(page);
  // The picture of 16 × 16 pixels with which the program checks libvips.
  const source = await readFile(join(root, "internal/media/rendition/vips.go"), "utf8");
  const photo = Buffer.from(/tinyHEIC = "([^"]+)"/.exec(source)![1]!, "base64");
  await form
    .locator("input[type=file]")
    .first()
    .setInputFiles({ name: "IMG_0001.HEIC", mimeType: "image/heic", buffer: photo });
  await expect.poll(() => storedNames()).toEqual([expect.stringMatching(/\.heic$/)]);
  const [name] = await storedNames();
  const stored = await asService(server).storage.from("product-images").download(name!);
  expect(stored.data?.type).toBe("image/heic");
  await form.getByLabel("Title", { exact: true }).fill("From a telephone");
  await form.getByRole("button", { name: "Save", exact: true }).click();
  await expect(form).toHaveCount(0);
  const shown = page.getByRole("row", { name: /From a telephone/ }).locator("img");
  await expect
    .poll(() => shown.evaluate((image: HTMLImageElement) => image.naturalWidth))
    .toBeGreaterThan(0);
  expect(await shown.evaluate((image: HTMLImageElement) => image.currentSrc)).toContain("/render/");
});

test("A-up-bytes A-up-heic: a file is accepted or refused by its bytes before it is sent", async ({
  page,
}) => {
  const form = await openForm(page);
  const sent: string[] = [];
  page.on("request", (request) => {
    if (request.method() === "POST" && request.url().includes("/storage/v1/")) {
      sent.push(request.url());
    }
  });
  const images = form.locator("input[type=file]").nth(1);
  await images.setInputFiles({
    name: "page.jpg",
    mimeType: "image/jpeg",
    buffer: Buffer.from("<!doctype html><script>alert(1)</script>"),
  });
  await expect(page.getByText("page.jpg cannot be used here.")).toBeVisible();
  const photo = {
    name: "IMG_0001.HEIC",
    mimeType: "image/heic",
    buffer: Buffer.from("\0\0\0\x18ftypheic\0\0\0\0mif1heic"),
  };
  await images.setInputFiles(photo);
  await expect(page.getByText("IMG_0001.HEIC is in the HEIC format")).toBeVisible();
  // A sparse file of 51 MB, because Playwright accepts no buffer of that size.
  const large = test.info().outputPath("large.jpg");
  await writeFile(large, Buffer.from([0xff, 0xd8, 0xff, 0xe0]));
  await truncate(large, 51 * MB);
  await images.setInputFiles(large);
  await expect(page.getByText("large.jpg is too large. Images may have up to 50 MB")).toBeVisible();
  expect(sent).toEqual([]);
  await expect(form.getByRole("listitem")).toHaveCount(0);

  // A JPEG named .png is stored as JPEG.
  const buffer = await picture(page, 40, 30);
  await images.setInputFiles({ name: "Céu.PNG", mimeType: "image/png", buffer });
  await expect(form.getByLabel("Remove")).toHaveCount(1);
  expect(await storedNames()).toEqual([expect.stringMatching(/^[0-9a-f-]{36}\.jpg$/)]);
});

test("A-up-order: pictures of a work are reordered by dragging, and saved in that order", async ({
  page,
}) => {
  const form = await openForm(page);
  // Typed before the drag: for 50 ms after a drag, dnd-kit removes every selection and so the caret that fill() needs.
  await form.getByLabel("Title", { exact: true }).fill("Three views");
  const buffers = await Promise.all([1, 2, 3].map((turn) => picture(page, 40, 30, turn)));
  await form
    .locator("input[type=file]")
    .nth(1)
    .setInputFiles(
      buffers.map((buffer, n) => ({ name: `${n}.jpg`, mimeType: "image/jpeg", buffer })),
    );
  await expect(form.getByLabel("Remove")).toHaveCount(3);
  const tiles = form.getByRole("listitem").locator("img");
  const shown = () => tiles.evaluateAll((all) => all.map((one) => (one as HTMLImageElement).src));
  await expect(tiles).toHaveCount(3);
  const previewed = async () => (await shown()).every((source) => source.startsWith("blob:"));
  await expect.poll(previewed).toBe(true); // from now on each keeps the URL of its preview
  const [first, second, third] = await shown();
  await tiles.first().evaluate((image) => image.scrollIntoView({ block: "center" }));
  const [from, to] = [(await tiles.first().boundingBox())!, (await tiles.last().boundingBox())!];
  await page.mouse.move(from.x + from.width / 2, from.y + from.height / 2);
  await page.mouse.down();
  await page.mouse.move(to.x + to.width / 2, to.y + to.height / 2, { steps: 12 });
  // A busy page follows the pointer with a delay. The text for screen readers contains the position.
  await expect(form.locator("[id^=DndLiveRegion]")).toHaveText(
    text("en", "carousel.position", { n: 3, total: 3 }),
  );
  await page.mouse.up();
  await expect.poll(shown).toEqual([second, third, first]);

  await form.getByRole("button", { name: "Save", exact: true }).click();
  await expect(page.getByText("Product created")).toBeVisible();
  const { data } = await asService(server).from("products").select("image_gallery").single();
  const stored = await Promise.all(
    (data!.image_gallery as string[]).map(async (url) =>
      Buffer.from(await (await fetch(new URL(url, server.url))).arrayBuffer()).toString("hex"),
    ),
  );
  const [a, b, c] = buffers.map((buffer) => buffer.toString("hex"));
  expect(stored).toEqual([b, c, a]);
});

test("A-up-still-ask: a video that the browser cannot read can be saved, and its tile asks for a picture", async ({
  page,
}) => {
  page.on("filechooser", () => undefined); // set early: otherwise the system's dialog may open
  const form = await openForm(page);
  const unreadable = Buffer.concat([
    Buffer.from("\0\0\0\x18ftyphvc1\0\0\x02\0hvc1mp41", "latin1"),
    Buffer.alloc(2000, 7),
  ]);
  await form
    .locator("input[type=file][accept*=video]")
    .setInputFiles({ name: "phone.mov", mimeType: "video/quicktime", buffer: unreadable });
  await expect(page.getByText("A picture is missing")).toBeVisible();
  await expect(
    page.getByText("phone.mov is stored, but this browser could not take a still from it."),
  ).toBeVisible();
  await expect(form.getByRole("button", { name: "Save", exact: true })).toBeEnabled();
  const [name] = await storedNames();
  expect(name).toMatch(/\.mov$/);
  await expectAccessible(page);

  const chooser = page.waitForEvent("filechooser");
  await form.getByRole("button", { name: "Choose a still picture" }).click();
  await (
    await chooser
  ).setFiles({
    name: "frame.jpg",
    mimeType: "image/jpeg",
    buffer: await picture(page, 3000, 1500),
  });
  await expect(page.getByText("Still picture stored")).toBeVisible();
  const still = name!.replace(".mov", ".still.jpg");
  expect((await storedNames()).sort()).toEqual([name, still].sort());
  const width = await page.evaluate(
    async (url) => (await createImageBitmap(await (await fetch(url)).blob())).width,
    `${server.url}/storage/v1/object/public/product-images/${still}`,
  );
  expect(width).toBe(2560);
});

test("A-up-ways A-bulk-leave: a pasted picture goes to the field under the pointer, else to a field with room, else becomes a draft", async ({
  page,
}) => {
  const pasted = jpeg(
    "image.jpg",
    await (async () => {
      await signIn(page, "/admin/products");
      return picture(page, 40, 30);
    })(),
  );
  await dispatchFiles(page, "paste", "body", [pasted]);
  await expect(page.getByRole("region", { name: "Drafts" }).getByRole("listitem")).toHaveCount(1);

  // The drafts survive a visit to another page.
  await page.getByRole("link", { name: "Reviews" }).first().click();
  await expect(page.getByRole("heading", { level: 1, name: "Reviews" })).toBeVisible();
  await page.getByRole("link", { name: "Products" }).first().click();
  await expect(page.getByRole("region", { name: "Drafts" }).getByRole("listitem")).toHaveCount(1);

  await page.getByRole("button", { name: "Add Product" }).first().click();
  const form = page.getByRole("dialog");
  const main = form.getByRole("group", { name: "Main image" });
  const gallery = form.getByRole("group", { name: "Gallery images" });
  await expect(gallery).toBeVisible(); // from then on fields accept pasted files
  await dispatchFiles(page, "paste", "[role=dialog]", [pasted]);
  await expect(main.getByLabel("Replace")).toBeVisible();
  await dispatchFiles(page, "paste", "[role=dialog]", [pasted]);
  await expect(gallery.getByRole("listitem")).toHaveCount(1);
  await main.hover();
  await dispatchFiles(page, "paste", "[role=dialog]", [pasted]);
  await expect(main.getByRole("progressbar")).toHaveCount(0);
  await expect(gallery.getByRole("listitem")).toHaveCount(1);
  await expect(page.getByLabel(/^Draft: /)).toHaveCount(1);
});

test.describe("drafts", () => {
  // The page's warning where the browser stores no files, and requests aborted with their page.
  test.use({ allowedConsole: [/Files of a draft|net::ERR_/] });

  test("A-draft-2 A-draft-3 A-bulk-leave: files that were chosen but not uploaded survive a killed tab, stay with a tab that has them open, and are deleted at sign-out", async ({
    page,
    context,
  }) => {
    const upload = "**/storage/v1/object/product-images/**";
    await signIn(page, "/admin/products");
    const bytes = await picture(page, 40, 30);
    const shown = (tab: Page) => ({
      drafts: tab.getByRole("region", { name: "Drafts" }),
      form: tab.getByRole("dialog"),
    });
    const kept = (tab: Page) =>
      tab.evaluate(
        () =>
          new Promise<number>((done, fail) => {
            const opening = indexedDB.open("atelie-drafts", 1);
            opening.addEventListener("error", () => fail(opening.error!));
            opening.addEventListener("success", () => {
              const count = opening.result.transaction("files").objectStore("files").count();
              count.addEventListener("success", () => {
                opening.result.close();
                done(count.result);
              });
            });
          }),
      );

    await context.route(upload, () => undefined); // no response ever
    await dispatchFiles(page, "drop", "[data-drop]", [jpeg("a.jpg", bytes), jpeg("b.jpg", bytes)]);
    await shown(page).drafts.getByLabel("Title", { exact: true }).first().fill("Half a name");
    await page.getByRole("button", { name: "Add Product" }).first().click();
    const form = shown(page).form;
    await form.getByLabel("Title", { exact: true }).fill("Half a work");
    await form
      .locator("input[type=file]")
      .nth(1)
      .setInputFiles({ name: "c.jpg", mimeType: "image/jpeg", buffer: bytes });
    await expect.poll(() => kept(page)).toBe(3);

    const second = await context.newPage();
    await second.goto(`${server.url}/admin/products`);
    // The second tab stores its own drafts elsewhere, because it has found those of the first tab.
    const locks = () =>
      second.evaluate(async () => (await navigator.locks.query()).held!.map(({ name }) => name));
    await expect.poll(locks).toContainEqual(expect.stringMatching(/\/batch~2$/));
    await expect(shown(second).form).toHaveCount(0);
    await expect(shown(second).drafts).toHaveCount(0);

    await page.close(); // before anything else runs
    // The browser releases the locks of a closed tab a little later.
    const locksOfOthers = () =>
      second.evaluate(async () => {
        const held = (await navigator.locks.query()).held!;
        const own = held.find(({ name }) => name!.endsWith("/batch~2"))!.clientId;
        return held.filter(({ clientId }) => clientId !== own).map(({ name }) => name);
      });
    await expect.poll(locksOfOthers).toEqual([]);
    await context.unroute(upload);
    await second.reload();
    await expect(shown(second).form.getByLabel("Title", { exact: true })).toHaveValue(
      "Half a work",
    );
    await expect(shown(second).form.getByLabel("Remove")).toHaveCount(1); // uploaded
    await shown(second).form.getByRole("button", { name: "Save", exact: true }).click();
    await expect(second.getByText("Product created")).toBeVisible();
    const { drafts } = shown(second);
    await expect(drafts.getByText("2 of 2 pictures uploaded")).toBeVisible();
    await expect(drafts.getByLabel("Title", { exact: true }).first()).toHaveValue("Half a name");
    await drafts.getByRole("button", { name: "Save all" }).click();
    await expect(second.getByText("Products created: 2")).toBeVisible();
    const { data: rows } = await asService(server).from("products").select("*");
    expect(rows).toHaveLength(3);
    // More files may be stored than are shown, because requests may have arrived while the tab was killed.
    const names = await storedNames();
    for (const { image_url, image_gallery } of rows!)
      expect(names).toContain((image_url ?? image_gallery[0]).split("/").at(-1));
    expect(await kept(second)).toBe(0);

    // Signing out deletes the pictures.
    await context.route(upload, () => undefined);
    await dispatchFiles(second, "drop", "[data-drop]", [jpeg("d.jpg", bytes)]);
    await expect.poll(() => kept(second)).toBe(1);
    await second.getByRole("banner").getByRole("button", { name: "Sign Out" }).click();
    await expect(second).toHaveURL(`${server.url}/`);
    await expect.poll(() => kept(second)).toBe(0);

    // If the browser cannot store files, the texts stay, and the page asks for the file.
    const pageWithoutStorage = await context.newPage();
    await pageWithoutStorage.addInitScript(() =>
      Object.defineProperty(window, "indexedDB", { value: undefined }),
    );
    pageWithoutStorage.on("dialog", (dialog) => void dialog.accept());
    await signIn(pageWithoutStorage, "/admin/products");
    await expect(shown(pageWithoutStorage).drafts).toHaveCount(0);
    await dispatchFiles(pageWithoutStorage, "drop", "[data-drop]", [jpeg("e.jpg", bytes)]);
    await shown(pageWithoutStorage).drafts.getByLabel("Title", { exact: true }).fill("Only words");
    // A batch is stored from the moment at which the page holds its lock.
    await expect
      .poll(() => pageWithoutStorage.evaluate(() => Object.values(localStorage).join()))
      .toContain("Only words");
    await pageWithoutStorage.reload();
    const poorDrafts = shown(pageWithoutStorage).drafts;
    await expect(poorDrafts.getByText(/^Please choose these files again.*: e\.jpg$/)).toBeVisible();
    await expect(poorDrafts.getByLabel("Title", { exact: true })).toHaveValue("Only words");
    await expectAccessible(pageWithoutStorage);
    await context.unroute(upload);
    await dispatchFiles(pageWithoutStorage, "drop", "[data-drop]", [jpeg("e.jpg", bytes)]);
    await expect(poorDrafts.getByText("1 of 1 pictures uploaded")).toBeVisible();
    await expect(poorDrafts.getByLabel("Title", { exact: true })).toHaveValue("Only words");
  });
});

test.describe("refused", () => {
  test.use({ allowedConsole: [/status of (400|401|403)/] });

  test("A-up-denied: a user who is no longer an administrator gets an error, and nothing is stored or removed", async ({
    page,
  }) => {
    const form = await openForm(page);
    await server.command(
      ["owner", "add", "other@example.com", "--password-stdin"],
      "somebody else\n",
    );
    await server.command(["owner", "remove", ownerEmail]);
    const file = { name: "a.jpg", mimeType: "image/jpeg", buffer: await picture(page, 40, 30) };
    await form.locator("input[type=file]").nth(1).setInputFiles(file);
    await expect(page.getByText("Unauthorized")).toBeVisible();
    await expect(page.getByText("Only admin users can upload images.")).toBeVisible();
    await expect(form.getByRole("button", { name: "Try again" })).toBeVisible();
    expect(await storedNames()).toEqual([]);
  });
});

for (const [width, height, colorScheme, lang] of [
  [390, 844, "light", "en"],
  [390, 844, "dark", "pt"],
  [768, 1024, "dark", "en"],
  [1440, 900, "light", "pt"],
] as const) {
  test(`A-up-camera A-up-access: drafts and the form are accessible and fit: ${width} px, ${colorScheme}, ${lang}`, async ({
    browser,
  }, testInfo) => {
    const context = await browser.newContext({
      viewport: { width, height },
      colorScheme,
      hasTouch: width === 390,
      isMobile: width === 390,
      reducedMotion: "reduce",
    });
    const page = await context.newPage();
    await signIn(page, "/admin/products");
    if (lang === "pt") {
      if (width < 1024) await page.getByRole("button", { name: "Menu" }).click();
      await page.getByRole("button", { name: "Mudar para português" }).click();
      if (width < 1024) await page.getByRole("button", { name: "Fechar" }).click();
    }
    const tall = await picture(page, 600, 900, 1);
    const wide = await picture(page, 900, 400, 2);
    await dispatchFiles(page, "drop", "[data-drop]", [
      jpeg("telhados_manha.jpg", tall),
      jpeg("serra.jpg", wide),
      jpeg("not a picture.jpg", Buffer.from("text")),
    ]);
    const drafts = page.getByRole("region", { name: lang === "en" ? "Drafts" : "Rascunhos" });
    await expect(drafts.getByText(/^2 (of|de) 3/)).toBeVisible();
    await drafts.getByRole("textbox").first().fill("");
    await drafts.getByRole("button", { name: lang === "en" ? "Save all" : "Gravar todas" }).click();
    await expect(drafts.getByRole("listitem")).toHaveCount(2);
    await expect(drafts.getByRole("textbox").first()).toBeFocused();
    await finishAnimations(page);
    await expectAccessible(page);
    await expectNoSidewaysScroll(page);
    await page.screenshot({ path: testInfo.outputPath("drafts.png"), fullPage: true });

    await page
      .getByRole("button", { name: lang === "en" ? "Add Product" : "Adicionar obra" })
      .first()
      .click();
    const form = page.getByRole("dialog");
    await form
      .locator("input[type=file]")
      .nth(0)
      .setInputFiles({ name: "a.jpg", mimeType: "image/jpeg", buffer: tall });
    await form.locator("input[type=file][accept*=video]").first().setInputFiles(demoFilm);
    await expect(form.getByLabel(lang === "en" ? "Remove" : "Remover")).toHaveCount(2);
    const camera = form.getByRole("button", { name: /Take a photo|Tirar uma fotografia/ });
    await expect(camera).toHaveCount(width === 390 ? 2 : 0);
    if (width === 390) {
      await expect(form.locator("input[type=file][capture=environment]")).toHaveCount(3);
      // The photo library stays reachable, because the ordinary inputs have no attribute capture.
      await expect(form.locator("input[type=file]:not([capture])").first()).toBeAttached();
    }
    await finishAnimations(page);
    await expectAccessible(page);
    await form
      .locator("section")
      .nth(1)
      .screenshot({ path: testInfo.outputPath("media.png") });
    await context.close();
  });
}

test("A-bulk-discard A-up-access: drafts by keyboard: choose, name, save, and discard after a question", async ({
  page,
}) => {
  page.on("filechooser", () => undefined); // set early: otherwise the system's dialog may open
  await signIn(page, "/admin/products");
  const choose = page.getByRole("button", { name: "Add many pictures" });
  await choose.focus();
  await expect(choose).toBeFocused();
  const chooser = page.waitForEvent("filechooser");
  await page.keyboard.press("Enter");
  const files = await Promise.all(
    ["um.jpg", "dois.jpg"].map(async (name, n) => ({
      name,
      mimeType: "image/jpeg",
      buffer: await picture(page, 40, 30, n),
    })),
  );
  await (await chooser).setFiles(files);
  const drafts = page.getByRole("region", { name: "Drafts" });
  await expect(drafts.getByText("2 of 2 pictures uploaded")).toBeVisible();
  await drafts.getByLabel("Title", { exact: true }).first().focus();
  await page.keyboard.press("ControlOrMeta+A");
  await page.keyboard.insertText("S".repeat(301)); // one character more than the service accepts
  await drafts.getByRole("button", { name: /^Save S+$/ }).focus();
  await page.keyboard.press("Enter");
  await expect(drafts.getByText("Not saved", { exact: true })).toBeVisible();
  await expect(page.getByText("There was an error saving the product.")).toBeVisible();
  await drafts.getByLabel("Title", { exact: true }).first().focus();
  await page.keyboard.press("ControlOrMeta+A");
  await page.keyboard.type("Sol de inverno");
  await drafts.getByRole("button", { name: "Save Sol de inverno" }).focus();
  await page.keyboard.press("Enter");
  await expect(page.getByText("Product created")).toBeVisible();
  await expect(page.getByRole("table").getByText("Sol de inverno")).toBeVisible();
  await drafts.getByRole("button", { name: "Discard all" }).focus();
  await page.keyboard.press("Enter");
  await expect(page.getByRole("alertdialog")).toContainText("Discard these drafts?");
  await expectAccessible(page);
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await expect(drafts).toHaveCount(0);
  await expect.poll(() => storedNames()).toHaveLength(1);
});
