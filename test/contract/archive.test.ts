// A site that moves with `atelie export` and `atelie import` has the same pages, messages and settings.
import { mkdtemp, readFile, rm, stat } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";

import { asAnon, asOwner, asService, ownerEmail } from "../harness/clients.ts";
import { png } from "../harness/png.ts";
import { stopPostgres } from "../harness/postgres.ts";
import { type Engine, engines, type Server, startServer } from "../harness/server.ts";
import { unzip } from "../harness/unzip.ts";

// Commands read the site's URL from the settings, so the test must know the port before the server starts.
async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const { port } = server.address() as { port: number };
  await new Promise((done) => server.close(done));
  return port;
}

const start = async (engine: Engine) =>
  startServer(engine, { env: { ATELIE_LISTEN: `127.0.0.1:${await freePort()}` } });

const works = [1, 2, 3].map((n) => ({
  id: `00000000-0000-4000-8000-00000000000${n}`,
  title: ["Mar largo", "Água & sal", "Óleo"][n - 1]!,
  description: "Duas linhas\ne “aspas” <b>",
  artwork_type: ["mural", "watercolour", "oil"][n - 1]!,
  is_featured: n !== 2,
  tags: ["sea", "ação"],
  medium: "Acrylic",
  creation_date: "2025-01-31",
  created_at: `2026-01-0${n}T10:00:00.123456+00:00`,
}));

/** A site with files, works of all kinds, texts of the owner, and a message. */
async function addContent(server: Server): Promise<void> {
  const owner = await asOwner(server);
  const upload = async (bucket: string, name: string, width: number) => {
    const files = owner.storage.from(bucket);
    const { error } = await files.upload(name, png(width, 600), { contentType: "image/png" });
    expect(error).toBeNull();
    return files.getPublicUrl(name).data.publicUrl;
  };
  const wide = await upload("product-images", "one ã.png", 900);
  const second = await upload("product-images", "a/two.png", 700);
  const face = await upload("review-images", "face.png", 300);
  const cover = await upload("cover-images", "cover.png", 1200);
  const rows = works.map((work, n) => ({
    ...work,
    image_url: n === 1 ? second : wide,
    image_gallery: n === 0 ? [second] : [],
  }));
  for (const [table, values] of Object.entries({
    products: rows,
    reviews: [{ client_name: "Inês", message: "Ficou bem.", image_url: face }],
    cover_images: [{ image_url: cover, title: "Capa", media_type: "image", display_order: 1 }],
  }))
    expect((await owner.from(table).insert(values as never)).error).toBeNull();
  const focus = { address: wide, x: 0.25, y: 0.75 };
  expect((await owner.rpc("set_media_focus", focus)).error).toBeNull();
  const { version } = (await owner.rpc("get_site_settings")).data as { version: string };
  const settings = {
    site: {
      name: "Alvor",
      portrait: second,
      email: "ola@alvor.example",
      texts: { en: { "about.title": "I paint walls" }, pt: { "about.title": "Pinto paredes" } },
      privacy: { use: "Só para responder." },
    },
    noticeEmail: ["owner@alvor.example"],
    noticeWebhook: "https://8.8.8.8/secret-of-the-webhook",
  };
  expect((await owner.rpc("save_site_settings", { version, settings })).error).toBeNull();
  const body = { name: "Rui Sá", email: "rui@example.com", message: "Quanto custa\num mural?" };
  expect((await asAnon(server).functions.invoke("submit-contact", { body })).error).toBeNull();
}

/**
 * Returns all pages that the sitemap lists, without the parts that may differ: origin, public key and versions of
 * pictures.
 */
async function pagesOf(server: Server): Promise<Record<string, string>> {
  const sitemap = await (await fetch(`${server.url}/sitemap.xml`)).text();
  const urls = Array.from(sitemap.matchAll(/<loc>([^<]+)/g), ([, url]) =>
    url!.replaceAll("&amp;", "&"),
  );
  const pages: Record<string, string> = {};
  for (const url of urls) {
    const html = await (await fetch(url)).text();
    pages[url.replace(server.url, "")] = html
      .replaceAll(server.url, "ORIGIN")
      .replaceAll(/"anonKey":"[^"]+"/g, "KEY")
      .replaceAll(/(v=|"v":")[0-9a-f]{16}/g, "$1VERSION");
  }
  return pages;
}

async function messagesOf(server: Server): Promise<unknown> {
  return (await asService(server).from("contact_submissions").select("*").order("id")).data;
}

/** Waits until the server has made the renditions of all pictures. After that the pages do not change. */
async function untilReady(server: Server): Promise<void> {
  const owner = asService(server);
  await vi.waitFor(
    async () => {
      for (const table of ["products", "reviews", "cover_images"]) {
        const { data } = await owner.from(table).select("media");
        const described = JSON.stringify(data);
        expect(described).toContain("thumbhash");
        expect(described).not.toContain('"state":"waiting"');
      }
    },
    { timeout: 300_000, interval: 250 },
  );
}

let home: string;
let source: Server;
let archive: string;
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), "atelie-archive-"));
  source = await start("sqlite");
  await addContent(source);
  await untilReady(source);
  archive = join(home, "site.zip");
  await source.command(["export", "--to", archive]);
});

afterAll(async () => {
  await source.stop();
  await stopPostgres();
  await rm(home, { recursive: true, force: true });
});

it("H-archive-content: an archive contains rows, original files and readable page names, but no secret", async () => {
  const entries = await unzip(archive);
  const names = Array.from(entries.keys());
  for (const name of [
    "site/index.html",
    "site/pt/index.html",
    "site/gallery/mural.html",
    "site/works/agua-sal.html",
    "site/pt/works/agua-sal.html",
    "site/works/oleo.html",
    "site/pt/politica-privacidade.html",
    "tables/contact_submissions.json",
    "files/product-images/mar-largo.png",
    "files/cover-images/capa.png",
    "files/review-images/ines.png",
    "README.txt",
  ])
    expect(names).toContain(name);
  expect(entries.get("files/product-images/mar-largo.png")!.equals(png(900, 600))).toBe(true);
  const settings = entries.get("tables/site_settings.json")!.toString();
  expect(settings).toContain("Pinto paredes");
  expect(settings).toContain("owner@alvor.example");
  const manifest = JSON.parse(entries.get("site.json")!.toString()) as Record<string, unknown>;
  expect(manifest).toMatchObject({ format: 1, owners: [ownerEmail], files: 4 });
  const all = Buffer.concat(Array.from(entries.values())).toString("latin1");
  for (const secret of [source.anonKey, source.serviceKey, "secret-of-the-webhook", "$argon2"])
    expect(all).not.toContain(secret);
});

it("H-archive-same: exporting the same site twice gives the same archive, also while the server runs", async () => {
  const again = join(home, "again.zip");
  await source.command(["export", "--to", again]);
  expect((await readFile(again)).equals(await readFile(archive))).toBe(true);
  expect((await stat(archive)).mode & 0o077).toBe(0);
  await expect(source.command(["export", "--to", archive])).rejects.toThrow(/site.zip exists/);
});

describe.each(engines)("an import on %s", (engine) => {
  let target: Server;
  beforeAll(async () => {
    target = await start(engine);
  });
  afterAll(() => target.stop());

  it("H-archive-moves: the imported site has the same pages, messages, settings and owner", async () => {
    const nothing = target.command(["export", "--to", join(home, "nothing.zip")]);
    await expect(nothing).rejects.toThrow(/the site is empty/);
    const owner = await asOwner(target);
    const output = await target.command(["import", archive]);
    expect(output).toContain("3 works, 1 messages, 4 files");
    await untilReady(target);
    const wanted = await pagesOf(source);
    expect(Object.keys(wanted).length).toBeGreaterThan(12);
    await vi.waitFor(async () => expect(await pagesOf(target)).toEqual(wanted), {
      timeout: 60_000,
      interval: 500,
    });
    expect(await messagesOf(target)).toEqual(await messagesOf(source));
    const { data } = await owner.rpc("get_site_settings");
    expect(data).toMatchObject({
      settings: { noticeEmail: ["owner@alvor.example"], noticeWebhook: "" },
    });
    const { data: rows } = await asAnon(target).from("products").select("image_url");
    for (const { image_url } of rows as { image_url: string }[]) {
      expect(image_url.startsWith(target.url)).toBe(true);
      expect((await fetch(image_url)).status).toBe(200);
    }
  });

  it("H-archive-empty: an import into a site that has content fails and changes nothing", async () => {
    const before = await messagesOf(target);
    await expect(target.command(["import", archive])).rejects.toThrow(/the site is not empty/);
    expect(await messagesOf(target)).toEqual(before);
  });
});
